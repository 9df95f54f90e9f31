"""Write rows as lines, the header of the data set inside of the first row."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

from harpia_formats.conversion.containers.row_writer import (
    WriteBytes,
    copy_spooled,
    spool,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode


@dataclass(slots=True)
class LineWriter:
    """Writes each row as a line; a header becomes a member of the first row."""

    write: WriteBytes
    #: Whether a header may follow, so that the first row has to wait for it.
    headed: bool = False
    separator: bytes = b"\n"
    _waiting: "WaitingRows | None" = None

    def block(self, rows: Iterable[bytes]) -> None:
        """Write some lines, or keep them until the header is known."""
        if not self.headed:
            # Each piece by itself: rows are large, and a copy would cost more.
            for piece in rows:
                self.write(piece)
            self.write(b"\n")
        elif self._waiting is None:
            self._waiting = WaitingRows(b"".join(rows), self.separator)
        else:
            self._waiting.add(rows)

    def close(self, header: Row) -> None:
        """Write the rows that waited for `header`, the first of them with it."""
        if self._waiting is not None:
            self._waiting.copy(self.write, header)
            self.write(b"\n")

    def discard(self) -> None:
        """Drop the rows that wait for the header."""
        if self._waiting is not None:
            self._waiting.discard()


class WaitingRows:
    """Rows in a temporary file that wait for the header of their data set."""

    def __init__(self, rows: bytes, separator: bytes) -> None:
        self._separator = separator
        self._first, _, later = rows.partition(separator)
        self._later: IO[bytes] = spool()
        if later:
            self.add([later])

    def add(self, rows: Iterable[bytes]) -> None:
        """Keep further rows, given in pieces."""
        self._later.write(self._separator)
        self._later.writelines(rows)

    def copy(self, write: WriteBytes, header: Row) -> None:
        """Write all rows, the first of them with `header` unless that is empty."""
        first = self._first
        if header:
            first = first[:-1] + b',"header":' + encode(header) + b"}"
        write(first)
        copy_spooled(self._later, write)

    def discard(self) -> None:
        """Drop all rows."""
        self._later.close()
