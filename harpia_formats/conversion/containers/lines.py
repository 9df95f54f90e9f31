"""Write rows as lines, the header of the data set inside of the first row."""

from collections.abc import Iterable
from dataclasses import dataclass

from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    RowEncoder,
    WriteBytes,
    copy_spooled,
    encode_rows,
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
    encoder: RowEncoder = encode_rows
    _waiting: "WaitingRows | None" = None

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Write some lines, or keep them until the header is known."""
        for block in blocks:
            (lines,) = block.texts
            if not self.headed:
                self.write(lines)
            elif self._waiting is None:
                self._waiting = WaitingRows(lines)
            else:
                self._waiting.add(lines)

    def close(self, header: Row) -> None:
        """Write the rows that waited for `header`, the first of them with it."""
        if self._waiting is not None:
            self._waiting.copy(self.write, header)

    def discard(self) -> None:
        """Drop the rows that wait for the header."""
        if self._waiting is not None:
            self._waiting.discard()


class WaitingRows:
    """Lines in a temporary file that wait for the header of their data set."""

    def __init__(self, lines: bytes) -> None:
        self._first, _, later = lines.partition(b"\n")
        self._later = spool()
        self.add(later)

    def add(self, lines: bytes) -> None:
        """Keep further lines."""
        self._later.extend_bytes(lines)

    def copy(self, write: WriteBytes, header: Row) -> None:
        """Write all lines, the first of them with `header` unless that is empty."""
        first = self._first
        if header:
            first = first[:-1] + b',"header":' + encode(header) + b"}"
        write(first + b"\n")
        copy_spooled(self._later, write)

    def discard(self) -> None:
        """Drop all lines."""
        self._later.close()
