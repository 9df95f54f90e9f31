"""Part a file of lines into ranges of whole lines, and read them."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from harpia_formats.framing.byte_range import line_ranges
from harpia_formats.framing.lines import Chunk, Cursor
from harpia_formats.io.remote.file import Remote

#: Bytes of a range, and of the pieces that are judged at once.
RANGE, PIECE = 8 * 1024 * 1024, 64 * 1024
#: Bytes that are copied at once: few enough to stay where a processor has them at hand.
COPIED = 256 * 1024


@dataclass(frozen=True, slots=True)
class Range:
    """Some whole lines of a file."""

    begin: int
    end: int
    #: Records before it, where rows need their number.
    before: int = 0
    #: Which of the files for rows is free for its rows.
    block: int = 0


def ranges_of(
    origin: Path | Remote, begin: int, size: int = 0
) -> Iterator[tuple[int, int]]:
    """Yield where ranges of whole lines begin and end, from `begin` on.

    They have `size` bytes, or `RANGE`. Raises `OSError`.
    """
    return line_ranges(origin, begin, size or RANGE)


def bytes_of(origin: Path | Remote, begin: int, end: int) -> bytes:
    """Return the bytes of a range, fewer where the file ends; raises `OSError`."""
    if isinstance(origin, Remote):
        return origin.read(begin, min(end, origin.size or end))
    with origin.open("rb", buffering=0) as file:
        file.seek(begin)
        parts = []
        while begin < end and (part := file.read(end - begin)):
            parts.append(part)
            begin += len(part)
    return b"".join(parts)


def pieces_of(origin: Path | Remote, begin: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a range a piece at a time; raises `OSError`."""
    if isinstance(origin, Remote):
        yield bytes_of(origin, begin, end)
        return
    with origin.open("rb", buffering=0) as file:
        file.seek(begin)
        while begin < end and (piece := file.read(min(COPIED, end - begin))):
            begin += len(piece)
            yield piece


def _opened_at(origin: Path | Remote, work: Range) -> tuple[IO[bytes], int]:
    """Return a file that holds a range, and at which byte of it the range begins."""
    if isinstance(origin, Remote):
        # By one request: each costs as long as converting a megabyte.
        return BytesIO(bytes_of(origin, work.begin, work.end)), 0
    return origin.open("rb", buffering=0), work.begin


def chunks_of(origin: Path | Remote, work: Range) -> Iterator[Chunk]:
    """Yield the lines of a range, a piece at a time; their places begin with 0.

    Raises `OSError`.
    """
    at, line, size = work.begin, 0, PIECE
    opened, start = _opened_at(origin, work)
    with opened as file:
        while at < work.end:
            file.seek(at - work.begin + start)
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
