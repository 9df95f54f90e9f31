"""Tell chats with verdicts, and chats of typed parts, from those that are read.

Source: the sample data of LLaMA-Factory.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.model.format import UnreadFiles

#: Keys of a part of a message's content.
_part_keys = frozenset({"type", "value"})


def _chat_of(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages of a row that are objects."""
    messages = row.get("messages")
    if not isinstance(messages, list):
        return []
    return [message for message in messages if isinstance(message, Mapping)]


def _kto_sign(row: Mapping[str, Any]) -> str:
    is_verdict = isinstance(row.get("label"), bool)
    return "`label`" if is_verdict and _chat_of(row) else ""


def _parts_sign(row: Mapping[str, Any]) -> str:
    for message in _chat_of(row):
        if "loss_weight" in message:
            return "`loss_weight` in a message"
        if _has_typed_parts(message.get("content")):
            return "content of parts with `type` and `value`"
    return ""


def _has_typed_parts(content: Any) -> bool:
    """Tell whether `content` is a list of parts, each with a type and a value."""
    parts = content if isinstance(content, list) else ()
    return any(
        isinstance(part, Mapping) and _part_keys <= part.keys() for part in parts
    )


UNREAD = (
    UnreadFiles("chats with verdicts for KTO", _kto_sign),
    UnreadFiles("chats of typed parts", _parts_sign),
)
