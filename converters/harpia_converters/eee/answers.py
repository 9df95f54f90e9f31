"""The `output` of a row and the outputs of a record, converted both ways.

A `single_turn` row has an output and no turns; any other row has turns and no output.
A list of several texts is several outputs; all other fields belong to the first.
"""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.eee.versions import Version
from harpia_formats.model.adapter import DECLINED, Row
from harpia_formats.model.field_fates import FieldFates, Unconvertible
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
    outputs: list[Output], version: Version, fates: FieldFates
) -> list[Output]:
    """Return the outputs of a record as a row can hold them; losses go to `fates`.

    The list is `outputs` itself if a row can hold these.
    """
    if len(outputs) > 1:
        return _fitting_several(outputs, version, fates)
    if not outputs:
        return outputs
    fitting = _fitting_one(outputs[0], version, fates)
    return outputs if fitting is outputs[0] else [fitting]


def _fitting_one(output: Output, version: Version, fates: FieldFates) -> Output:
    kind = _kind_of(output)
    _note_kind(output, kind, fates)
    if output.index is not UNSET and version.has_lists:
        fates.dropped("outputs.index")
    if kind == SINGLE:
        return _as_text(output, version, fates)
    if output.text is not UNSET or output.reasoning is not UNSET:
        _note_text(output, fates)
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


def _note_kind(output: Output, kind: str, fates: FieldFates) -> None:
    path = "outputs.interaction_type"
    if output.interaction_type is UNSET:
        fates.defaulted(path, f"is {kind}, by the turns")
    elif output.interaction_type != kind:
        fates.changed(path, f"is {kind}, by the turns")


def _note_text(output: Output, fates: FieldFates) -> None:
    """Record in `fates` what becomes of an output's text beside its conversation."""
    answers = [turn for turn in output.turns or () if turn.get("role") == "assistant"]
    last = answers[-1] if answers else {}
    for name, key in (("text", "content"), ("reasoning", "reasoning")):
        value = getattr(output, name)
        if value is UNSET:
            continue
        if value is not None and value == last.get(key):
            fates.merged(f"outputs.{name}", "in the last turn of the assistant")
        else:
            fates.dropped(f"outputs.{name}", "a conversation has only turns")


def _as_text(output: Output, version: Version, fates: FieldFates) -> Output:
    """Return `output` as one text without turns; raises `Unconvertible` without one."""
    text, reasoning = output.text, output.reasoning
    if text is UNSET:
        reason = "the record has nothing for `output.raw`"
        raise Unconvertible(
            "outputs.text", reason, "give it with --set output.raw=VALUE"
        )
    if output.turns is not UNSET:
        fates.dropped("outputs.turns", f"{SINGLE} has none")
    if text is None and not version.has_lists:
        fates.changed("outputs.text", "empty text for null")
        text = ""
    if reasoning is None and version.has_lists and not version.is_closed:
        fates.null("outputs.reasoning")
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
    outputs: list[Output], version: Version, fates: FieldFates
) -> list[Output]:
    """Return several outputs of one model as a row can list them.

    Raises `Unconvertible` if one of them has no text.
    """
    if any(output.text is UNSET for output in outputs):
        reason = "one of several answers has no text, so they cannot be one list"
        raise Unconvertible("outputs.text", reason, "use --responses expand")
    first = outputs[0]
    _note_kind(first, SINGLE, fates)
    if first.turns is not UNSET:
        fates.dropped("outputs.turns", f"{SINGLE} has none")
    if first.scores is not UNSET and len(first.scores) > 1:
        fates.dropped("outputs.scores", "all but the first")
    for path in field_paths(Record(outputs=outputs[1:])):
        if path not in _own and not path.startswith("outputs.extra."):
            fates.dropped(path, "of all answers but the first")
    _note_places(outputs, fates)
    texts = [output.text if output.text is not None else "" for output in outputs]
    if any(output.text is None for output in outputs):
        fates.changed("outputs.text", "empty text for null")
    own = {"interaction_type": SINGLE, "turns": UNSET}
    return [
        replace(output, text=text, reasoning=reasoning, **own)
        for output, text, reasoning in zip(
            outputs, texts, _reasonings(outputs, version, fates), strict=True
        )
    ]


def _note_places(outputs: list[Output], fates: FieldFates) -> None:
    """Record in `fates` that an output's index becomes its place in the list."""
    given = [output.index for output in outputs]
    if all(index is UNSET for index in given):
        fates.defaulted("outputs.index", "their place in the list")
    elif given != list(range(len(outputs))):
        fates.changed("outputs.index", "their place in the list")


def _reasonings(
    outputs: list[Output], version: Version, fates: FieldFates
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
        fates.changed(
            "outputs.reasoning", "empty text where missing, left out behind the last"
        )
    return mended
