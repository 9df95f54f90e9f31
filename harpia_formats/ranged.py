"""Have the rows of a large file judged elsewhere, and take back in order what is found.

A plain file of lines is cut into ranges that are read where they are judged. Of
everything else the rows are cut here, and handed over with their bytes.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harpia_formats.blocks import Blocks, whole_frames
from harpia_formats.crew import Crew, Died, Ticket, in_turn
from harpia_formats.detection import Variant
from harpia_formats.framing import (
    Chunk,
    Cursor,
    Feed,
    Flaw,
    is_blank,
    line_rows,
    lines_in,
)
from harpia_formats.head import Cut
from harpia_formats.marks import Outcomes
from harpia_formats.merging import merged
from harpia_formats.noting import Keys
from harpia_formats.options import Options
from harpia_formats.parts import Part
from harpia_formats.problem import Problem
from harpia_formats.ranges import Stretch, line_ranges
from harpia_formats.report import FileCount
from harpia_formats.rules import Rule
from harpia_formats.schema import Schema
from harpia_formats.shelf import Shelf
from harpia_formats.slices import Header, Member, Slices
from harpia_formats.source import Measured
from harpia_formats.speaker import Speaker
from harpia_formats.tally import Tally
from harpia_formats.uniqueness import Uniqueness
from harpia_formats.work import Found, Job, Piece, Range, new_key, plain_options
from harpia_formats.working import judged_range, prepare

#: Bytes of a range that is read where it is judged; of one of which all is told.
RANGE, RANGE_TOLD = 8 * 1024 * 1024, 1024 * 1024
#: Bytes of rows that are handed over together.
BUNDLE = 1024 * 1024
#: Bytes that are judged here first: enough to know how most rows look.
HEAD = 1024 * 1024
#: Bytes of a file behind them that are worth a second process, and how many must
#: have come where nobody knows how many are to come.
WORTH, WORTH_UNKNOWN = 3 * RANGE, 4 * 1024 * 1024
#: Bytes of rows that wait to be judged, unless they are a single piece of work.
HELD = 16 * 1024 * 1024
#: Groups whose number of examples is told to whoever looks for more.
EXEMPLIFIED = 256

Frame = Chunk | Flaw | Member | Header


@dataclass(frozen=True, slots=True)
class Site:
    """A file whose inspection is under way, as far as whoever helps must know it."""

    options: Options
    rules: Mapping[str, Rule]
    #: The user's schema with its name, if it is judged by one.
    given: tuple[str, Schema] | None
    variant: Variant | None
    cut: Cut
    tally: Tally
    speaker: Speaker
    outcomes: Outcomes
    part: Part
    unique: Uniqueness | Keys | None
    blocks: Blocks
    #: Judges rows here.
    judge: Callable[[Slices], Iterator[Problem]]
    #: Counts so many further records.
    add: Callable[[int], None]
    #: Takes note of blank lines and of the last line, by the lines before.
    note: Callable[[Found, int], None]
    #: Takes note that some rows are not judged.
    miss: Callable[[], None]

    @property
    def count(self) -> FileCount:
        """The counts of the file."""
        return self.outcomes.count

    def job(self) -> Job:
        """Return how ranges of the file are to be judged."""
        variant = self.variant
        return Job(
            new_key(),
            plain_options(self.options),
            tuple(self.rules),
            self.given,
            formats=(),
            format=variant.format.id if variant else "",
            dialect=variant.format.dialects.index(variant.dialect) if variant else 0,
            unique=self.unique is not None,
            cut=self.cut,
        )


@dataclass(slots=True)
class _Read:
    """How far a file was read, for a progress bar."""

    name: str
    total: int | None
    consumed: int = 0


@dataclass(frozen=True, slots=True)
class _Item:
    """What comes next in a file."""

    #: Rows that are judged elsewhere; without them the frames are judged here.
    range: Range | None
    #: The frames, if they are at hand.
    frames: tuple[Frame, ...] = ()


@dataclass(slots=True)
class Ranged:
    """The rows of one file, most of which are judged elsewhere."""

    site: Site
    crew: Crew
    #: Where the next range begins, if nobody else knows.
    _place: Cursor | None = None
    #: Whether nothing more can be read.
    _broken: bool = False

    def problems(self, frames: Slices) -> Iterator[Problem]:
        """Yield the problems that are kept, in order."""
        size, reader = 0, self.site.blocks.reader
        for frame in frames:
            yield from self.site.judge(iter((frame,)))
            if not isinstance(frame, Chunk):
                continue
            size += len(frame.data)
            end = _end_of(frame)
            path = self._path_of_lines(end) if size >= HEAD else None
            if path is not None and end is not None:
                yield from self._lines(path, end)
                return
            if size >= WORTH_UNKNOWN and not self._is_small():
                # One more than are under way: the first of them is still looked at.
                with Shelf(self.crew.room + 1, 2 * BUNDLE) as shelf:
                    items = self._bundles(frames, shelf)
                    yield from self._in_turn(items, reader)
                return

    def _path_of_lines(self, place: Cursor | None) -> Path | None:
        """Return the file if its lines can be read from `place` on, and are worth it.

        `place` is None where no line begins.
        """
        reader = self.site.blocks.reader
        path, size = getattr(reader, "file", None), reader.total
        if place is None or size is None or size - place.offset < WORTH:
            return None
        return path

    def _is_small(self) -> bool:
        """Tell whether what is still to come is not worth a second process."""
        reader = self.site.blocks.reader
        if getattr(reader, "file", None) is None or reader.total is None:
            return False
        return reader.total - reader.consumed < WORTH

    def _lines(self, path: Path, place: Cursor) -> Iterator[Problem]:
        """Yield what is found in the lines of a file from `place` on."""
        site, self._place = self.site, place
        site.count.bytes = place.offset
        read = _Read(site.count.path, site.blocks.reader.total)
        items = self._ranges(path, place.offset)
        yield from self._in_turn(items, read)

    def _in_turn(self, items: Iterator[_Item], read: Measured) -> Iterator[Problem]:
        """Yield what is found in items, in order."""
        site = self.site
        job = site.job()
        prepare(job, site.part.judge)
        works = (
            (each, None if each.range is None else (judged_range, (job, each.range)))
            for each in items
        )
        for item, ticket in in_turn(self.crew, works, _weight, HELD):
            if item.range is None or ticket is None:
                yield from site.judge(iter(item.frames))
            else:
                yield from self._found(item, item.range, ticket)
            if isinstance(read, _Read) and self._place is not None:
                read.consumed = self._place.offset
            if site.options.progress is not None:
                site.options.progress(read)
            if self._broken:
                return

    def _found(self, item: _Item, work: Range, ticket: Ticket) -> Iterator[Problem]:
        """Yield what is found in some rows, wherever they are judged in the end."""
        stretch = Stretch(work.name, work.begin, work.end, Path(work.path))
        try:
            found: Found | None = self.crew.result(ticket)
        except Died:
            yield from self._missed(work, self._frames_of(item, stretch))
            lines = stretch.lines
        else:
            if found is None:
                yield from self.site.judge(self._frames_of(item, stretch))
                lines = stretch.lines
            else:
                yield from self._merged(found)
                lines = found.lines
        if self._place is not None:
            self._place = Cursor(work.end, self._place.line + lines)
            self.site.count.bytes = work.end

    def _merged(self, found: Found) -> Iterator[Problem]:
        """Count what was found elsewhere, and yield what is kept of it."""
        site = self.site
        lines = self._place.line - 1 if self._place is not None else 0
        before = site.part.records
        site.add(found.records)
        if site.unique is not None and found.digests:
            site.unique.add_digests(array("Q", found.digests))
        site.note(found, lines)
        yield from merged(found, site.tally, site.outcomes, records=before, lines=lines)

    def _frames_of(self, item: _Item, stretch: Stretch) -> Slices:
        """Yield the frames of some rows once more, as far as they can be read."""
        if self._place is None:
            yield from item.frames
            return
        blocks = Blocks(stretch, FileCount(stretch.name))
        limit = self.site.options.max_row_bytes
        lines = line_rows(Feed(iter(blocks)), self._place, limit)
        yield from whole_frames(lines, blocks)
        if blocks.error is not None:
            self.site.blocks.error = blocks.error
            self._broken = True

    def _missed(self, work: Range, frames: Slices) -> Iterator[Problem]:
        """Count rows that nobody can judge, and say which they are."""
        site, before = self.site, self.site.part.records
        start, lines = self._place or work.start, 0
        for each in frames:
            if isinstance(each, Chunk):
                lines += lines_in(each.data)
                site.add(sum(not is_blank(row) for row in each.rows))
        for number in range(before, site.part.records):
            site.outcomes.note_open(number + 1)
        site.miss()
        records = site.part.records - before
        yield from site.speaker.say(
            "V901",
            f"{records:,} record{'s' * (records != 1)} could not be judged: twice the "
            f"process died that was at work on the bytes {work.begin:,} to "
            f"{work.end:,}, lines {start.line:,} to {start.line + lines:,}",
            "see that there is memory enough, or look for what is special about them",
            site.speaker.place(start, before + 1 if records else None),
        )

    def _ranges(self, path: Path, begin: int) -> Iterator[_Item]:
        """Yield the ranges of a file of lines."""
        total = self.site.blocks.reader.total or begin
        size = RANGE if self.site.options.examples else RANGE_TOLD
        try:
            for start, end in line_ranges(path, begin, size):
                yield self._range_in(path, start, end)
                begin = end
        except OSError:
            # Whoever reads the rest of it says why it cannot.
            yield self._range_in(path, begin, total)

    def _range_in(self, path: Path, begin: int, end: int) -> _Item:
        given = {"path": str(path), "at": begin, "size": end - begin}
        return _Item(self._range(begin, end, Cursor(begin), **given))

    def _bundles(self, frames: Slices, shelf: Shelf) -> Iterator[_Item]:
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
                yield _Item(None, (each,))
        if held:
            yield self._bundle(held, shelf)

    def _bundle(self, chunks: list[Chunk], shelf: Shelf) -> _Item:
        """Return chunks with their bytes, all of lines or all of an array."""
        first, last = chunks[0], chunks[-1]
        parts = [each.data for each in chunks]
        given: dict[str, Any] = {}
        # Somebody else's processes may be on other machines.
        path = shelf.put(parts) if self.crew.executor is None else None
        if path is None:
            given["data"] = b"".join(parts)
        else:
            given |= {"path": str(path), "size": sum(map(len, parts))}
        if not first.lines:
            given["pieces"] = tuple(map(_piece, chunks))
        end = last.start.offset + len(last.data)
        work = self._range(first.start.offset, end, first.start, **given)
        return _Item(work, tuple(chunks))

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


def _weight(item: _Item) -> int:
    """Return the bytes of rows that are at hand."""
    return sum(len(each.data) for each in item.frames if isinstance(each, Chunk))


def _piece(chunk: Chunk) -> Piece:
    is_whole = chunk.rows == [chunk.data]
    return Piece(len(chunk.data), chunk.start, 0 if is_whole else len(chunk))


def _end_of(chunk: Chunk) -> Cursor | None:
    """Return where a chunk of lines ends, if that is the beginning of a line."""
    if not chunk.lines or not chunk.data.endswith(b"\n"):
        return None
    start = chunk.start
    return Cursor(start.offset + len(chunk.data), start.line + len(chunk))
