"""Convert the list `model_outputs` of a row to outputs of a record and back."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec import UNSET

from harpia_converters.tencent.extra_fields import KEY, kept_of, put_back, without
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Output

_entry_keys = frozenset({"model_name", "responses"})
_response_keys = frozenset({"content", "reasoning_content"})
#: How many both have if they have no others, and a reasoning.
_usual_keys = len(_entry_keys) + len(_response_keys)
_extra = "outputs.extra"


def read_answers(entries: list[Row]) -> list[Output]:
    """Return an output for each response, with its index among those of its model."""
    outputs: list[Output] = []
    before = None
    for entry in entries:
        model, answers = entry["model_name"], entry["responses"]
        if model == before or not answers:
            return read_any_answers(entries)
        before = model
        if len(answers) == 1:
            outputs.append(_output(entry, answers[0], UNSET))
        else:
            outputs += [
                _output(entry, each, place) for place, each in enumerate(answers)
            ]
    return outputs


def read_any_answers(entries: list[Row]) -> list[Output]:
    """Return what `read_answers` returns, for any entries: the specification of that.

    Entries of one model that follow each other count as one.
    """
    pairs = [(entry, answer) for entry in entries for answer in entry["responses"]]
    # No model is before the first one and after the last one.
    models = [None, *(entry["model_name"] for entry, _ in pairs), None]
    outputs: list[Output] = []
    index = 0
    for place, (entry, response) in enumerate(pairs, 1):
        model = models[place]
        index = index + 1 if model == models[place - 1] else 0
        is_only = index == 0 and model != models[place + 1]
        outputs.append(_output(entry, response, UNSET if is_only else index))
    return outputs


def _indices(answers: list[Any]) -> Iterable[Any]:
    """Return the index of each answer of one model, `UNSET` for a single one."""
    return range(len(answers)) if len(answers) > 1 else (UNSET,)


def _output(entry: Row, response: Row, index: Any) -> Output:
    reasoning = response.get("reasoning_content", UNSET)
    # Both keys of an entry and the first one of a response are always there.
    keys = len(entry) + len(response) + (reasoning is UNSET)
    return Output(
        model=entry["model_name"],
        index=index,
        text=response["content"],
        reasoning=reasoning,
        extra=UNSET if keys == _usual_keys else _extra_of(entry, response),
    )


def _extra_of(entry: Row, response: Row) -> Any:
    """Return the extra of the output of an answer, `UNSET` if there is none."""
    if entry.keys() <= _entry_keys and response.keys() <= _response_keys:
        return UNSET
    rest = without(entry, _entry_keys)
    inner = without(response, _response_keys)
    if inner:
        # `responses` is a key of every entry, so it is free in the extra members.
        rest["responses"] = inner
    return {KEY: rest}


def write_answers(outputs: list[Output], fates: FieldFates) -> list[Row]:
    """Return the entries for `outputs`, one for successive outputs of a model.

    Raises `Unconvertible` for an output without a text or a model.
    """
    if len(outputs) == 1:
        return [_only_entry(outputs[0], fates)]
    entries: list[Row] = []
    for model, run in groupby(outputs, key=attrgetter("model")):
        if model is UNSET:
            raise _missing("outputs.model", "model_name")
        answers = list(run)
        _record_indices(answers, fates)
        entries.extend(_entries(model, answers, fates))
    return entries


def _only_entry(answer: Output, fates: FieldFates) -> Row:
    """Return the entry of the only output; raises `Unconvertible` without a model."""
    if answer.model is UNSET:
        raise _missing("outputs.model", "model_name")
    if answer.index is not UNSET:
        fates.dropped("outputs.index", "the only answer of the model there")
    beside, response = _extra_and_response(answer, fates)
    return {"model_name": answer.model, "responses": [response], **beside}


def _record_indices(answers: list[Output], fates: FieldFates) -> None:
    for index, answer in zip(_indices(answers), answers, strict=True):
        if answer.index == index:
            continue
        if answer.index is UNSET:
            fates.defaulted("outputs.index", "the place among answers of the model")
        elif index is UNSET:
            fates.dropped("outputs.index", "the only answer of the model there")
        else:
            fates.changed("outputs.index", "the place among answers of the model")


def _entries(model: str, answers: list[Output], fates: FieldFates) -> Iterator[Row]:
    """Yield an entry for each run of answers with equal extra members."""
    parts = [_extra_and_response(answer, fates) for answer in answers]
    for _, run in groupby(parts, key=lambda part: encode(part[0])):
        members = list(run)
        responses = [response for _, response in members]
        yield {"model_name": model, "responses": responses, **members[0][0]}


def _extra_and_response(output: Output, fates: FieldFates) -> tuple[Row, Row]:
    """Return the extra members of an output's entry, and its response."""
    if output.extra is UNSET or KEY not in output.extra:
        return {}, _response(output, {}, fates)
    rest = kept_of(output)
    inner: Row = {}
    if isinstance(rest.get("responses"), dict) and rest["responses"]:
        inner = rest.pop("responses")
    beside = put_back({}, rest, _entry_keys, _extra, fates)
    return beside, _response(output, inner, fates)


def _response(output: Output, rest: Row, fates: FieldFates) -> Row:
    if output.text is UNSET:
        raise _missing("outputs.text", "content")
    if output.text is None:
        fates.changed("outputs.text", "empty text for null")
    response: Row = {"content": output.text or ""}
    if output.reasoning is None:
        fates.null("outputs.reasoning")
    elif output.reasoning is not UNSET:
        response["reasoning_content"] = output.reasoning
    if not rest:
        return response
    if rest.keys() & _response_keys:
        fates.dropped(f"{_extra}.tencent.responses", "the keys belong to other fields")
        return response
    return {**response, **rest}


def _missing(path: str, key: str) -> Unconvertible:
    reason = f"an output has nothing for `{key}`"
    return Unconvertible(path, reason, f"give it with --set {key}=VALUE")
