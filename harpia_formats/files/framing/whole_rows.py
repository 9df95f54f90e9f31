"""Read the whole rows that the inside of a JSON array begins with."""

import msgspec

from harpia_formats.files.framing.chunk import (
    JSON_SPACE,
    Chunk,
    Cursor,
    items_with_constants,
)
from harpia_formats.files.framing.constants import may_have_constants
from harpia_formats.files.framing.next_value import ValueState, error_byte, read_value
from harpia_formats.files.framing.row_end import end_of_space, start_of_row

#: Offsets that are tried as the end of a window before it is read row by row.
ATTEMPTS = 2

_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_COMMA = ord(",")


def verified_rows(
    data: bytes, end: int, separator: bytes, start: Cursor, limit: int
) -> Chunk | None:
    """Return the rows up to the last separator before `end` that can be verified.

    `start` is where `data` begins in the file. None if nothing decodes, or a row has
    more than `limit` bytes.
    """
    for _ in range(ATTEMPTS):
        end = data.rfind(separator, 0, end)
        if end < 1:
            return None
        text = data[:end]
        try:
            items = _decode_items(b"".join((b"[", text, b"]")))
        except msgspec.DecodeError as error:
            if (rows := _rows_with_constants(text)) is not None:
                fits = end <= limit or max(map(len, rows)) <= limit
                return Chunk(text, start, rows) if fits else None
            # The bracket that was put before the window counts as a byte.
            end = min(end, error_byte(str(error)) - 1)
        except RecursionError:
            return None
        else:
            chunk = Chunk(text, start, items=len(items))
            fits = end <= limit or max(map(len, chunk.rows)) <= limit
            return chunk if fits else None
    return None


def _rows_with_constants(text: bytes) -> list[bytes] | None:
    """Return the rows in the inside of an array if its only faults are constants."""
    if not may_have_constants(text):
        return None
    try:
        return items_with_constants(b"".join((b"[", text, b"]")))
    except (msgspec.DecodeError, RecursionError):
        return None


def rows_one_by_one(
    data: bytes, most: int, limit: int
) -> tuple[list[bytes], int, bytes]:
    """Return the first whole rows, where they end, and what stands between the last.

    They are at most `most`, of at most `limit` bytes each. Between two rows stands a
    separator with the beginning of the second one; it is empty if there are not two.
    """
    rows: list[bytes] = []
    separator = b""
    end = at = 0
    while len(rows) < most and data[at : at + 1] not in {b"", b",", b"]"}:
        state, place = read_row(data, at)
        is_whole = state is ValueState.ENDED
        row = data[at:place].rstrip(JSON_SPACE) if is_whole else b""
        if not row or len(row) > limit:
            break
        if rows:
            separator = data[end:at] + start_of_row(row)
        rows.append(row)
        end = at + len(row)
        at = place
        if data[place] == _COMMA:
            at = end_of_space(data, place + 1)
    return rows, end, separator


def read_row(data: bytes, at: int) -> tuple[ValueState, int]:
    """Return the state of the row at `at`, and where the parser stopped.

    A row that is followed by neither a comma nor the end of the array is broken.
    """
    state, place = read_value(data, at)
    if state is ValueState.ENDED and data[place] not in b",]":
        state = ValueState.BROKEN
    return state, place
