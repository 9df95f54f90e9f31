"""The lints of instructions (empty prompts) and of conversations (who speaks, G11)."""

from collections.abc import Iterator
from typing import Any

from harpia_converters.fine_tuning.turn_checks import (
    ANSWERING,
    CALL,
    KNOWN,
    OBSERVATION,
    SYSTEM,
)
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.model.problem import Path

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
        if speaker not in KNOWN:
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
