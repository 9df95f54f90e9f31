"""The format ragas: samples of questions or of conversations, and its rules (D1)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Dialect, Format, Remark
from harpia_formats.model.problem import Severity

TOOL_WITHOUT_CALL = "D101"

#: Keys apart from `user_input` of which a sample has one at least.
_other_keys = (
    "response reference retrieved_contexts reference_contexts multi_responses "
    "reference_tool_calls reference_topics rubrics".split()
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
    asked = row["user_input"]
    has_call = False
    for number, message in enumerate(asked if isinstance(asked, list) else ()):
        kind = message["type"]
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


_asked = b'{"type": "human", "content": "Que horas s\xc3\xa3o em Luanda?"}'
_called = (
    b'{"type": "ai", "content": "", "tool_calls": '
    b'[{"name": "clock", "args": {"city": "Luanda"}}]}'
)
_seen = b'{"type": "tool", "content": "14:05"}'
_answered = b'{"type": "ai", "content": "14:05."}'


def _talk(*messages: bytes) -> bytes:
    """Return a sample that is a conversation of these messages."""
    return b'{"user_input": [' + b", ".join(messages) + b"]}\n"


_question = b'{"user_input": "Que horas s\xc3\xa3o?", "response": "14:05."}\n'

RULES = (
    Rule(
        "D101",
        "tool-without-call",
        Severity.WARNING,
        "The result of a tool should follow a message that calls one.",
        "RAGAS refuses a conversation in which a message of a tool does not follow a "
        "message of the model with `tool_calls`.",
        _talk(_asked, _seen, _answered),
        _talk(_asked, _called, _seen, _answered),
        "ragas",
    ),
    Rule(
        "D111",
        "mixed-samples",
        Severity.WARNING,
        "All samples of a file should be single questions, or all conversations.",
        "A dataset of RAGAS has samples of one kind, and refuses a file with both.",
        _question + _talk(_asked, _answered),
        _question * 2,
        "ragas",
        lint=True,
    ),
)
