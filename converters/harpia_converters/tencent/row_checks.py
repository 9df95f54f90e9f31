"""Check rows that their schema allows: their messages and model outputs (T1, T2)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

UNKNOWN_ROLE, NO_QUESTION, NO_OUTPUTS = "T101", "T102", "T103"
LATE_SYSTEM, REPEATED_MODEL = "T201", "T202"

_roles = frozenset({"system", "user", "assistant"})


def message_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the messages of `row`."""
    roles = list(_texts(row, "messages", "role"))
    for path, role in roles:
        if role not in _roles:
            yield _unknown_role(path)
        elif role == "system" and path[1] != 0:
            yield _late_system(path)
    # A message of an unknown role may be the question.
    if roles and not any(role == "user" or role not in _roles for _, role in roles):
        yield _no_question()


def output_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the messages and the model outputs of `row`."""
    yield from message_remarks(row)
    if isinstance(row, Mapping) and row.get("model_outputs") == []:
        yield Remark(
            NO_OUTPUTS,
            ("model_outputs",),
            "model_outputs is empty, so the judge has nothing to score",
            "give the responses of at least one model, or remove model_outputs to "
            "have them generated",
        )
    seen: Counter[str] = Counter()
    for path, name in _texts(row, "model_outputs", "model_name"):
        seen[name] += 1
        if seen[name] > 1:
            yield _repeated_model(path)


def _texts(row: Any, key: str, name: str) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text at `name` of each item in the list at `key`."""
    items = row.get(key) if isinstance(row, Mapping) else None
    for index, item in enumerate(items if isinstance(items, list) else ()):
        value = item.get(name) if isinstance(item, Mapping) else None
        if isinstance(value, str):
            yield (key, index, name), value


def _unknown_role(path: Path) -> Remark:
    return Remark(
        UNKNOWN_ROLE,
        path,
        "the role is not one of those that Tencent describes",
        'use "system", "user" or "assistant"',
    )


def _no_question() -> Remark:
    return Remark(
        NO_QUESTION,
        ("messages",),
        "no message has the role user, so the judge's data.question is None",
        'give the question in a message with the role "user"',
    )


def _late_system(path: Path) -> Remark:
    return Remark(
        LATE_SYSTEM,
        path,
        "a system message comes after another message",
        "put all system instructions into one message, the first",
    )


def _repeated_model(path: Path) -> Remark:
    return Remark(
        REPEATED_MODEL,
        path,
        "model_outputs has an earlier entry of this model",
        "put all responses of the model into one entry",
    )
