"""What the parser says about one value in a piece of text, and where it stopped."""

import re
import sys
from enum import Enum, auto

import msgspec

_item = msgspec.json.Decoder(msgspec.Raw).decode
_fault_byte = re.compile(r"\(byte (\d+)\)$")


class ValueState(Enum):
    """What the parser says about a value."""

    #: It is whole, and something is behind it.
    ENDED = auto()
    #: It is whole, as far as it is held.
    WHOLE = auto()
    #: It is cut off where what is held ends.
    OPEN = auto()
    #: It is not JSON.
    BROKEN = auto()


def error_byte(message: str) -> int:
    """Return the byte that a parser's message names, or one that is never reached."""
    found = _fault_byte.search(message)
    return int(found[1]) if found else sys.maxsize


def _byte_named_behind() -> int:
    """Return which byte the parser names for a comma that is byte 0."""
    try:
        _item(b"0,")
    except msgspec.DecodeError as error:
        return error_byte(str(error)) - 1
    return 0


#: How far behind the first byte after a whole value the parser points.
_BYTE_BEHIND = _byte_named_behind()


def read_value(data: bytes, at: int) -> tuple[ValueState, int]:
    """Return what the parser says about the value at `at`, and where it stopped.

    Behind a whole value it stops at what follows, white space passed over.
    """
    try:
        _item(memoryview(data)[at:])
    except msgspec.DecodeError as error:
        message = str(error)
        place = at + error_byte(message)
        if "trailing characters" in message:
            return ValueState.ENDED, place - _BYTE_BEHIND
        return ValueState.BROKEN if place < len(data) else ValueState.OPEN, len(data)
    except RecursionError:
        return ValueState.BROKEN, at
    return ValueState.WHOLE, len(data)
