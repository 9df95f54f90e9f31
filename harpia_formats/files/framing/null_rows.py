"""Rows in which each NaN and Infinity is null, at the places of those of the file."""

from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.framing.constants import may_have_constants, with_nulls


class NullRows(Chunk):
    """Rows whose constants are null; `texts` has them as they are in the file."""

    __slots__ = ("_original",)

    def __init__(self, original: Chunk) -> None:
        """Take the rows of the file."""
        rows = list(map(with_nulls, original.rows))
        if original.lines:
            end = b"\n" if original.data.endswith(b"\n") else b""
            super().__init__(b"\n".join(rows) + end, original.start)
        else:
            super().__init__(b",".join(rows), original.start, rows)
        self._original = original

    @property
    def texts(self) -> list[bytes]:
        """The bytes of each row in the file."""
        return self._original.rows

    @property
    def end(self) -> Cursor:
        """Where in the file the rows end."""
        return self._original.end

    def first(self, count: int) -> Chunk:
        """Return a chunk of the first `count` rows."""
        return rows_with_nulls(self._original.first(count))

    def between(self, begin: int, end: int) -> Chunk:
        """Return a chunk of the rows from row `begin` up to, not including, `end`."""
        return rows_with_nulls(self._original.between(begin, end))

    def start_of(self, number: int) -> Cursor:
        """Return where in the file row `number`, from 0, begins."""
        return self._original.start_of(number)


def rows_with_nulls(chunk: Chunk) -> Chunk:
    """Return the rows of `chunk` with null for each constant."""
    if not may_have_constants(chunk.data):
        return chunk
    rows = NullRows(chunk)
    return rows if rows.rows != chunk.rows else chunk
