"""Bindings of the inputs of a judge to fields of records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from harpia_formats.evaluation.llm_judge.judge_errors import JudgeError
from harpia_formats.evaluation.llm_judge.row_verdicts import JudgeRow
from harpia_formats.model.record import FIELD_TYPES, Output, Record
from harpia_formats.model.spelling import hint_on, nearest

#: The fields of well-known input names; the first one that a record has is used.
DEFAULTS: dict[str, tuple[str, ...]] = {
    "questions": ("prompt", "data.question"),
    "contexts": ("contexts",),
    "responses": ("outputs.text",),
    "predicted_answers": ("outputs.text",),
    "ground_truth_answers": ("references",),
}
#: Fields that are objects, whose members a path may name.
_open = ("params", "metadata", "extra", "outputs.extra", "outputs.token_usage")
_scores = "outputs.scores."
_closed = tuple(path for path in FIELD_TYPES if not path.startswith(_scores))


@dataclass(frozen=True, slots=True)
class Binding:
    """An input and the paths of its fields; the first existing one is used."""

    name: str
    paths: tuple[str, ...]

    @property
    def is_of_answer(self) -> bool:
        """Whether the value belongs to an answer and not to the whole record."""
        return any(path.startswith("outputs.") for path in self.paths)


def bindings_for(names: Iterable[str], given: Mapping[str, str]) -> tuple[Binding, ...]:
    """Return the binding of each input: that in `given`, or one found by its name.

    An input with the name of a field of records is bound to that field. Raises
    `JudgeError` for an input that is not bound, and for an unknown name or path.
    """
    wanted = dict.fromkeys(names)
    for name, path in given.items():
        if name not in wanted:
            raise JudgeError(
                f"`--bind {name}={path}`: the definition has no input {name!r}"
                f"{hint_on(name, wanted)}"
            )
        _check_path(name, path)
    return tuple(_binding_of(name, given) for name in wanted)


def _binding_of(name: str, given: Mapping[str, str]) -> Binding:
    """Return the binding of an input; raises `JudgeError` for one that is not bound."""
    paths = {**{path: (path,) for path in _closed}, **DEFAULTS}
    if name in given or name in paths:
        return Binding(name, (given[name],) if name in given else paths[name])
    known = (*DEFAULTS, *_closed)
    near = nearest(name, known)
    path = DEFAULTS.get(near, (near,))[0]
    hint = f", such as `--bind {name}={path}`" if near else ""
    raise JudgeError(
        f"the input {name!r} is not bound to a field: give `--bind {name}=PATH`"
        f"{hint} (known without it: {', '.join(DEFAULTS)})"
    )


def _check_path(name: str, path: str) -> None:
    """Raise `JudgeError` unless a record may have a value at a path."""
    inside = any(path.startswith(f"{field}.") for field in _open)
    if path in _closed or path in _derived or inside:
        return
    known = (*_closed, *_derived)
    near = nearest(path, known) or next(
        (each for each in known if each.rpartition(".")[2] == path), ""
    )
    hint = f"; did you mean {near}?" if near else ""
    raise JudgeError(
        f"`--bind {name}={path}`: a record has no field {path!r}{hint} (such as "
        "prompt, references, outputs.text, metadata.KEY, extra.VENDOR.KEY, "
        "data.question)"
    )


def rows_of(
    records: Iterable[Record], bindings: Sequence[Binding]
) -> Iterator[JudgeRow]:
    """Yield a row for each answer of each record.

    It is one row for a record without answers, and for each record if no input is bound
    to a field of answers.
    """
    of_answers = any(binding.is_of_answer for binding in bindings)
    number = 0
    for place, record in enumerate(records, 1):
        outputs: list[Output | None] = [*record.outputs] if of_answers else []
        for output in outputs or [None]:
            number += 1
            parts = {
                "row": number,
                "record": place,
                "record_id": record.id,
                "model": UNSET if output is None else output.model,
                "index": UNSET if output is None else output.index,
            }
            identity = {key: part for key, part in parts.items() if part is not UNSET}
            yield row_of(record, output, bindings, identity)


def row_of(
    record: Record,
    output: Output | None,
    bindings: Sequence[Binding],
    identity: Mapping[str, Any],
) -> JudgeRow:
    """Return the row of an answer of a record, or of the record if it is None."""
    values = {}
    for binding in bindings:
        found = (_value(record, output, path) for path in binding.paths)
        value = next((each for each in found if each is not UNSET), UNSET)
        if value is UNSET:
            lacks = binding.is_of_answer and output is None
            what = f"{'answer with ' if lacks else ''}{' or '.join(binding.paths)}"
            reason = f"the record has no {what} for the input {binding.name}"
            return JudgeRow({}, reason, identity)
        values[binding.name] = value
    return JudgeRow(values, identity=identity)


def _value(record: Record, output: Output | None, path: str) -> Any:
    """Return the value at `path`, `UNSET` if there is none."""
    if path in _derived:
        return _derived[path](record)
    first, *rest = path.split(".")
    value: Any = getattr(record, first) if first != "outputs" else output
    if first == "outputs":
        value = UNSET if output is None else getattr(output, rest[0])
        rest = rest[1:]
    while rest and isinstance(value, dict):
        # A key may contain dots: the longest existing key is used.
        ends = (".".join(rest[:length]) for length in range(len(rest), 0, -1))
        key = next((end for end in ends if end in value), None)
        if key is None:
            return UNSET
        value, rest = value[key], rest[key.count(".") + 1 :]
    if rest or (value is None and path == "outputs.text"):
        return UNSET
    if path == "references" and value is not UNSET and len(value) <= 1:
        # One reference is a text, since most judges expect that.
        return value[0] if value else UNSET
    return value


def _chat(record: Record) -> tuple[list[dict[str, Any]], Any]:
    """Return the messages of a record without a final answer, and that answer."""
    if record.messages:
        messages = list(record.messages)
    else:
        parts = (("system", record.system), ("user", record.prompt))
        messages = [
            {"role": role, "content": text} for role, text in parts if text is not UNSET
        ]
    if record.gt is not UNSET:
        return messages, record.gt
    if messages and messages[-1].get("role") == "assistant":
        return messages[:-1], messages[-1].get("content")
    return messages, None


def _parted(record: Record) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the last message of the user in a chat, if any, and all others."""
    messages, _ = _chat(record)
    users = [at for at, each in enumerate(messages) if each.get("role") == "user"]
    at = users[-1] if users else len(messages)
    return messages[at : at + 1], messages[:at] + messages[at + 1 :]


def _question(record: Record) -> Any:
    """Return the last message of the user, `UNSET` if there is none."""
    questions, _ = _parted(record)
    return questions[0].get("content") if questions else UNSET


def _history(record: Record) -> str:
    """Return the chat without its last question, one line for each message."""
    _, others = _parted(record)
    return "\n".join(f"{each.get('role')}: {each.get('content')}" for each in others)


#: Fields that are derived from a chat.
_derived: dict[str, Callable[[Record], Any]] = {
    "data.question": _question,
    "data.gt": lambda record: _chat(record)[1],
    "data.history": _history,
}
