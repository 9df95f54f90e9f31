"""Which field of a record each key of EvalEval's records is, in three shapes."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.eee import form as forms
from harpia_converters.eee.answers import answers_in, fitting_answers, output_of
from harpia_converters.eee.attribution import read_attribution, write_attribution
from harpia_converters.eee.form import Form, as_text, is_whole_float
from harpia_converters.eee.measures import (
    write_performance,
    write_usage,
    written_metadata,
)
from harpia_converters.eee.remainder import TURNS, VENDOR, kept_of, put_back
from harpia_converters.eee.turns import read_turns, write_turns
from harpia_formats.mapping import Table
from harpia_formats.notes import Notes
from harpia_formats.record import Output, Record
from harpia_formats.spoke import ONE, Altered, Codec, Field, Holds, Many, Row, Spoke

_root = (
    "schema_version evaluation_id model_id evaluation_name evaluation_result_id "
    "sample_id sample_hash interaction_type input output interactions messages "
    "answer_attribution evaluation token_usage performance error metadata"
).split()
_in_closed_only = frozenset({"evaluation_result_id"})
_input = ("raw", "formatted", "reference", "choices")


def _as_is(value: Any) -> Any:
    return value


def _as_list(value: Any) -> Any:
    return [value] if type(value) is str else value


def _write_id(value: Any) -> Any:
    return value if type(value) is str else Altered(as_text(value), "as text")


def _write_score(value: Any) -> Any:
    """Return a score, which a row does not have at all where it would be null."""
    return UNSET if value is None else value


def _write_number(value: Any) -> Any:
    if type(value) is bool:
        return Altered(float(value), "1.0 for true, 0.0 for false")
    return _write_score(value)


_text_id = Codec(_as_is, _write_id, "an integer becomes text")
_score = Codec(_as_is, _write_score, "null is no score")
_number = Codec(_as_is, _write_number, "true becomes 1.0, false 0.0")
_references = Codec(_as_list, _as_is, "text alone is a list of one")
_usage = Codec(_as_is, write_usage, "left out if one of the three counts lacks")


def _conversation(form: Form) -> Codec:
    write = partial(write_turns, form=form)
    return Codec(read_turns, write, "without turn_idx where it is the place")


def _attribution(form: Form) -> Codec:
    read = partial(read_attribution, form=form)
    write = partial(write_attribution, form=form)
    return Codec(read, write, f"a source in {form.turns}[N] is one in turns[N]")


def _times(form: Form) -> Codec:
    write = partial(write_performance, form=form)
    return Codec(_as_is, write, "only numbers from 0")


def _answer(form: Form) -> tuple[Field, ...]:
    """Return the fields of the answer of a row that is `single_turn`."""
    note = "a list of several is several answers of the model" if form.has_lists else ""
    return (
        Field(("output", "raw"), "outputs.text", note=note),
        Field(("output", "reasoning_trace"), "outputs.reasoning", note=note),
    )


def _question(form: Form) -> tuple[Field, ...]:
    """Return the fields of what is asked, and of where it is from."""
    reference = Field(("input", "reference"), "references", ONE, required=True)
    if form.has_lists:
        reference = Field(("input", "reference"), "references", _references, default=[])
    return (
        Field(("evaluation_id",), "outputs.scores.evaluation_id", required=True),
        Field(("model_id",), "outputs.model", required=True),
        Field(("evaluation_name",), "outputs.scores.evaluation_name", required=True),
        Field(("evaluation_result_id",), "outputs.scores.result_id"),
        Field(
            ("sample_id",), "id", _text_id if form.is_closed else None, required=True
        ),
        Field(
            ("interaction_type",),
            "outputs.interaction_type",
            note="told by the turns where a record does not say it",
        ),
        Field(("input", "raw"), "prompt", required=True),
        Field(("input", "formatted"), "outputs.formatted_prompt"),
        reference,
        Field(("input", "choices"), "choices"),
    )


def _rest(form: Form) -> tuple[Field, ...]:
    """Return the fields of the conversation, and of what is said of the answer."""
    score = _number if form.is_closed else _score
    return (
        Field((form.turns,), "outputs.turns", _conversation(form)),
        Field(
            ("answer_attribution",),
            "outputs.attribution",
            _attribution(form),
            default=[],
        ),
        Field(("evaluation", "score"), "outputs.scores.value", score, required=True),
        Field(("evaluation", "is_correct"), "outputs.scores.is_correct", required=True),
        Field(("token_usage",), "outputs.token_usage", _usage),
        Field(("performance",), "outputs.performance", _times(form)),
        Field(("error",), "outputs.error"),
        Field(
            ("metadata",),
            "metadata",
            note="values that are not text become JSON text" if form.is_closed else "",
        ),
    )


def _read(row: Row, table: Table, form: Form) -> Record:
    row = dict(row)
    output = row.pop("output", UNSET)
    if row.get("schema_version") == form.label:
        del row["schema_version"]
    if row.get(form.turns, UNSET) is None:
        del row[form.turns]
        row[TURNS] = None
    return _with_answers(table.read(row), output)


def _with_answers(record: Record, output: Any) -> Record:
    """Return `record` with the answers in the output of its row."""
    if output is UNSET:
        return record
    answers, left = ([{}], None) if output is None else answers_in(output)
    first = record.outputs[0]
    outputs = [
        replace(first, **answers[0]),
        *(Output(model=first.model, **each) for each in answers[1:]),
    ]
    if left == {}:
        return replace(record, outputs=outputs)
    kept = {**kept_of(record.extra), "output": left}
    return replace(record, outputs=outputs, extra={VENDOR: kept})


def _write(
    record: Record, notes: Notes, table: Table, form: Form, order: Sequence[str]
) -> Row:
    record, kept = _with_own_id(record, kept_of(record.extra), form)
    record = fitting_answers(record, form, notes)
    metadata = written_metadata(record.metadata, form, notes)
    bare = replace(record, metadata=metadata, extra=UNSET)
    row = {"schema_version": form.label, **table.write(bare, notes)}
    if form.turns not in row:
        row["output"] = output_of(record.outputs, form)
    put_back(row, kept, form, notes)
    row["input"] = _ordered(row["input"], _input)
    return _ordered(row, order)


def _with_own_id(record: Record, kept: Row, form: Form) -> tuple[Record, Row]:
    """Return a record with the id of its row, and what else was kept of that.

    An id such as 3.0 is valid in an open shape, but no id of a record.
    """
    own = kept.get("sample_id")
    if record.id is not UNSET or form.is_closed or not is_whole_float(own):
        return record, kept
    rest = {key: value for key, value in kept.items() if key != "sample_id"}
    return replace(record, id=own), rest


def _ordered(row: Row, keys: Sequence[str]) -> Row:
    """Return `row` with `keys` in front, in their order."""
    return {**{key: row[key] for key in keys if key in row}, **row}


def _order_of(form: Form) -> tuple[str, ...]:
    """Return the keys of a row of a shape, in the order in which it documents them."""
    turns = {forms.SEED.turns, forms.CURRENT.turns} - {form.turns}
    unknown = turns if form.is_closed else turns | _in_closed_only
    return tuple(each for each in _root if each not in unknown)


def _spoke(form: Form, holds: Holds) -> Spoke:
    question, rest = _question(form), _rest(form)
    table = Table(VENDOR, (*question, *rest))
    return Spoke(
        vendor=VENDOR,
        fields=(*question, *_answer(form), *rest),
        read=partial(_read, table=table, form=form),
        write=partial(_write, table=table, form=form, order=_order_of(form)),
        holds=holds,
        room=("metadata",),
        room_of_text=True,
        carries=frozenset({"outputs.index"}) if form.has_lists else frozenset(),
    )


_lists = Holds(
    references=Many.ALL, outputs=Many.OF_ONE_MODEL, scores=Many.ONE, turns=True
)
SEED = _spoke(forms.SEED, Holds(scores=Many.ONE, turns=True))
TAG = _spoke(forms.TAG, _lists)
CURRENT = _spoke(forms.CURRENT, _lists)
