"""Write rows as the items of one JSON array, which an object may hold."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from harpia_formats.conversion.containers.lines import WaitingRows
from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    RowEncoder,
    WriteBytes,
    encode_rows,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode


@dataclass(slots=True)
class _Items:
    """Writes lines of JSON as the items of an array."""

    write: WriteBytes
    #: What stands before the next piece.
    before: bytes
    has_any: bool = False

    def add(self, piece: bytes) -> None:
        """Write a piece of the lines, which may end inside of a line."""
        if not piece:
            return
        # No row has a newline inside: in JSON texts it is escaped.
        items = piece.replace(b"\n", b",\n")
        is_end = piece.endswith(b"\n")
        self.write(self.before)
        self.write(items[:-2] if is_end else items)
        self.before = b",\n" if is_end else b""
        self.has_any = True


@dataclass(slots=True)
class ArrayWriter:
    """Writes one array with a row on each line; a header goes into the first row."""

    write: WriteBytes
    #: Whether a header may follow, so that the first row has to wait for it.
    headed: bool = False
    encoder: RowEncoder = encode_rows
    _items: _Items = field(init=False)
    _waiting: WaitingRows | None = None

    def __post_init__(self) -> None:
        self._items = _Items(self.write, b"[\n")

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Write some items, or keep them until the header is known."""
        for block in blocks:
            (lines,) = block.texts
            if not self.headed:
                self._items.add(lines)
            elif self._waiting is None:
                self._waiting = WaitingRows(lines)
            else:
                self._waiting.add(lines)

    def close(self, header: Row) -> None:
        """Write the rows that waited for `header`, and close the array."""
        if self._waiting is not None:
            self._waiting.copy(self._items.add, header)
        self.write(b"\n]\n" if self._items.has_any else b"[]\n")

    def discard(self) -> None:
        """Drop the rows that wait for the header."""
        if self._waiting is not None:
            self._waiting.discard()


@dataclass(slots=True)
class WrappedArrayWriter:
    """Writes an object around an array of all rows, with the header behind it."""

    write: WriteBytes
    #: The key of the array.
    rows_at: str
    encoder: RowEncoder = encode_rows
    _items: _Items = field(init=False)

    def __post_init__(self) -> None:
        start = b"{" + encode(self.rows_at) + b": [\n"
        self._items = _Items(self.write, start)

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Write some items of the array."""
        for block in blocks:
            self._items.add(block.texts[0])

    def close(self, header: Row) -> None:
        """Close the array, and write the members of `header` behind it."""
        is_empty = not self._items.has_any
        end = b"{" + encode(self.rows_at) + b": []" if is_empty else b"\n]"
        for key, value in header.items():
            end += b",\n" + encode(key) + b": " + encode(value)
        self.write(end + b"\n}\n")

    def discard(self) -> None:
        """Do nothing: no row is kept."""
