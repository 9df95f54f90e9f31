"""Check rows that their schema allows: their messages and model outputs (T1)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

UNKNOWN_ROLE, NO_QUESTION, NO_OUTPUTS = "T101", "T102", "T103"

#: The roles that Tencent describes.
ROLES = frozenset({"system", "user", "assistant"})


def message_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the messages of `row`."""
    roles = list(texts_in(row, "messages", "role"))
    for path, role in roles:
        if role not in ROLES:
            yield _unknown_role(path)
    # A message of an unknown role may be the question.
    if roles and not any(role == "user" or role not in ROLES for _, role in roles):
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


def texts_in(row: Any, key: str, name: str) -> Iterator[tuple[Path, str]]:
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
