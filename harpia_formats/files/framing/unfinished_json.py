"""Buffer bytes that are not yet cut into rows, and parse JSON that may be truncated."""

import re
import sys
from collections.abc import Iterator
from enum import Enum, auto
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct

from harpia_formats.files.framing.chunk import JSON_SPACE, Cursor, masked
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.model.exact_json import NOT_JSON


class ByteBuffer(Struct):
    """Blocks still to be read, and the bytes read from them but not yet cut."""

    blocks: Iterator[bytes]
    data: bytes = b""

    def fill(self, size: int) -> bool:
        """Read blocks until `data` holds `size` bytes; tell whether it does."""
        parts, held = [self.data], len(self.data)
        while held < size:
            block = next(self.blocks, None)
            if block is None:
                break
            parts.append(block)
            held += len(block)
        # A single part is not copied.
        self.data = b"".join(parts)
        return held >= size

    def take(self, size: int) -> bytes:
        """Remove the first `size` bytes of `data` and return them."""
        data = self.data
        if size == len(data):
            # Nothing is copied.
            self.data = b""
            return data
        self.data = data[size:]
        return data[:size]

    def take_lines(self, most: int) -> bytes:
        """Remove and return all lines that end in `data`, or in the next blocks.

        If none ends there, nothing is returned, and `data` holds all that is left of
        the file or more than `most` bytes.
        """
        end = self.data.rfind(b"\n") + 1
        if end:
            return self.take(end)
        parts: list[bytes | memoryview] = [self.data]
        held = len(self.data)
        while held <= most and (block := next(self.blocks, None)) is not None:
            end = block.rfind(b"\n") + 1
            if end:
                # Blocks are large, so each is copied once only.
                self.data = block[end:]
                parts.append(memoryview(block)[:end])
                return b"".join(parts)
            parts.append(block)
            held += len(block)
        # A single part is not copied.
        self.data = b"".join(parts)
        return b""

    def put_back(self, keep: int) -> None:
        """Hold only the first `keep` bytes; those behind them come again as blocks.

        Cutting small pieces off a large `data` would copy all the rest each time.
        """
        if len(self.data) <= keep:
            return
        rest, self.data = self.data[keep:], self.data[:keep]
        pieces = [rest[at : at + BLOCK] for at in range(0, len(rest), BLOCK)]
        self.blocks = chain(pieces, self.blocks)

    def grow(self, most: int = sys.maxsize) -> bool:
        """Read about as many bytes again as `data` holds; tell whether any came.

        `data` is not filled beyond `most` bytes, but always by one block.
        """
        before = len(self.data)
        self.fill(max(min(2 * before, most), before + 1))
        return len(self.data) > before


def skip_space(buffer: ByteBuffer, start: Cursor) -> Cursor | None:
    """Remove white space from the beginning of `buffer`, which begins at `start`.

    Return where the next byte is, None at the end of the file.
    """
    while buffer.data or buffer.fill(1):
        rest = buffer.data.lstrip(JSON_SPACE)
        if len(rest) < len(buffer.data):
            start = start.after(buffer.data[: len(buffer.data) - len(rest)])
            buffer.data = rest
        if rest:
            return start
    return None


_space = re.compile(rb"[ \t\r\n]*+")


def end_of_space(data: bytes, at: int) -> int:
    """Return the offset behind the white space at `at`."""
    found = _space.match(data, at)
    return found.end() if found else at


#: Bytes that are read first of a value with a NaN or an Infinity in it. Most values are
#: short, and many may follow.
PART = 1024

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


#: Levels of arrays and objects that are cut off and still read.
DEPTH = 8
#: Items of an array, or members of an object, that is cut off and still read.
ITEMS = 1_000

_decode = msgspec.json.Decoder().decode
_word = re.compile(rb"[A-Za-z0-9+.-]++")
#: No value, which differs from null.
_NOTHING = object()


def parse_truncated(data: bytes) -> Any:
    """Return the value that `data` begins with, its arrays and objects cut short.

    Broken and missing parts are left out, and bytes that are not UTF-8 replaced; None
    if nothing is left.
    """
    value, _ = _parse_truncated(data, end_of_space(data, 0), DEPTH)
    return None if value is _NOTHING else value


def _parse_truncated(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """Return the value at `at`, and the offset of what follows it."""
    state, end = read_value(data, at)
    byte = data[at : at + 1]
    if state in {ValueState.ENDED, ValueState.WHOLE}:
        value = _value_or_nothing(data[at:end])
        if value is _NOTHING and byte == b'"':
            return _value_or_nothing(
                data[at:end].decode(errors="replace").encode()
            ), end
        if value is not _NOTHING or not depth:
            return value, end
    if depth and byte in {b"[", b"{"}:
        read = _array if byte == b"[" else _object
        value, behind = read(data, at + 1, depth - 1)
        # Where it ends is known although a part of it was left out.
        return value, end if state is ValueState.ENDED else behind
    # A bare word that is not JSON is skipped; the end of other text is not known.
    word = _word.match(data, at)
    return _NOTHING, end_of_space(data, word.end()) if word else len(data)


def _value_or_nothing(text: bytes) -> Any:
    try:
        return _decode(text)
    except NOT_JSON:
        return _NOTHING


def _array(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    """Return the items from `at` on, and the offset of what follows the array."""
    items: list[Any] = []
    for _ in range(ITEMS):
        at = end_of_space(data, at)
        if data[at : at + 1] == b"]":
            return items, end_of_space(data, at + 1)
        value, at = _parse_truncated(data, at, depth)
        # An item that is cut off is not needed if there are whole ones.
        if value is not _NOTHING and not (items and at == len(data)):
            items.append(value)
        if data[at : at + 1] != b",":
            break
        at += 1
    return items, at if data[at : at + 1] != b"]" else end_of_space(data, at + 1)


def _object(data: bytes, at: int, depth: int) -> tuple[dict[str, Any], int]:
    """Return the members from `at` on, and the offset of what follows the object."""
    members: dict[str, Any] = {}
    for _ in range(ITEMS):
        at = end_of_space(data, at)
        key, at = _parse_truncated(data, at, 0)
        if not isinstance(key, str) or data[at : at + 1] != b":":
            break
        value, at = _parse_truncated(data, end_of_space(data, at + 1), depth)
        members[key] = None if value is _NOTHING else value
        if data[at : at + 1] != b",":
            break
        at += 1
    if data[at : at + 1] != b"}":
        return members, len(data)
    return members, end_of_space(data, at + 1)
