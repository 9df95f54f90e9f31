"""Cut the rows of a file into pieces of work."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harpia_formats.framing.byte_ranges import line_ranges
from harpia_formats.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.framing.columns import DocumentFrames, DocumentHeader, RowArray
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.validation.parallel.file_job import Site
from harpia_formats.validation.parallel.messages import Piece, Range
from harpia_formats.validation.parallel.shared_memory import Shelf

#: Bytes of a range that is read where it is judged; of one of which all is told.
RANGE, RANGE_TOLD = 8 * 1024 * 1024, 1024 * 1024
#: How many times as long ranges are for others than processes of ours: each costs
#: their scheduler some.
FAR = 4
#: Bytes of rows that are handed over together.
BUNDLE = 1024 * 1024
#: Groups whose number of examples is told to whoever looks for more.
EXEMPLIFIED = 256

Frame = Chunk | FramingFault | RowArray | DocumentHeader


@dataclass(frozen=True, slots=True)
class Item:
    """What comes next in a file."""

    #: Rows that are judged elsewhere; without them the frames are judged here.
    range: Range | None
    #: The frames, if they are at hand.
    frames: tuple[Frame, ...] = ()

    @property
    def size(self) -> int:
        """The bytes of the rows that are at hand."""
        return sum(len(each.data) for each in self.frames if isinstance(each, Chunk))


@dataclass(frozen=True, slots=True)
class Pieces:
    """Makes pieces of work of one file."""

    site: Site
    #: Whether the work is done by processes of ours, on this machine.
    here: bool

    def ranges(self, origin: Path | RemoteFile, begin: int) -> Iterator[Item]:
        """Yield the ranges of a file of lines."""
        total = self.site.blocks.reader.total or begin
        size = RANGE_TOLD
        if self.site.options.examples:
            size = RANGE if self.here else FAR * RANGE
        try:
            for start, end in line_ranges(origin, begin, size):
                yield self._range_in(origin, start, end)
                begin = end
        except OSError:
            # Whoever reads the rest of it says why it cannot.
            yield self._range_in(origin, begin, total)

    def _range_in(self, origin: Path | RemoteFile, begin: int, end: int) -> Item:
        given: dict[str, Any] = {"at": begin, "size": end - begin}
        if isinstance(origin, RemoteFile):
            given["remote"] = origin
        else:
            # Others have another working folder.
            given["path"] = str(origin.absolute())
        return Item(self._range(begin, end, Cursor(begin), **given))

    def bundles(self, frames: DocumentFrames, shelf: Shelf) -> Iterator[Item]:
        """Yield what is cut here, rows together as far as they follow each other."""
        held: list[Chunk] = []
        size = 0
        for each in frames:
            if isinstance(each, Chunk):
                held.append(each)
                size += len(each.data)
                if size < BUNDLE:
                    continue
            if held:
                yield self._bundle(held, shelf)
                held, size = [], 0
            if not isinstance(each, Chunk):
                yield Item(None, (each,))
        if held:
            yield self._bundle(held, shelf)

    def _bundle(self, chunks: list[Chunk], shelf: Shelf) -> Item:
        """Return chunks with their bytes, all of lines or all of an array."""
        first, last = chunks[0], chunks[-1]
        parts = [each.data for each in chunks]
        given: dict[str, Any] = {}
        # Somebody else's processes may be on other machines.
        path = shelf.put(parts) if self.here else None
        if path is None:
            given["data"] = b"".join(parts)
        else:
            given |= {"path": str(path), "size": sum(map(len, parts))}
        if not first.lines:
            given["pieces"] = tuple(map(_piece, chunks))
        end = last.start.offset + len(last.data)
        work = self._range(first.start.offset, end, first.start, **given)
        return Item(work, tuple(chunks))

    def _range(self, begin: int, end: int, start: Cursor, **given: Any) -> Range:
        """Return some rows that are to be judged elsewhere."""
        tally, count = self.site.tally, self.site.count
        return Range(
            count.path,
            begin,
            end,
            start,
            exemplified=tally.exemplified(EXEMPLIFIED),
            enough=tally.has_examples or count.folded,
            **given,
        )


def _piece(chunk: Chunk) -> Piece:
    is_whole = chunk.rows == [chunk.data]
    return Piece(len(chunk.data), chunk.start, 0 if is_whole else len(chunk))
