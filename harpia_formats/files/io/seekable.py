"""Open the bytes of a source as a file that can seek, as unpackers need it."""

import io
from collections.abc import Callable
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Protocol, cast

from harpia_formats.files.io.reader import BLOCK, FullReader
from harpia_formats.files.io.remote.file import RemoteFile

#: Bytes of a copy that are held in memory before they go to the disk.
HELD = 8 * 1024 * 1024
#: Bytes that a request reads of a remote file, unless more are asked for.
AHEAD = 256 * 1024


def seekable(
    origin: object,
    stream: BinaryIO,
    size: int | None,
    data: FullReader,
    note: Callable[[int], None],
) -> BinaryIO:
    """Return a file with the bytes of a source that can seek, at its beginning.

    `stream` reads the `size` bytes of `origin`; where it cannot seek, or `origin` is
    None, the bytes of `data` are copied to a temporary file. `note` is called with the
    number of bytes after each read. Raises `OSError` if they cannot be written.
    """
    ranges: _Ranges | None = None
    buffer = BLOCK
    if isinstance(origin, RemoteFile):
        if origin.ranged and size is not None:
            ranges, buffer = _RemoteRanges(origin), AHEAD
    elif isinstance(origin, (bytes, Path)) and size is not None:
        ranges = _StreamRanges(stream)
    if ranges is None or size is None:
        return _copied(data)
    file = io.BufferedReader(_RangedFile(ranges, size, note), buffer)
    return cast("BinaryIO", file)


class _Ranges(Protocol):
    """Bytes that can be read in ranges."""

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range, or fewer; raises `OSError`."""


class _StreamRanges:
    """A stream that can seek."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, begin: int, end: int) -> bytes:
        self._stream.seek(begin)
        return self._stream.read(end - begin)


class _RemoteRanges:
    """A remote file, read by a request for each range."""

    def __init__(self, remote: RemoteFile) -> None:
        self._remote = remote

    def read(self, begin: int, end: int) -> bytes:
        return self._remote.read(begin, end)


class _RangedFile(io.RawIOBase):
    """Ranges of bytes as a file, whose reads are counted."""

    def __init__(self, ranges: _Ranges, size: int, note: Callable[[int], None]) -> None:
        super().__init__()
        self._ranges = ranges
        self._size = size
        self._note = note
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}
        if start[whence] + offset < 0:
            raise OSError(None, "a place before the beginning of the file")
        self._at = start[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        end = min(self._at + len(view), self._size)
        data = self._ranges.read(self._at, end) if self._at < end else b""
        view[: len(data)] = data
        self._at += len(data)
        self._note(len(data))
        return len(data)


def _copied(data: FullReader) -> BinaryIO:
    """Return a temporary file with all bytes of `data`, at its beginning.

    Raises `SourceError` if they cannot be read, `OSError` if they cannot be written.
    """
    copy = SpooledTemporaryFile(HELD)  # noqa: SIM115 - the caller closes it
    try:
        while block := data.read(BLOCK):
            copy.write(block)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return cast("BinaryIO", copy)
