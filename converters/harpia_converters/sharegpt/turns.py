"""Turns of a conversation: who speaks in them, and which tools they call."""

from typing import Any

from harpia_formats.model.exact_json import NOT_JSON, decode

#: The role of a message, by who speaks in a turn.
ROLES = {
    "human": "user",
    "gpt": "assistant",
    "system": "system",
    "function_call": "assistant",
    "observation": "tool",
}
CALL, OBSERVATION, SYSTEM = "function_call", "observation", "system"
#: Spellings of roles of other tools, which say the same.
SPELLINGS = frozenset({"user", "assistant", "tool"})
#: Who answers; all others but the system are answered.
ANSWERING = frozenset({"gpt", CALL, "assistant"})

#: The value of a text that is no JSON.
NO_JSON: Any = object()


def parsed(text: str) -> Any:
    """Return the value of a JSON text, `NO_JSON` if it is none."""
    try:
        return decode(text)
    except NOT_JSON:
        return NO_JSON


def calls_in(text: str) -> list[dict[str, Any]] | None:
    """Return the calls of tools that the value of a turn holds, None if it is other.

    It is the JSON text of an object with a name and arguments, or of a list of those.
    """
    value = parsed(text)
    calls = value if isinstance(value, list) else [value]
    return calls if calls and all(map(_is_call, calls)) else None


def _is_call(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("arguments"), dict)
    )
