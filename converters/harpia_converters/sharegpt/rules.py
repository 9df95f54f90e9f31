"""The rules G1 of ShareGPT's conversations, for rows that their schema allows."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_asked = b'{"from": "human", "value": "Que horas s\xc3\xa3o em Luanda?"}'
_called = (
    b'{"from": "function_call", "value": '
    b'"{\\"name\\": \\"clock\\", \\"arguments\\": {\\"city\\": \\"Luanda\\"}}"}'
)
_seen = b'{"from": "observation", "value": "14:05"}'
_answered = b'{"from": "gpt", "value": "14:05."}'


def _row(*turns: bytes, more: bytes = b"") -> bytes:
    """Return a row with these turns and what is `more`."""
    return b'{"conversations": [' + b", ".join(turns) + b"]" + more + b"}\n"


RULES = (
    Rule(
        "G101",
        "unknown-speaker",
        Severity.WARNING,
        "The speaker of a turn should be human, gpt, system, function_call or "
        "observation.",
        "Tools that train on such sets know these five, and pass over conversations "
        "with others. The names user, assistant and tool are read as what they say. A "
        "turn of any other speaker becomes a message whose role is that name.",
        _row(_asked, b'{"from": "bot", "value": "14:05."}'),
        _row(_asked, _answered),
        "sharegpt",
    ),
    Rule(
        "G102",
        "tools-text",
        Severity.WARNING,
        "The value of tools should be JSON text.",
        "The tools that the model may call stand in a text. If it is no JSON, it is "
        "kept as it is, and formats with a place for tools do not get them.",
        _row(_asked, _answered, more=b', "tools": "clock(city)"'),
        _row(_asked, _answered, more=b', "tools": "[{\\"name\\": \\"clock\\"}]"'),
        "sharegpt",
    ),
    Rule(
        "G103",
        "call-text",
        Severity.WARNING,
        "The value of a function_call should be the JSON text of a call.",
        "A call is an object with a name and arguments, or a list of such objects. Any "
        "other text becomes the content of a message, and no tool is called.",
        _row(
            _asked,
            b'{"from": "function_call", "value": "clock(Luanda)"}',
            _seen,
            _answered,
        ),
        _row(_asked, _called, _seen, _answered),
        "sharegpt",
    ),
    Rule(
        "G111",
        "speaker-order",
        Severity.WARNING,
        "The person and the model should speak by turns, the person first.",
        "An observation counts as a turn of the person, a function_call as one of the "
        "model. Tools that train on such sets leave out conversations in another "
        "order. A system turn can only be the first one.",
        _row(_asked, _asked, _answered),
        _row(_asked, _answered),
        "sharegpt",
        lint=True,
    ),
    Rule(
        "G112",
        "observation-without-call",
        Severity.WARNING,
        "An observation should follow a function_call.",
        "It is the result of the call. Without one it is not known which tool returned "
        "it.",
        _row(_asked, _answered, _seen, _answered),
        _row(_asked, _called, _seen, _answered),
        "sharegpt",
        lint=True,
    ),
)
