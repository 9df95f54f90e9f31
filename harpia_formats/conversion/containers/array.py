"""Write rows as the items of one JSON array, which an object may hold."""

from collections.abc import Iterable
from dataclasses import dataclass

from harpia_formats.conversion.containers.lines import WaitingRows
from harpia_formats.conversion.containers.row_writer import WriteBytes
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode


@dataclass(slots=True)
class ArrayWriter:
    """Writes one array with a row on each line; a header goes into the first row."""

    write: WriteBytes
    #: Whether a header may follow, so that the first row has to wait for it.
    headed: bool = False
    separator: bytes = b",\n"
    _begun: bool = False
    _waiting: WaitingRows | None = None

    def block(self, rows: Iterable[bytes]) -> None:
        """Write some items, or keep them until the header is known."""
        if not self.headed:
            self.write(b",\n" if self._begun else b"[\n")
            for piece in rows:
                self.write(piece)
        elif self._waiting is None:
            self._waiting = WaitingRows(b"".join(rows), self.separator)
        else:
            self._waiting.add(rows)
        self._begun = True

    def close(self, header: Row) -> None:
        """Write the rows that waited for `header`, and close the array."""
        if self._waiting is not None:
            self.write(b"[\n")
            self._waiting.copy(self.write, header)
        self.write(b"\n]\n" if self._begun else b"[]\n")

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
    separator: bytes = b",\n"
    _begun: bool = False

    def block(self, rows: Iterable[bytes]) -> None:
        """Write some items of the array."""
        start = b"{" + encode(self.rows_at) + b": [\n"
        self.write(b",\n" if self._begun else start)
        for piece in rows:
            self.write(piece)
        self._begun = True

    def close(self, header: Row) -> None:
        """Close the array, and write the members of `header` behind it."""
        end = b"\n]" if self._begun else b"{" + encode(self.rows_at) + b": []"
        for key, value in header.items():
            end += b",\n" + encode(key) + b": " + encode(value)
        self.write(end + b"\n}\n")

    def discard(self) -> None:
        """Do nothing: no row is kept."""
