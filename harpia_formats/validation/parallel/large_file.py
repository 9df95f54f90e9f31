"""Have the rows of a large file judged elsewhere, and take back in order what is found.

A plain file of lines is cut into ranges that are read where they are judged. Of
everything else the rows are cut here, and handed over with their bytes.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from harpia_formats.detection.read_blocks import ReadBlocks, complete_frames
from harpia_formats.framing.byte_buffer import ByteBuffer
from harpia_formats.framing.byte_ranges import RangeReader
from harpia_formats.framing.chunk import (
    Chunk,
    Cursor,
    FramingFault,
    count_newlines,
    is_blank,
)
from harpia_formats.framing.columns import DocumentFrames
from harpia_formats.framing.lines import line_rows
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import ReadProgress
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.parallel.chunks import BUNDLE, RANGE, Item, Pieces
from harpia_formats.validation.parallel.file_job import Site
from harpia_formats.validation.parallel.merge import merged
from harpia_formats.validation.parallel.messages import Found, Range
from harpia_formats.validation.parallel.shared_memory import Shelf
from harpia_formats.validation.parallel.worker import judged_range, prepare
from harpia_formats.workers.ordered import in_turn
from harpia_formats.workers.pool import Died, Ticket, WorkerPool
from harpia_formats.workers.same_file import FileFingerprint

#: Bytes that are judged here first: enough to know how most rows look.
HEAD = 1024 * 1024
#: Bytes of a file behind them that are worth a second process, and how many must
#: have come where nobody knows how many are to come.
WORTH, WORTH_UNKNOWN = 3 * RANGE, 4 * 1024 * 1024
#: Bytes of rows that wait to be judged, unless they are a single piece of work.
HELD = 16 * 1024 * 1024


@dataclass(slots=True)
class _Read:
    """How far a file was read, for a progress bar."""

    name: str
    total: int | None
    consumed: int = 0


@dataclass(slots=True)
class Ranged:
    """The rows of one file, most of which are judged elsewhere."""

    site: Site
    pool: WorkerPool
    #: Where the next range begins, if nobody else knows.
    _place: Cursor | None = None
    #: Whether nothing more can be read.
    _broken: bool = False

    def problems(self, frames: DocumentFrames) -> Iterator[Problem]:
        """Yield the problems that are kept, in order."""
        size, reader = 0, self.site.blocks.reader
        for frame in frames:
            yield from self.site.judge(iter((frame,)))
            if not isinstance(frame, Chunk):
                continue
            size += len(frame.data)
            end = _end_of(frame)
            origin = self._origin_of_lines(end) if size >= HEAD else None
            if origin is not None and end is not None:
                yield from self._lines(origin, end)
                return
            if size >= WORTH_UNKNOWN and not self._is_small():
                # One more than are under way: the first of them is still looked at.
                with Shelf(self.pool.room + 1, 2 * BUNDLE) as shelf:
                    items = self._pieces.bundles(frames, shelf)
                    yield from self._in_turn(items, reader)
                return

    @property
    def _pieces(self) -> Pieces:
        return Pieces(self.site, here=not self.pool.is_far)

    def _origin_of_lines(self, place: Cursor | None) -> Path | RemoteFile | None:
        """Return the file if its lines can be read from `place` on, and are worth it.

        `place` is None where no line begins.
        """
        reader = self.site.blocks.reader
        origin, size = getattr(reader, "file", None), reader.total
        if place is None or size is None or size - place.offset < WORTH:
            return None
        found: Path | RemoteFile | None = origin
        # Of a remote file one connection gives as much as several of one machine.
        is_unseen = isinstance(found, RemoteFile)
        if found is not None and self.pool.is_far:
            is_unseen = self.pool.fingerprint_of(found) is None
        return None if is_unseen else found

    def _is_small(self) -> bool:
        """Tell whether what is still to come is not worth a second process."""
        reader = self.site.blocks.reader
        if getattr(reader, "file", None) is None or reader.total is None:
            return False
        return reader.total - reader.consumed < WORTH

    def _lines(self, origin: Path | RemoteFile, place: Cursor) -> Iterator[Problem]:
        """Yield what is found in the lines of a file from `place` on."""
        site, self._place = self.site, place
        site.count.bytes = place.offset
        read = _Read(site.count.path, site.blocks.reader.total)
        items = self._pieces.ranges(origin, place.offset)
        yield from self._in_turn(items, read, self.pool.fingerprint_of(origin))
        if isinstance(origin, RemoteFile) and not self._broken:
            self._check_unchanged(origin)

    def _check_unchanged(self, remote: RemoteFile) -> None:
        """Take note if a file is another one than when it was found."""
        try:
            remote.check_unchanged()
        except OSError as error:
            name = self.site.count.path
            self.site.blocks.error = SourceError(name, error_reason(error))

    def _in_turn(
        self,
        items: Iterator[Item],
        read: ReadProgress,
        fingerprint: FileFingerprint | None = None,
    ) -> Iterator[Problem]:
        """Yield what is found in items, in order."""
        site = self.site
        job = replace(site.job(), fingerprint=fingerprint)
        prepare(job, site.part.judge)
        works = (
            (each, None if each.range is None else (judged_range, (job, each.range)))
            for each in items
        )
        for item, ticket in in_turn(self.pool, works, _size, HELD):
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

    def _found(self, item: Item, work: Range, ticket: Ticket) -> Iterator[Problem]:
        """Yield what is found in some rows, wherever they are judged in the end."""
        stretch = RangeReader(work.name, work.begin, work.end, work.origin)
        try:
            found: Found | None = self.pool.result(ticket)
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

    def _frames_of(self, item: Item, stretch: RangeReader) -> DocumentFrames:
        """Yield the frames of some rows once more, as far as they can be read."""
        if self._place is None:
            yield from item.frames
            return
        blocks = ReadBlocks(stretch, FileCount(stretch.name))
        limit = self.site.options.max_row_bytes
        lines = line_rows(ByteBuffer(iter(blocks)), self._place, limit)
        yield from complete_frames(lines, blocks)
        if blocks.error is not None:
            self.site.blocks.error = blocks.error
            self._broken = True

    def _missed(self, work: Range, frames: DocumentFrames) -> Iterator[Problem]:
        """Count rows that nobody can judge, and say which they are."""
        site, before = self.site, self.site.part.records
        start, lines = self._place or work.start, 0
        for each in frames:
            if isinstance(each, Chunk):
                lines += count_newlines(each.data)
                site.add(sum(not is_blank(row) for row in each.rows))
            elif isinstance(each, FramingFault):
                site.add(each.record)
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


def _size(item: Item) -> int:
    return item.size


def _end_of(chunk: Chunk) -> Cursor | None:
    """Return where a chunk of lines ends, if that is the beginning of a line."""
    if not chunk.lines or not chunk.data.endswith(b"\n"):
        return None
    start = chunk.start
    return Cursor(start.offset + len(chunk.data), start.line + len(chunk))
