"""The lints of instructions (empty prompts) and of conversations (who speaks, G11)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.fine_tuning.turn_checks import (
    ANSWERING,
    CALL,
    OBSERVATION,
    ROLES,
    SPELLINGS,
    SYSTEM,
    turns_of,
)
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.model.problem import Path

#: The rule on empty prompts. `input` is a part of the prompt, and mostly empty.
_EMPTY = "V306"


def _remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark on a row whose instruction and input are both empty."""
    if not isinstance(row, Mapping):
        return
    parts = (row.get("instruction"), row.get("input") or "")
    if all(isinstance(part, str) and not part.strip() for part in parts):
        help_ = "write what is asked, or leave the row out"
        yield Remark(_EMPTY, ("instruction",), "the prompt is empty", help_)


ALPACA = Lints(rows=(RowLint((_EMPTY,), _remarks),), covers=frozenset({_EMPTY}))


TURN_ORDER, NO_CALL = "G111", "G112"

_known = ROLES.keys() | SPELLINGS


def order_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the order in which the turns of a row are."""
    if not isinstance(row, Mapping):
        return
    before = ""
    for number, turn in turns_of(row):
        speaker = turn.get("from")
        if not isinstance(speaker, str) or speaker not in _known:
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
