"""Check rows that their schema allows: speakers, and texts that hold JSON (G10)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.sharegpt.turns import (
    CALL,
    NO_JSON,
    ROLES,
    SPELLINGS,
    calls_in,
    parsed,
)
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

UNKNOWN_SPEAKER, TOOLS_TEXT, CALL_TEXT = "G101", "G102", "G103"


def turn_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the turns and on the tools of `row`."""
    if not isinstance(row, Mapping):
        return
    for number, turn in turns_of(row):
        speaker, value = turn.get("from"), turn.get("value")
        path: Path = ("conversations", number)
        is_known = not isinstance(speaker, str) or speaker in ROLES
        if not is_known and speaker not in SPELLINGS:
            yield Remark(
                UNKNOWN_SPEAKER,
                (*path, "from"),
                "no tool that reads such sets knows this speaker",
                f"use one of {', '.join(ROLES)}",
            )
        if speaker == CALL and isinstance(value, str) and calls_in(value) is None:
            yield Remark(
                CALL_TEXT,
                (*path, "value"),
                "the text is no JSON object with a name and arguments",
                'write {"name": …, "arguments": {…}}, or a list of such objects',
            )
    tools = row.get("tools")
    if isinstance(tools, str) and tools.strip() and parsed(tools) is NO_JSON:
        yield Remark(
            TOOLS_TEXT,
            ("tools",),
            "the text is no JSON, so the tools are not known",
            "write the list of the tools as JSON text",
        )


def turns_of(row: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each turn of a row that is an object, and its place."""
    turns = row.get("conversations")
    for number, turn in enumerate(turns if isinstance(turns, list) else ()):
        if isinstance(turn, Mapping):
            yield number, turn
