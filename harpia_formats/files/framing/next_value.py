"""Ask the parser whether a JSON value that begins at an offset is complete."""

import re
import sys
from enum import Enum, auto

import msgspec

from harpia_formats.files.framing.constants import masked

#: Bytes that are read first of a value with a NaN or an Infinity in it.
PART = 64 * 1024

_parse = msgspec.json.Decoder(msgspec.Raw).decode
_number = re.compile(r"\d+")


class ValueState(Enum):
    """What the parser reports about a value, given the bytes that were read so far."""

    #: It is complete, and other bytes follow it.
    ENDED = auto()
    #: It is complete as far as was read; a number may go on.
    WHOLE = auto()
    #: It is cut off where the bytes end.
    OPEN = auto()
    #: It is not JSON.
    BROKEN = auto()


def parser_error(text: bytes) -> str:
    """Return the parser's message about `text`, "" if it is one JSON value."""
    try:
        _parse(text)
    except msgspec.DecodeError as error:
        return str(error)
    except RecursionError:
        return "too deep"
    return ""


def error_byte(message: str) -> int:
    """Return the byte offset that a parser's message names, `sys.maxsize` if none."""
    found = _number.findall(message)
    return int(found[-1]) if found else sys.maxsize


#: The words of the parser for a text that is cut off, and for bytes behind a value, and
#: how far it reports those behind their offset. They differ between releases.
CUT_OFF = parser_error(b"[")
_trailing = _number.sub("", parser_error(b"0,"))
_excess = error_byte(parser_error(b"0,")) - 1
if CUT_OFF in {"", parser_error(b"[x")} or _excess not in {0, 1}:
    # Exit code 2 with this message is better than rows that are cut at wrong places.
    raise ImportError(f"msgspec {msgspec.__version__} does not say where JSON ends")


def read_value(data: bytes, at: int) -> tuple[ValueState, int]:
    """Return the state of the JSON value at offset `at`, and where the parser stopped.

    Behind an `ENDED` value it stops at the next byte that is not white space. A NaN or
    an Infinity breaks no value: whether it is a fault depends on the format.
    """
    state, place = _read(data, at)
    if state is ValueState.BROKEN and _begins_constant(data, place):
        state, place = _read_with_constants(data, at)
    return state, place if state is ValueState.ENDED else len(data)


def _begins_constant(data: bytes, at: int) -> bool:
    """Tell whether the byte at `at`, which is refused, begins a NaN or an Infinity."""
    if data[at : at + 1] not in {b"N", b"I"}:
        return False
    rest = data[at : at + len(b"Infinity")]
    return rest.startswith((b"NaN", b"Infinity")) or _is_cut_off(data, at)


def _is_cut_off(data: bytes, at: int) -> bool:
    """Tell whether a NaN or an Infinity begins at `at` that does not end in `data`."""
    rest = data[at : at + len(b"Infinity")]
    return at + len(rest) == len(data) and (
        b"NaN".startswith(rest) or b"Infinity".startswith(rest)
    )


def _read_with_constants(data: bytes, at: int) -> tuple[ValueState, int]:
    """Return the state of a value with a NaN or an Infinity in it, as `_read` does."""
    size = PART
    while True:
        end = min(at + size, len(data))
        part = masked(data[at:end])
        state, place = _read(part, 0)
        if state is ValueState.BROKEN and _is_cut_off(part, place):
            state = ValueState.OPEN
        if end == len(data) or state in {ValueState.ENDED, ValueState.BROKEN}:
            return state, at + place
        size *= 4


def _read(data: bytes, at: int) -> tuple[ValueState, int]:
    """Return the state of a value, and which byte is not allowed or behind it."""
    try:
        _parse(memoryview(data)[at:])
    except msgspec.DecodeError as error:
        message = str(error)
        place = at + error_byte(message)
        if _number.sub("", message) == _trailing:
            return ValueState.ENDED, place - _excess
        is_broken = place < len(data)
        return ValueState.BROKEN if is_broken else ValueState.OPEN, place
    except RecursionError:
        return ValueState.BROKEN, at
    return ValueState.WHOLE, len(data)
