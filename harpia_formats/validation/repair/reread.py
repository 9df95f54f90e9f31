"""Read a file once more after its repairs were found, if it is still the same."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from harpia_formats.files.framing.chunk import BOM
from harpia_formats.files.io.file_state import FileState, reason_of_change
from harpia_formats.files.io.reader import SourceError
from harpia_formats.validation.one_file import OpenFile

#: Bytes of a byte order mark.
MARK_BYTES = len(BOM)


def blocks_again(file: OpenFile, state: FileState | None) -> Iterator[bytes]:
    """Yield the bytes of a file once more.

    Raises `SourceError` at their end if they are not those that were read before.
    """
    size = 0
    for block in file.again.blocks():
        size += len(block)
        yield block
    origin = file.source.origin
    reason = reason_of_change(origin, state) if isinstance(origin, Path) else ""
    if not reason and size != file.count.bytes:
        reason = "cannot be read to its end a second time"
    if reason:
        raise SourceError(file.source.name, f"{reason}; nothing was written")


def has_mark(file: OpenFile) -> bool:
    """Return whether a file begins with a byte order mark."""
    with closing(file.again.blocks()) as blocks:
        return next(blocks, b"").startswith(BOM)
