"""Checks of turns: who speaks, which tools are called (G1); and of empty prompts."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint
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
_known = ROLES.keys() | {"user", "assistant", "tool"}
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


UNKNOWN_SPEAKER, TOOLS_TEXT, CALL_TEXT = "G101", "G102", "G103"


def turn_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the turns and on the tools of `row`."""
    for number, turn in enumerate(row["conversations"]):
        speaker, value = turn["from"], turn["value"]
        path: Path = ("conversations", number)
        if speaker not in _known:
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
                "the text is no JSON object with a name and arguments",
                'write {"name": …, "arguments": {…}}, or a list of such objects',
            )
    tools = row.get("tools") or ""
    if tools.strip() and parsed(tools) is NO_JSON:
        yield Remark(
            TOOLS_TEXT,
            ("tools",),
            "the text is no JSON, so the tools are not known",
            "write the list of the tools as JSON text",
        )


#: The rule on empty prompts. `input` is a part of the prompt, and mostly empty.
_EMPTY = "V306"


def _prompt_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark on a row whose instruction and input are both empty."""
    if not row["instruction"].strip() and not row.get("input", "").strip():
        help_ = "write what is asked, or leave the row out"
        yield Remark(_EMPTY, ("instruction",), "the prompt is empty", help_)


ALPACA = Lints(rows=(RowLint((_EMPTY,), _prompt_remarks),), covers=frozenset({_EMPTY}))


TURN_ORDER, NO_CALL = "G111", "G112"


def order_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the order in which the turns of a row are."""
    before = ""
    for number, turn in enumerate(row["conversations"]):
        speaker = turn["from"]
        if speaker not in _known:
            # It may be anyone, so nothing is known of the turn behind it either.
            before = ""
            continue
        path: Path = ("conversations", number, "from")
        message, help_ = _out_of_turn(number, before, speaker)
        if message:
            yield Remark(TURN_ORDER, path, message, help_)
        if speaker == OBSERVATION and number and before and before != CALL:
            yield Remark(
                NO_CALL,
                path,
                "no function_call is in front of the observation",
                "put the call in front of it whose result it is",
            )
        before = speaker


def _out_of_turn(number: int, before: str, speaker: str) -> tuple[str, str]:
    """Return what is wrong with a turn at its place, and the help; "" if nothing is."""
    if speaker == SYSTEM:
        message = "a system turn comes after another turn" if number else ""
        return message, "put all system instructions into the first turn"
    is_answer = speaker in ANSWERING
    if is_answer and before in {"", SYSTEM} and number == bool(before):
        return "the model speaks first", "begin with the turn that it answers"
    is_double = before not in {"", SYSTEM} and (before in ANSWERING) == is_answer
    message = f"{before} and {speaker} follow each other" if is_double else ""
    return message, "join them, or put the turn between them that is missing"


SHAREGPT = Lints(rows=(RowLint((TURN_ORDER, NO_CALL), order_remarks),))
