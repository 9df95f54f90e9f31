"""The rules D1 of RAGAS's samples, for rows that their schema allows."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

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
