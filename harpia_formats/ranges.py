"""Part a file of lines into ranges of whole lines, and read them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harpia_formats.framing import Chunk, Cursor

#: Bytes of a range, and of the pieces that are judged at once.
RANGE, PIECE = 8 * 1024 * 1024, 64 * 1024
#: Ranges that wait for each process.
AHEAD = 3


@dataclass(frozen=True, slots=True)
class Range:
    """Some whole lines of a file."""

    begin: int
    end: int
    #: Records before it, where rows need their number.
    before: int = 0
    #: Which of the files for rows is free for its rows.
    block: int = 0


def ranges_of(path: Path, begin: int) -> Iterator[tuple[int, int]]:
    """Yield where ranges of whole lines begin and end, from `begin` on."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while begin < size:
            file.seek(min(begin + RANGE, size))
            file.readline()
            end = file.tell()
            yield begin, end
            begin = end


def bytes_of(path: Path, begin: int, end: int) -> bytes:
    """Return the bytes of a range."""
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        parts = []
        while begin < end and (part := file.read(end - begin)):
            parts.append(part)
            begin += len(part)
    return b"".join(parts)


def chunks_of(path: Path, work: Range) -> Iterator[Chunk]:
    """Yield the lines of a range, a piece at a time; their places begin with 0."""
    at, line, size = work.begin, 0, PIECE
    with path.open("rb", buffering=0) as file:
        while at < work.end:
            file.seek(at)
            data = file.read(min(size, work.end - at))
            end = data.rfind(b"\n") + 1
            if not data:
                return
            if at + len(data) == work.end:
                end = len(data)
            elif not end:
                size *= 2
                continue
            chunk = Chunk(data[:end], Cursor(at - work.begin, line))
            yield chunk
            at, line, size = at + end, line + len(chunk), PIECE
