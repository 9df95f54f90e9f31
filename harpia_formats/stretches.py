"""Ranges of a file of lines: where they begin and end, and their bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harpia_formats.bytestream import BLOCK, SourceError, plain
from harpia_formats.framing import lines_in


def line_ranges(path: Path, begin: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield where ranges of whole lines begin and end, from `begin` to the end.

    Each is longer than `size` by at most a line, which is not held. Raises `OSError`.
    """
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
    origin: Path | bytes
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
        begin = self.begin
        with self.origin.open("rb", buffering=0) as file:
            file.seek(begin)
            while begin < self.end:
                block = file.read(min(BLOCK, self.end - begin))
                if not block:
                    return
                begin += len(block)
                yield block
