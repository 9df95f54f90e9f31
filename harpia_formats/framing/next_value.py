"""Ask the parser whether a JSON value that begins at an offset is complete."""

import re
import sys
from enum import Enum, auto

import msgspec

_parse = msgspec.json.Decoder(msgspec.Raw).decode
_error_byte = re.compile(r"\(byte (\d+)\)$")


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


def error_byte(message: str) -> int:
    """Return the byte offset that a parser's message names, `sys.maxsize` if none."""
    found = _error_byte.search(message)
    return int(found[1]) if found else sys.maxsize


def _reported_excess() -> int:
    """Return how far the parser reports what follows a value behind its offset."""
    try:
        _parse(b"0,")
    except msgspec.DecodeError as error:
        return error_byte(str(error)) - 1
    return 0


#: Measured, since it differs between releases of msgspec.
_EXCESS = _reported_excess()


def read_value(data: bytes, at: int) -> tuple[ValueState, int]:
    """Return the state of the JSON value at offset `at`, and where the parser stopped.

    Behind an `ENDED` value it stops at the next byte that is not white space.
    """
    try:
        _parse(memoryview(data)[at:])
    except msgspec.DecodeError as error:
        message = str(error)
        place = at + error_byte(message)
        if "trailing characters" in message:
            return ValueState.ENDED, place - _EXCESS
        is_broken = place < len(data)
        return ValueState.BROKEN if is_broken else ValueState.OPEN, len(data)
    except RecursionError:
        return ValueState.BROKEN, at
    return ValueState.WHOLE, len(data)
