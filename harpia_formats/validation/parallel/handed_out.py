"""Hand the rows of a large file to other processes, unit by unit, in order.

A plain file of lines is cut into ranges of bytes, which workers read themselves. The
rows of any other file are cut here, and sent to workers with their bytes.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.byte_ranges import RangeReader
from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentFrames,
    DocumentHeader,
    RowArray,
)
from harpia_formats.files.framing.lines import line_rows
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.remote.file import RemoteFile
from harpia_formats.files.io.source import BytesRead, ReadProgress
from harpia_formats.files.workers.ordered import submit_in_order
from harpia_formats.files.workers.pool import PendingTask, Task, WorkerPool
from harpia_formats.formats.detection.read_blocks import ReadBlocks, complete_frames
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.one_file import OpenFile
from harpia_formats.validation.parallel.cut import (
    BUNDLE,
    FilePart,
    bundles,
    end_of_lines,
    memory_files,
    ranges_in,
    table_ranges_in,
)
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import FileBytes, RowRange
from harpia_formats.validation.unit.result import Findings

#: Bytes of rows that this process holds for workers, unless they are a single unit.
HELD = 16 * 1024 * 1024
#: Bytes of rows that are held here and still sent to a worker: more are one long row.
LONGEST_SENT = 2 * BUNDLE


class UnitWork(Protocol):
    """What other processes do with the units of one file."""

    pool: WorkerPool

    def is_worth(self, done: int, left: int | None, *, is_range: bool) -> bool:
        """Return whether the rest of the file is worth a second process.

        `done` bytes of rows were validated here, `left` bytes of the file are to come,
        None if that is not known; `is_range` tells that workers would read them.
        """

    def range_size(self) -> int:
        """Return the bytes of a range that a worker reads."""

    def begin(self, plan: FilePlan) -> None:
        """Get ready for the units of a file, before the first task."""

    def task(self, part: FilePart, unit: RowRange) -> Task | None:
        """Return the function and arguments with which a worker does a unit.

        None if this process has to do it.
        """

    def answered(
        self,
        handed: "HandedOut",
        part: FilePart,
        unit: RowRange,
        ticket: PendingTask | None,
    ) -> Iterator[Findings]:
        """Yield the problems of a unit, by the answer to its task if it has one."""


@dataclass(slots=True)
class HandedOut:
    """The rows of one file, most of which are handed to other processes."""

    work: UnitWork
    local: LocalValidation
    file: OpenFile
    #: Called after each unit with how far the file was read.
    progress: Callable[[ReadProgress], None] | None = None
    #: Where the next range of a file of lines begins; None if rows are cut here.
    place: Cursor | None = None
    #: Whether nothing more is to be read.
    is_over: bool = False

    @property
    def plan(self) -> FilePlan:
        """The plan of the file."""
        return self.local.merge.plan

    def rows(self, frames: Iterator[Frame]) -> Iterator[Findings]:
        """Validate the beginning here, and hand out the rest if it is worth it."""
        size = 0
        for frame in frames:
            if not isinstance(frame, (Chunk, FramingFault, RowArray, DocumentHeader)):
                from harpia_formats.validation.plan.table_units import (  # noqa: PLC0415 - only for tables: start-up time
                    bytes_in,
                    start_of,
                )

                start = start_of(frame)
                table = self._origin_of_table(size, start)
                if table is not None:
                    yield from self._table_ranges(table, start)
                    return
                size += bytes_in(frame)
            yield from self.local.frames(iter((frame,)))
            self._note_progress()
            if self.local.merge.stopped:
                return
            if not isinstance(frame, Chunk):
                continue
            size += len(frame.data)
            end = end_of_lines(frame)
            origin = self._origin_of_lines(size, end)
            if origin is not None and end is not None:
                yield from self._ranges(origin, end)
                return
            if self.work.is_worth(size, self._left, is_range=False):
                # Only tables have frames of another kind.
                yield from self._bundles(cast("DocumentFrames", frames))
                return

    def _origin_of_lines(
        self, size: int, place: Cursor | None
    ) -> Path | RemoteFile | None:
        """Return the file if its lines can be read from `place` on, and are worth it.

        `place` is None where no line begins.
        """
        reader, pool = self.file.blocks.reader, self.work.pool
        origin: Path | RemoteFile | None = getattr(reader, "file", None)
        if place is None or reader.total is None or origin is None:
            return None
        left = reader.total - place.offset
        if not self.work.is_worth(size, left, is_range=True):
            return None
        # One connection reads a remote file as fast as several of one machine.
        is_unseen = isinstance(origin, RemoteFile)
        if pool.is_far:
            is_unseen = pool.fingerprint_of(origin) is None
        return None if is_unseen else origin

    def _origin_of_table(self, size: int, place: Cursor) -> Path | None:
        """Return the file if the records from `place` on can be read, and are worth it.

        A file whose header was not read, or is wrong, is not.
        """
        reader, merge = self.file.blocks.reader, self.local.merge
        origin = getattr(reader, "file", None)
        if reader.total is None or not isinstance(origin, Path):
            return None
        if self.work.pool.is_far or not (merge.columns and merge.is_usable):
            return None
        left = reader.total - place.offset
        return origin if self.work.is_worth(size, left, is_range=True) else None

    @property
    def _left(self) -> int | None:
        """The bytes of the file that are to be read, None if that is not known."""
        reader = self.file.blocks.reader
        if getattr(reader, "file", None) is None or reader.total is None:
            return None
        return reader.total - reader.consumed

    def _ranges(self, origin: Path | RemoteFile, place: Cursor) -> Iterator[Findings]:
        """Yield the problems of the lines of a file from `place` on."""
        self.place, self.file.count.bytes = place, place.offset
        total = self.file.blocks.reader.total or place.offset
        handed = ranges_in(origin, place.offset, total, self.work.range_size())
        self.work.begin(self.plan.seen_as(self.work.pool.fingerprint_of(origin)))
        yield from self._in_turn(handed)
        if isinstance(origin, RemoteFile) and not self.is_over:
            self._check_unchanged(origin)

    def _table_ranges(self, origin: Path, place: Cursor) -> Iterator[Findings]:
        """Yield the problems of the records of a table from `place` on."""
        self.place, self.file.count.bytes = place, place.offset
        total = self.file.blocks.reader.total or place.offset
        self.work.begin(self.plan)
        size = self.work.range_size()
        yield from self._in_turn(table_ranges_in(origin, place.offset, total, size))

    def _bundles(self, frames: DocumentFrames) -> Iterator[Findings]:
        """Yield the problems of rows that are cut here."""
        pool = self.work.pool
        self.work.begin(self.plan)
        with ExitStack() as stack:
            files = None
            # A cluster or an executor may be on other machines.
            if not pool.is_far:
                # One more than are under way: the first of them is still read here.
                files = stack.enter_context(memory_files(pool.max_pending + 1))
            yield from self._in_turn(bundles(frames, files))

    def _in_turn(self, handed: Iterator[FilePart]) -> Iterator[Findings]:
        """Yield the problems of units in their order."""
        works = ((part, self._task(part)) for part in handed)
        for part, ticket in submit_in_order(self.work.pool, works, _size, HELD):
            if part.unit is None:
                yield from self.local.frames(iter(part.frames))
            else:
                yield from self.work.answered(self, part, part.unit, ticket)
            self._note_progress()
            if self.is_over or self.local.merge.stopped:
                return

    def _task(self, part: FilePart) -> Task | None:
        """Return the task of a part, None if this process has to do it.

        A long row is held here already, and several times where it is worked on.
        """
        task = None if part.unit is None else self.work.task(part, part.unit)
        return None if part.size > LONGEST_SENT else task

    def move_on(self, end: int, lines: int) -> None:
        """Note that the rows up to the byte `end` are done, which had `lines` lines."""
        if self.place is not None:
            self.place = Cursor(end, self.place.line + lines)
            self.file.count.bytes = end

    def reader_of(self, unit: RowRange) -> RangeReader:
        """Return the bytes of a unit of lines, to be read once more by this process."""
        given = unit.bytes
        origin = given.origin if isinstance(given, FileBytes) else b""
        return RangeReader(self.plan.name, unit.begin, unit.end, origin)

    def frames_of(self, part: FilePart, reader: RangeReader) -> DocumentFrames:
        """Yield the frames of a unit once more, as far as they can be read."""
        if self.place is None:
            yield from part.frames
            return
        blocks = ReadBlocks(reader, FileCount(reader.name))
        limit = self.plan.run.options.max_row_bytes
        lines = line_rows(ByteBuffer(iter(blocks)), self.place, limit)
        yield from complete_frames(lines, blocks)
        if blocks.error is not None:
            self.file.blocks.error = blocks.error
            self.is_over = True

    def _note_progress(self) -> None:
        """Report how far the file was read; workers read ranges themselves."""
        if self.progress is None:
            return
        read: ReadProgress = self.file.blocks.reader
        if self.place is not None:
            read = BytesRead(self.plan.name, read.total, self.place.offset)
        self.progress(read)

    def _check_unchanged(self, remote: RemoteFile) -> None:
        """Note in the blocks of the file if it has changed since it was found."""
        try:
            remote.check_unchanged()
        except OSError as error:
            self.file.blocks.error = SourceError(self.plan.name, error_reason(error))


def _size(part: FilePart) -> int:
    """Return the bytes of rows that this process holds for a part of a file."""
    return part.size
