"""Faults of numbers in JSON text."""

import re

from harpia_formats.files.parsing.json_fault import Fault, FaultKind, truncated
from harpia_formats.files.parsing.json_mistakes import CONSTANT, mistake

#: Mistakes in numbers; the last one matches anything.
_NUMBERS = (
    CONSTANT,
    mistake(
        rb"-?\.",
        "a number needs a digit before its decimal point",
        "write 0 before the point",
    ),
    mistake(
        rb"-?0[xXoObB][0-9A-Fa-f]",
        "JSON has decimal numbers only",
        "write the number in decimal digits",
    ),
    mistake(
        rb"[0-9]{4}-[0-9]",
        "a date is not a number",
        "put text in double quotes",
    ),
    mistake(
        rb"-?0[0-9]",
        "a number does not begin with a needless zero",
        "remove the leading zeros, or put the digits in double quotes",
    ),
    mistake(
        rb"-?[0-9]+\.(?![0-9])",
        "a number needs a digit after its decimal point",
        "write 0 after the point, or remove the point",
    ),
    mistake(
        rb"-?[0-9]+(?:\.[0-9]+)?[eE][-+]?(?![0-9])",
        "a number needs a digit in its exponent",
        "write the exponent, or remove the e",
    ),
    mistake(
        rb"-?[0-9.]+_[0-9]",
        "a number has no underscores",
        "remove the underscores",
    ),
    mistake(rb"-(?![0-9])", "a minus sign has no number", "write the number"),
    mistake(rb"", "this is not a number", "put text in double quotes"),
)

_word = re.compile(rb"[-+.\w]+")
#: The beginning of a number that more digits could follow.
_cut_number = re.compile(rb"-|-?(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?[eE][-+]?)")


def number_fault(text: bytes, at: int, opened: int | None) -> Fault:
    """Return why the word at `at`, which begins like a number, is none.

    `opened` is where the container begins that it is in, None if it is in none.
    """
    word = _word.match(text, at)
    end = word.end() if word else at + 1
    # A number by itself has no open bracket that shows that its end is lost.
    is_cut = end == len(text) and opened is not None
    if is_cut and _cut_number.fullmatch(text, at):
        return truncated(text, "a number", at)
    found = next(known for known in _NUMBERS if known.pattern.match(text, at))
    return Fault(found.kind, at, end, found.message, found.help)


def range_fault(start: int, end: int, *, is_integer: bool) -> Fault:
    """Return the fault that the number from `start` to `end` is too large."""
    message = "the number is too large for a 64-bit float"
    if is_integer:
        message = f"an integer of {end - start} characters is too long to be kept"
    help_ = "write a smaller number, or a string"
    return Fault(FaultKind.NUMBER, start, end, message, help_)
