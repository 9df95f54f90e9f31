"""What is to be said of rows that their schema allows."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

UNKNOWN_ROLE, NO_QUESTION, NO_OUTPUTS = "T101", "T102", "T103"
LATE_SYSTEM, REPEATED_MODEL = "T201", "T202"

_roles = frozenset({"system", "user", "assistant"})


def on_messages(row: Any) -> Iterator[Remark]:
    """Yield what is to be said of the messages of `row`."""
    roles = list(_texts(row, "messages", "role"))
    for path, role in roles:
        if role not in _roles:
            yield _unknown_role(path)
        elif role == "system" and path[1] != 0:
            yield _late_system(path)
    # Under roles that nobody knows there may well be a question.
    if roles and not any(role == "user" or role not in _roles for _, role in roles):
        yield _no_question()


def on_outputs(row: Any) -> Iterator[Remark]:
    """Yield what is to be said of the messages of `row` and of its outputs."""
    yield from on_messages(row)
    if isinstance(row, Mapping) and row.get("model_outputs") == []:
        yield Remark(
            NO_OUTPUTS,
            ("model_outputs",),
            "model_outputs is empty, so the judge has nothing to score",
            "give the responses of one model at least, or remove model_outputs to "
            "have them made",
        )
    seen: Counter[str] = Counter()
    for path, name in _texts(row, "model_outputs", "model_name"):
        seen[name] += 1
        if seen[name] > 1:
            yield _repeated_model(path)


def _texts(row: Any, key: str, name: str) -> Iterator[tuple[Path, str]]:
    """Yield the text called `name` of each item in the list under `key`, and where."""
    items = row.get(key) if isinstance(row, Mapping) else None
    for index, item in enumerate(items if isinstance(items, list) else ()):
        value = item.get(name) if isinstance(item, Mapping) else None
        if isinstance(value, str):
            yield (key, index, name), value


def _unknown_role(path: Path) -> Remark:
    return Remark(
        UNKNOWN_ROLE,
        path,
        "the role is none of those that Tencent describes",
        'use "system", "user" or "assistant"',
    )


def _no_question() -> Remark:
    return Remark(
        NO_QUESTION,
        ("messages",),
        "no message is the user's, so the judge's data.question is None",
        'give the question in a message with the role "user"',
    )


def _late_system(path: Path) -> Remark:
    return Remark(
        LATE_SYSTEM,
        path,
        "a system message stands behind another message",
        "put all that the system is told into one message, the first",
    )


def _repeated_model(path: Path) -> Remark:
    return Remark(
        REPEATED_MODEL,
        path,
        "the model has an entry of model_outputs before this one",
        "put all of its responses into one entry",
    )
