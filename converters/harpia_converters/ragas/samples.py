"""The format ragas: samples of single questions or of conversations."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Dialect, Format, Remark

TOOL_WITHOUT_CALL = "D101"

#: Keys beside `user_input` of which a sample has one at least.
_other_keys = (
    "response",
    "reference",
    "retrieved_contexts",
    "reference_contexts",
    "multi_responses",
    "reference_tool_calls",
    "reference_topics",
    "rubrics",
)
_message_keys = frozenset({"type", "content"})


def sniff(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a sample of RAGAS, or ""."""
    asked = row.get("user_input")
    if isinstance(asked, list):
        is_chat = any(
            isinstance(message, Mapping) and message.keys() >= _message_keys
            for message in asked
        )
        return "`type` and `content` in `user_input`" if is_chat else ""
    found = (key for key in _other_keys if key in row)
    other = next(found, "") if isinstance(asked, str) else ""
    return f"`user_input` and `{other}`" if other else ""


def remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each result of a tool that nothing has called (D101)."""
    asked = row.get("user_input") if isinstance(row, Mapping) else None
    has_call = False
    for number, message in enumerate(asked if isinstance(asked, list) else ()):
        kind = message.get("type") if isinstance(message, Mapping) else ""
        if kind == "ai":
            has_call = isinstance(message.get("tool_calls"), list)
        elif kind == "human":
            has_call = False
        elif kind == "tool" and not has_call:
            yield Remark(
                TOOL_WITHOUT_CALL,
                ("user_input", number, "type"),
                "no message in front of it calls a tool",
                "put the message of the model with `tool_calls` in front of it",
            )


FORMAT = Format(
    id="ragas",
    title="Samples of RAGAS, with the scores of a run",
    vendor="RAGAS",
    adapter="harpia_converters.ragas.mapping:RAGAS",
    read_only=True,
    dialects=(
        Dialect(
            "ragas",
            sniff,
            remarks=remarks,
            lints="harpia_converters.ragas.lints:RAGAS",
            one_of=frozenset({"user_input"}),
        ),
    ),
)
