"""Ask the parser whether a JSON value that begins at an offset is complete."""

import re
import sys
from enum import Enum, auto

import msgspec

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

    Behind an `ENDED` value it stops at the next byte that is not white space.
    """
    try:
        _parse(memoryview(data)[at:])
    except msgspec.DecodeError as error:
        message = str(error)
        place = at + error_byte(message)
        if _number.sub("", message) == _trailing:
            return ValueState.ENDED, place - _excess
        is_broken = place < len(data)
        return ValueState.BROKEN if is_broken else ValueState.OPEN, len(data)
    except RecursionError:
        return ValueState.BROKEN, at
    return ValueState.WHOLE, len(data)
