"""The turns of a conversation of ShareGPT: who speaks, which tools are called (G10)."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.files.parsing.locate import repeats_key
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

#: The role of a message, by who speaks in a turn.
ROLES = {
    "human": "user",
    "gpt": "assistant",
    "system": "system",
    "function_call": "assistant",
    "observation": "tool",
}
CALL, OBSERVATION, SYSTEM = "function_call", "observation", "system"
#: Who speaks; the last three are spellings of other tools, which say the same.
KNOWN = ROLES.keys() | {"user", "assistant", "tool"}
#: Who answers; all others but the system are answered.
ANSWERING = frozenset({"gpt", CALL, "assistant"})

#: The value of a text that is no JSON.
NO_JSON: Any = object()


def parsed(text: str) -> Any:
    """Return the value of a JSON text, `NO_JSON` if it is none or has a key twice."""
    try:
        value = decode(text)
    except NOT_JSON:
        return NO_JSON
    return NO_JSON if repeats_key(text, value) else value


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


UNKNOWN_SPEAKER, TOOLS_TEXT, CALL_TEXT = "G101", "G102", "G103"


def turn_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the turns and on the tools of `row`."""
    for number, turn in enumerate(row["conversations"]):
        speaker, value = turn["from"], turn["value"]
        path: Path = ("conversations", number)
        if speaker not in KNOWN:
            yield Remark(
                UNKNOWN_SPEAKER,
                (*path, "from"),
                "no tool that reads such sets knows this speaker",
                f"use one of {', '.join(ROLES)}",
            )
        if speaker == CALL and calls_in(value) is None:
            yield Remark(
                CALL_TEXT,
                (*path, "value"),
                "the text is no JSON object with a name and arguments, each key once",
                'write {"name": …, "arguments": {…}}, or a list of such objects',
            )
    tools = row.get("tools") or ""
    if tools.strip() and parsed(tools) is NO_JSON:
        yield Remark(
            TOOLS_TEXT,
            ("tools",),
            "the text is no JSON with each key once, so the tools are not known",
            "write the list of the tools as JSON text",
        )
