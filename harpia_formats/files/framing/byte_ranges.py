"""Cut files of lines or CSV into byte ranges of whole records, and read such ranges."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import Struct

from harpia_formats.files.framing.chunk import count_newlines
from harpia_formats.files.io.reader import BLOCK, SourceError, error_reason
from harpia_formats.files.io.remote_file import RemoteFile

#: Bytes of a range, unless another size is asked for.
RANGE = 8 * 1024 * 1024
#: Bytes that are copied at once: few enough to stay in a processor's cache.
COPIED = 256 * 1024
#: Bytes of a remote file in one request; most ranges are smaller.
REQUEST = 64 * 1024 * 1024
#: Bytes of a remote file that are read first to find the end of a line.
PROBE = 64 * 1024
#: Line ends of a remote file that are searched by concurrent requests.
TOGETHER = 16


def line_ranges(
    origin: Path | RemoteFile, begin: int, size: int = 0
) -> Iterator[tuple[int, int]]:
    """Yield `(begin, end)` of ranges of whole lines, from byte `begin` to the end.

    Each has `size` bytes (`RANGE` if 0) and the rest of its last line, which is not
    held in memory. Raises `OSError` if the file cannot be read.
    """
    size = size or RANGE
    if isinstance(origin, RemoteFile):
        yield from _remote_line_ranges(origin, begin, size)
        return
    total = origin.stat().st_size
    with origin.open("rb", buffering=0) as file:
        while begin < total:
            end = min(begin + size, total)
            file.seek(end)
            while end < total and (block := file.read(BLOCK)):
                newline = block.find(b"\n") + 1
                end += newline or len(block)
                if newline:
                    break
            yield begin, end
            begin = end


def _remote_line_ranges(
    remote: RemoteFile, begin: int, size: int
) -> Iterator[tuple[int, int]]:
    """Yield ranges as `line_ranges` does; line ends are found by small requests."""
    total = remote.size or 0
    offsets = iter(range(begin + size, total, size))
    while batch := list(islice(offsets, TOGETHER)):
        probes = remote.read_many([(at, min(at + PROBE, total)) for at in batch])
        # In order, so that ranges before one that cannot be read are still yielded.
        for offset, probe in zip(batch, probes, strict=True):
            end = _line_end(remote, offset, probe, total)
            if end > begin:
                yield begin, end
                begin = end
    if begin < total:
        yield begin, total


def _line_end(remote: RemoteFile, at: int, probe: bytes, total: int) -> int:
    """Return the offset behind the line that holds byte `at`, where `probe` begins."""
    while (found := probe.find(b"\n")) < 0:
        at += len(probe)
        if at >= total:
            return total
        probe = remote.read(at, min(at + 16 * PROBE, total))
    return at + found + 1


def range_blocks(
    origin: Path | RemoteFile, begin: int, end: int, size: int = COPIED
) -> Iterator[bytes]:
    """Yield the bytes of a range in blocks of `size` bytes.

    There are fewer bytes if a file of this machine ends before. Raises `OSError` if
    the file cannot be read.
    """
    if isinstance(origin, RemoteFile):
        end = min(end, origin.size or end)
        while begin < end:
            data = origin.read(begin, min(begin + REQUEST, end))
            begin += len(data)
            for at in range(0, len(data), size):
                yield data[at : at + size]
        return
    with origin.open("rb", buffering=0) as file:
        file.seek(begin)
        while begin < end and (block := file.read(min(size, end - begin))):
            begin += len(block)
            yield block


def read_range(origin: Path | RemoteFile, begin: int, end: int) -> bytes:
    """Return the bytes of a range; errors and short files as in `range_blocks`."""
    return b"".join(range_blocks(origin, begin, end, REQUEST))


class RangeReader(Struct):
    """The blocks of a range, iterated once, with counts of what was read.

    Iterating raises `SourceError` if the range cannot be read; there are fewer bytes
    than `total` if the file has become shorter.
    """

    #: The file as shown to the user.
    name: str
    begin: int
    end: int
    #: The file that holds the range, or the bytes of the range themselves.
    origin: Path | RemoteFile | bytes
    #: Bytes read so far.
    consumed: int = 0
    #: Newlines read so far.
    lines: int = 0

    @property
    def total(self) -> int:
        """The size of the range in bytes."""
        return self.end - self.begin

    def __iter__(self) -> Iterator[bytes]:
        try:
            for block in self._blocks():
                self.consumed += len(block)
                self.lines += count_newlines(block)
                yield block
        except OSError as error:
            raise SourceError(self.name, error_reason(error)) from error

    def _blocks(self) -> Iterator[bytes]:
        if isinstance(self.origin, bytes):
            data = self.origin
            return (data[at : at + BLOCK] for at in range(0, len(data), BLOCK))
        return range_blocks(self.origin, self.begin, self.end, BLOCK)


_QUOTE = b'"'


def csv_ranges(path: Path, begin: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield `(begin, end)` of ranges of whole records, from byte `begin` to the end.

    Each has `size` bytes and the rest of its last record. A record ends at a line feed
    that an even number of quotation marks is before. Where a single one stands inside
    of a field, a range may end inside of a quoted field, so whoever reads the range
    finds that field not closed. Raises `OSError` if the file cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        at, is_open = begin, False
        while block := file.read(COPIED):
            begun = 0
            # Bytes of the block before which no range ends.
            while (least := begin + size - 1 - at) < len(block):
                end, is_open = _record_end(block, begun, least, is_open=is_open)
                begun = end or len(block)
                if not end:
                    break
                yield begin, at + end
                begin = at + end
            if begun < len(block):
                quotes = stringzilla.count(block[begun:], _QUOTE)
                is_open ^= bool(quotes % 2)
            at += len(block)
        if begin < at:
            yield begin, at


def _record_end(
    block: bytes, begin: int, least: int, *, is_open: bool
) -> tuple[int, bool]:
    """Return where the record ends in which the byte `least` of a block is.

    `is_open` tells whether the byte `begin` is in a quoted field. Returns 0 if the
    record does not end in the block, and whether a quoted field is open then.
    """
    at = begin
    end = block.find(b"\n", max(begin, least)) + 1
    while end:
        is_open ^= bool(block.count(_QUOTE, at, end) % 2)
        if not is_open:
            return end, False
        at = end
        end = block.find(b"\n", end) + 1
    return 0, is_open ^ bool(block.count(_QUOTE, at) % 2)


def count_records(data: bytes) -> int:
    """Return how many line feeds of `data` are outside of quoted fields."""
    if _QUOTE not in data:
        found: int = stringzilla.count(data, b"\n")
        return found
    return sum(part.count(b"\n") for part in data.split(_QUOTE)[::2])
