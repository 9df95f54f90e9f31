"""What every writer of a file of rows does, and the helpers that they share.

Rows come as JSON texts. What cannot be written before all rows are known goes through
temporary files, so that memory does not grow with the number of rows.
"""

from collections.abc import Callable, Iterable, Sequence
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Protocol

from harpia_formats.io.reader import BLOCK
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode, encode_lines

#: Bytes of a temporary file that are held in memory before it goes to disk.
SPOOL_BYTES = 1024 * 1024

#: Writes some bytes to the file.
WriteBytes = Callable[[bytes], None]


class RowWriter(Protocol):
    """Writes the rows of one file, and what stands around them."""

    #: What stands between two rows of one block.
    separator: bytes

    def block(self, rows: Iterable[bytes]) -> None:
        """Write rows given in pieces, with `separator` between two rows."""

    def close(self, header: Row) -> None:
        """Write what follows the rows, and `header` where the container has a place."""

    def discard(self) -> None:
        """Close the temporary files; what was not written yet is lost."""


def spool() -> IO[bytes]:
    """Return a new temporary file; `copy_spooled` or the caller closes it."""
    return SpooledTemporaryFile(SPOOL_BYTES)


def copy_spooled(file: IO[bytes], write: WriteBytes) -> None:
    """Write the bytes of a temporary file from its start, and close it."""
    file.seek(0)
    for block in iter(lambda: file.read(BLOCK), b""):
        write(block)
    file.close()


def terminated_rows(rows: Sequence[Any], separator: bytes) -> bytes:
    """Return decoded rows as one block, with `separator` behind each of them."""
    if separator == b"\n":
        return encode_lines(rows)
    return separator.join([*map(encode, rows), b""])


def separated_rows(rows: Iterable[Any], separator: bytes) -> bytes:
    """Return decoded rows as one block, with `separator` between two of them."""
    return separator.join(map(encode, rows))
