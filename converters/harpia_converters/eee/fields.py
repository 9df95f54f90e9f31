"""The tables of row keys and record fields, for each of the three versions.

With the conversion of answers and of the steps by which they were extracted.
"""

import re
from functools import cache, partial
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.eee.turns import (
    read_turns,
    write_performance,
    write_turns,
    write_usage,
)
from harpia_converters.eee.versions import Version, as_text, is_count
from harpia_formats.conversion.mapping.fit import FIRST_ALONE, is_scored_together
from harpia_formats.model.adapter import (
    DECLINED,
    LIST_OF_ONE,
    ChangedValue,
    FieldMapping,
    Row,
    ValueCodec,
    as_is,
)
from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.model.field_outcomes import (
    OF_OTHERS,
    FieldOutcome,
    FieldOutcomes,
    Outcome,
    Unconvertible,
)
from harpia_formats.model.record import Output, Record, field_paths

SINGLE, MULTI, AGENTIC = "single_turn", "multi_turn", "agentic"

_trace = "reasoning_trace"
#: Fields that each of several outputs has of its own.
_own = frozenset(f"outputs.{name}" for name in ("model", "index", "text", "reasoning"))


def read_text(given: Any) -> Any:
    """Return the text of an answer from `raw`, which may list one or none.

    `DECLINED` for several, which are several answers.
    """
    if type(given) is not list:
        return given
    if len(given) > 1:
        return DECLINED
    return given[0] if given else None


def read_reasoning(given: Any) -> Any:
    """Return the reasoning of an answer from `reasoning_trace`, which may list it.

    `DECLINED` for a list of several or none.
    """
    if type(given) is not list:
        return given
    return given[0] if len(given) == 1 else DECLINED


def write_text(text: str | None) -> list[str]:
    """Return the `raw` of a single answer in a version that has lists."""
    return [] if text is None else [text]


def write_reasoning(reasoning: str | None) -> list[str] | None:
    """Return the `reasoning_trace` of a single answer in a version that has lists."""
    return None if reasoning is None else [reasoning]


def has_several(output: Any) -> bool:
    """Tell whether a row's `output` lists several answers or traces, or no trace."""
    if type(output) is not dict:
        return False
    raw, trace = output["raw"], output.get(_trace)
    return (type(raw) is list and len(raw) > 1) or (
        type(trace) is list and len(trace) != 1
    )


def answers_in(output: Row) -> tuple[list[dict[str, Any]], Row]:
    """Return the fields of each answer in a row's `output`, and its other members."""
    left = {key: output[key] for key in sorted(output) if key not in {"raw", _trace}}
    raw, trace = output["raw"], output.get(_trace, UNSET)
    texts = raw if type(raw) is list else [raw]
    answers: list[dict[str, Any]] = [{"text": text} for text in texts or [None]]
    if len(answers) > 1:
        for place, fields in enumerate(answers):
            fields["index"] = place
    if type(trace) is list:
        for answer, reasoning in zip(answers, trace, strict=False):
            answer["reasoning"] = reasoning
        if len(trace) > len(answers) or not trace:
            left[_trace] = trace[len(answers) :]
    elif trace is not UNSET:
        answers[0]["reasoning"] = trace
    return answers, left


def output_of(outputs: list[Output]) -> Row:
    """Return the `output` that lists what `fitting_answers` returned for several."""
    row: Row = {"raw": [output.text for output in outputs]}
    traces = [output.reasoning for output in outputs if output.reasoning is not UNSET]
    if traces:
        row[_trace] = None if traces == [None] else traces
    return row


def fitting_answers(
    outputs: list[Output], version: Version, outcomes: FieldOutcomes
) -> list[Output]:
    """Return the outputs of a record as a row can hold them; losses go to `outcomes`.

    The list is `outputs` itself if a row can hold these.
    """
    if len(outputs) > 1:
        return _fitting_several(outputs, version, outcomes)
    if not outputs:
        return outputs
    fitting = _fitting_one(outputs[0], version, outcomes)
    return outputs if fitting is outputs[0] else [fitting]


def _fitting_one(output: Output, version: Version, outcomes: FieldOutcomes) -> Output:
    kind = _kind_of(output)
    _note_kind(output, kind, outcomes)
    if output.index is not UNSET and version.has_lists:
        outcomes.dropped("outputs.index")
    if kind == SINGLE:
        return _as_text(output, version, outcomes)
    if output.text is not UNSET or output.reasoning is not UNSET:
        _note_text(output, outcomes)
    elif output.interaction_type == kind:
        return output
    return replace(output, interaction_type=kind, text=UNSET, reasoning=UNSET)


def _kind_of(output: Output) -> str:
    """Return the `interaction_type` that an output's text and turns can be written as.

    The output's own `interaction_type` is kept where it fits.
    """
    declared, turns = output.interaction_type, output.turns
    is_answered = type(output.text) is str
    if turns is UNSET or (is_answered and not turns):
        return SINGLE
    if declared in {MULTI, AGENTIC}:
        return str(declared)
    if not turns or (is_answered and declared == SINGLE):
        return SINGLE
    has_tools = any(
        turn.get("tool_calls") or turn.get("role") == "tool" for turn in turns
    )
    return AGENTIC if has_tools else MULTI


def _note_kind(output: Output, kind: str, outcomes: FieldOutcomes) -> None:
    if output.interaction_type is UNSET:
        outcomes.entries.append(_kind_outcome(Outcome.DEFAULTED, kind))
    elif output.interaction_type != kind:
        outcomes.entries.append(_kind_outcome(Outcome.CHANGED, kind))


@cache
def _kind_outcome(outcome: Outcome, kind: str) -> FieldOutcome:
    """Return the outcome of an `interaction_type` that is not what a row must have."""
    return FieldOutcome(outcome, "outputs.interaction_type", f"is {kind}, by the turns")


def _note_text(output: Output, outcomes: FieldOutcomes) -> None:
    """Record in `outcomes` what becomes of an output's text that has a conversation."""
    answers = [turn for turn in output.turns or () if turn.get("role") == "assistant"]
    last = answers[-1] if answers else {}
    for name, key in (("text", "content"), ("reasoning", "reasoning")):
        value = getattr(output, name)
        if value is UNSET:
            continue
        if value is not None and value == last.get(key):
            outcomes.merged(f"outputs.{name}", "in the last turn of the assistant")
        else:
            outcomes.dropped(f"outputs.{name}", "a conversation has only turns")


def _as_text(output: Output, version: Version, outcomes: FieldOutcomes) -> Output:
    """Return `output` as one text without turns; raises `Unconvertible` without one."""
    text, reasoning = output.text, output.reasoning
    if text is UNSET:
        reason = "the record has nothing for `output.raw`"
        raise Unconvertible(
            "outputs.text", reason, "give it with `--set output.raw=VALUE`"
        )
    if output.turns is not UNSET:
        outcomes.dropped("outputs.turns", f"{SINGLE} has none")
    if text is None and not version.has_lists:
        outcomes.changed("outputs.text", "empty text for null")
        text = ""
    if reasoning is None and version.has_lists and not version.is_closed:
        outcomes.null("outputs.reasoning")
        reasoning = UNSET
    if (
        text is output.text
        and reasoning is output.reasoning
        and output.turns is UNSET
        and output.interaction_type == SINGLE
    ):
        return output
    return replace(
        output, interaction_type=SINGLE, text=text, reasoning=reasoning, turns=UNSET
    )


def _fitting_several(
    outputs: list[Output], version: Version, outcomes: FieldOutcomes
) -> list[Output]:
    """Return several outputs of one model as a row can list them.

    Raises `Unconvertible` if one of them has no text.
    """
    if any(output.text is UNSET for output in outputs):
        reason = "one of several answers has no text, so they cannot be one list"
        help_ = "use `--responses expand`"
        if is_scored_together(outputs):
            help_ = FIRST_ALONE
        raise Unconvertible("outputs.text", reason, help_)
    first = outputs[0]
    _note_kind(first, SINGLE, outcomes)
    if first.turns is not UNSET:
        outcomes.dropped("outputs.turns", f"{SINGLE} has none")
    if first.scores is not UNSET and len(first.scores) > 1:
        outcomes.dropped("outputs.scores", "all but the first")
    for path in field_paths(Record(outputs=outputs[1:])):
        if path not in _own and not path.startswith("outputs.extra."):
            outcomes.dropped(path, OF_OTHERS)
    _note_places(outputs, outcomes)
    texts = [output.text if output.text is not None else "" for output in outputs]
    if any(output.text is None for output in outputs):
        outcomes.changed("outputs.text", "empty text for null")
    own = {"interaction_type": SINGLE, "turns": UNSET}
    return [
        replace(output, text=text, reasoning=reasoning, **own)
        for output, text, reasoning in zip(
            outputs, texts, _reasonings(outputs, version, outcomes), strict=True
        )
    ]


def _note_places(outputs: list[Output], outcomes: FieldOutcomes) -> None:
    """Record in `outcomes` that an output's index becomes its place in the list."""
    given = [output.index for output in outputs]
    if all(index is UNSET for index in given):
        outcomes.defaulted("outputs.index", "their place in the list")
    elif given != list(range(len(outputs))):
        outcomes.changed("outputs.index", "their place in the list")


def _reasonings(
    outputs: list[Output], version: Version, outcomes: FieldOutcomes
) -> list[Any]:
    """Return the reasoning of each output, with empty text for gaps before the last."""
    given: list[Any] = [output.reasoning for output in outputs]
    nothing: list[Any] = [UNSET] * len(given)
    if given == nothing or (version.is_closed and given == [None, *nothing[1:]]):
        return given
    count = max(
        (n for n, reasoning in enumerate(given, 1) if isinstance(reasoning, str)),
        default=0,
    )
    mended = [
        reasoning if isinstance(reasoning, str) else "" for reasoning in given[:count]
    ]
    mended += nothing[count:]
    if mended != given:
        outcomes.changed(
            "outputs.reasoning", "empty text where missing, left out behind the last"
        )
    return mended


_record_prefix = "turns["
_literal = re.compile(r"/*turns\[")
#: How each source begins that `_literal` matches.
_literal_starts = ("/", _record_prefix)


def read_attribution(given: Any, version: Version) -> Any:
    """Return the attribution of a row as a record has it."""
    if type(given) is not list:
        return DECLINED
    own = f"{version.turns}["
    starts = (own, *_literal_starts)
    for step in given:
        # Most sources name the answer.
        if step["source"].startswith(starts):
            return [_read_step(step, own) for step in given]
    return given


def _read_step(step: Row, own: str) -> Row:
    """Return a step whose source names a turn as a record does.

    `own` is the start of such a source in a row.
    """
    return {**step, "source": _read_source(step["source"], own)}


def _read_source(source: str, own: str) -> str:
    if source.startswith(own):
        return _record_prefix + source.removeprefix(own)
    return f"/{source}" if _literal.match(source) else source


def write_attribution(given: list[Any], version: Version) -> Any:
    """Return the attribution of a record as a row has it, without what is not valid."""
    own = f"{version.turns}["
    written = []
    is_named = False
    for step in given:
        if not _is_step(step):
            continue
        source = step["source"]
        is_named = is_named or source.startswith(own)
        if source.startswith(_literal_starts):
            step = {**step, "source": _written_source(source, own)}  # noqa: PLW2901 - the step as it is written
        written.append(step)
    if len(written) < len(given):
        return ChangedValue(written, "without steps that are not complete")
    if is_named:
        return ChangedValue(written, "a source names a turn by the key of the row")
    return written


def _written_source(source: str, own: str) -> str:
    if source.startswith(_record_prefix):
        return own + source.removeprefix(_record_prefix)
    return source[1:] if _literal.match(source) else source


def _is_step(value: Any) -> bool:
    """Tell whether `value` is a complete step of `answer_attribution`."""
    if type(value) is not dict:
        return False
    get = value.get
    return (
        type(get("source")) is str
        and type(get("extracted_value")) is str
        and type(get("extraction_method")) is str
        and type(get("is_terminal")) is bool
        and is_count(get("turn_idx"))
    )


def _as_list(value: Any) -> Any:
    return [value] if type(value) is str else value


def _write_id(value: Any) -> Any:
    return value if type(value) is str else ChangedValue(as_text(value), "as text")


def _write_score(value: Any) -> Any:
    """Return a score, or `UNSET` for null: a row then leaves the key out."""
    return UNSET if value is None else value


def _write_number(value: Any) -> Any:
    if type(value) is bool:
        return ChangedValue(float(value), "1.0 for true, 0.0 for false")
    return _write_score(value)


_numbers = frozenset({int, float, ExactFloat})
_text_id = ValueCodec(
    as_is, _write_id, "an integer becomes text", unchanged=frozenset({str})
)
_score = ValueCodec(as_is, _write_score, "null is no score", unchanged=_numbers)
_number = ValueCodec(
    as_is, _write_number, "true becomes 1.0, false 0.0", unchanged=_numbers
)
_references = ValueCodec(_as_list, as_is, "text alone is a list of one", by_type=True)
_several = "a list of several is several answers of the model"
_text = ValueCodec(read_text, write_text, _several)
_reasoning = ValueCodec(read_reasoning, write_reasoning, _several)
_usage = ValueCodec(as_is, write_usage, "left out if one of the three counts lacks")


def _conversation(version: Version) -> ValueCodec:
    write = partial(write_turns, version=version)
    return ValueCodec(
        read_turns,
        write,
        "without turn_idx where it equals the place",
        by_type=True,
    )


def _attribution(version: Version) -> ValueCodec:
    read = partial(read_attribution, version=version)
    write = partial(write_attribution, version=version)
    how = f"a source in {version.turns}[N] is one in turns[N]"
    return ValueCodec(read, write, how, by_type=True)


def _times(version: Version) -> ValueCodec:
    write = partial(write_performance, version=version)
    return ValueCodec(as_is, write, "only numbers from 0")


def answer_fields(version: Version) -> tuple[FieldMapping, ...]:
    """Return the fields of the `output` of a `single_turn` row."""
    text, reasoning = (_text, _reasoning) if version.has_lists else (None, None)
    return (
        FieldMapping(("output", "raw"), "outputs.text", text),
        FieldMapping(("output", "reasoning_trace"), "outputs.reasoning", reasoning),
    )


def question_fields(version: Version) -> tuple[FieldMapping, ...]:
    """Return the fields of the input, and of the evaluation that it is from."""
    reference = FieldMapping(
        ("input", "reference"), "references", LIST_OF_ONE, required=True
    )
    if version.has_lists:
        reference = FieldMapping(
            ("input", "reference"), "references", _references, default=[]
        )
    return (
        FieldMapping(("evaluation_id",), "outputs.scores.evaluation_id", required=True),
        FieldMapping(("model_id",), "outputs.model", required=True),
        FieldMapping(
            ("evaluation_name",), "outputs.scores.evaluation_name", required=True
        ),
        FieldMapping(
            ("evaluation_result_id",),
            "outputs.scores.metric",
            note="with the filter or scorer that the signature names",
        ),
        FieldMapping(
            ("sample_id",), "id", _text_id if version.is_closed else None, required=True
        ),
        FieldMapping(
            ("interaction_type",),
            "outputs.interaction_type",
            note="by the turns where a record has none",
        ),
        FieldMapping(("input", "raw"), "prompt", required=True),
        FieldMapping(("input", "formatted"), "outputs.formatted_prompt"),
        reference,
        FieldMapping(("input", "choices"), "choices"),
    )


def other_fields(version: Version) -> tuple[FieldMapping, ...]:
    """Return the fields of the conversation, the scores and the measurements."""
    score = _number if version.is_closed else _score
    return (
        FieldMapping((version.turns,), "outputs.turns", _conversation(version)),
        FieldMapping(
            ("answer_attribution",),
            "outputs.attribution",
            _attribution(version),
            default=[],
        ),
        FieldMapping(
            ("evaluation", "score"), "outputs.scores.value", score, required=True
        ),
        FieldMapping(
            ("evaluation", "is_correct"), "outputs.scores.is_correct", required=True
        ),
        FieldMapping(("token_usage",), "outputs.token_usage", _usage),
        FieldMapping(("performance",), "outputs.performance", _times(version)),
        FieldMapping(("error",), "outputs.error"),
        FieldMapping(
            ("metadata",),
            "metadata",
            note="values that are not text become JSON text"
            if version.is_closed
            else "",
        ),
    )
