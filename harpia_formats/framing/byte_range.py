"""Ranges of a file of lines: where they begin and end, and their bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harpia_formats.framing.lines import lines_in
from harpia_formats.io.reader import BLOCK, SourceError, plain
from harpia_formats.io.remote.file import Remote

#: Bytes of a remote file that are asked for by one request; a range has fewer, but
#: for one that could not be cut.
REQUEST = 64 * 1024 * 1024


def line_ranges(
    path: Path | Remote, begin: int, size: int
) -> Iterator[tuple[int, int]]:
    """Yield where ranges of whole lines begin and end, from `begin` to the end.

    Each is longer than `size` by at most a line, which is not held. Raises `OSError`.
    """
    if isinstance(path, Remote):
        from harpia_formats.io.remote.line_ranges import remote_ranges  # noqa: PLC0415 - for remote files only

        yield from remote_ranges(path, begin, size)
        return
    total = path.stat().st_size
    with path.open("rb", buffering=0) as file:
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


@dataclass(slots=True)
class Stretch:
    """The bytes of a range in blocks, once, and what was seen of them.

    Iterating raises `SourceError`; there are fewer bytes where the file has shrunk.
    """

    #: The file as it is called.
    name: str
    begin: int
    end: int
    #: The file to read from; otherwise the bytes themselves.
    origin: Path | Remote | bytes
    consumed: int = 0
    #: How many lines have ended.
    lines: int = 0

    @property
    def total(self) -> int:
        """How many bytes there are."""
        return self.end - self.begin

    def __iter__(self) -> Iterator[bytes]:
        try:
            for block in self._blocks():
                self.consumed += len(block)
                self.lines += lines_in(block)
                yield block
        except OSError as error:
            raise SourceError(self.name, plain(error)) from error

    def _blocks(self) -> Iterator[bytes]:
        if isinstance(self.origin, bytes):
            for at in range(0, len(self.origin), BLOCK):
                yield self.origin[at : at + BLOCK]
            return
        if isinstance(self.origin, Remote):
            yield from _remote_blocks(self.origin, self.begin, self.end)
            return
        begin = self.begin
        with self.origin.open("rb", buffering=0) as file:
            file.seek(begin)
            while begin < self.end:
                block = file.read(min(BLOCK, self.end - begin))
                if not block:
                    return
                begin += len(block)
                yield block


def _remote_blocks(remote: Remote, begin: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a range; of most of them there is one request."""
    while begin < end:
        data = remote.read(begin, min(begin + REQUEST, end))
        begin += len(data)
        for at in range(0, len(data), BLOCK):
            yield data[at : at + BLOCK]
