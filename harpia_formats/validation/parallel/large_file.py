"""Have the rows of a large file validated by other processes, in order.

A plain file of lines is cut into ranges of bytes, which workers read themselves. The
rows of any other file are cut here, and sent to workers with their bytes.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
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
from harpia_formats.io.source import BytesRead, ReadProgress
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.tally import placed
from harpia_formats.validation.one_file import OpenFile
from harpia_formats.validation.parallel.cut import (
    RANGE,
    FilePart,
    bundles,
    end_of_lines,
    memory_files,
    range_size,
    ranges_in,
)
from harpia_formats.validation.parallel.redone import RedoneUnits
from harpia_formats.validation.parallel.unvalidated import internal_error, worker_died
from harpia_formats.validation.parallel.worker import answer_range, prepare
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import Demand, FileBytes, RowRange
from harpia_formats.validation.unit.result import (
    Findings,
    InternalFault,
    UnitAnswer,
    UnitResult,
    unvalidated,
)
from harpia_formats.workers.ordered import submit_in_order
from harpia_formats.workers.pool import PendingTask, WorkerDied, WorkerPool

#: Bytes that are validated here first: enough to learn how most rows look.
HEAD = 1024 * 1024
#: Bytes of a file after them that are worth a second process; if the size of the file
#: is not known, bytes that must have been read before a second process is used.
WORTH, WORTH_UNKNOWN = 3 * RANGE, 4 * 1024 * 1024
#: Bytes of rows that this process holds for workers, unless they are a single unit.
HELD = 16 * 1024 * 1024
#: Groups of which a worker is sent that they have enough examples, at most.
SATISFIED = 256


@dataclass(frozen=True, slots=True)
class Workers:
    """The worker processes of a run, which validate the rows of its large files."""

    pool: WorkerPool
    #: Returns which problems of a file need no description, as plain data that names at
    #: most so many groups.
    demand: Callable[[FileCount, int], Demand]
    #: Counts the units that this process validates because no worker did.
    redone: RedoneUnits
    #: Called after each unit with how far the file was read.
    progress: Callable[[ReadProgress], None] | None = None

    def rows(
        self, local: LocalValidation, frames: DocumentFrames, file: OpenFile
    ) -> Iterator[Findings]:
        """Validate the frames of a file, most in other processes; yield problems."""
        yield from _LargeFile(self, local, file).rows(frames)


@dataclass(slots=True)
class _LargeFile:
    """The rows of one file, most of which other processes validate."""

    workers: Workers
    local: LocalValidation
    file: OpenFile
    #: Where the next range of a file of lines begins; None if rows are cut here.
    place: Cursor | None = None
    #: Whether nothing more can be read.
    is_broken: bool = False

    @property
    def plan(self) -> FilePlan:
        """The plan of the file."""
        return self.local.merge.plan

    def rows(self, frames: DocumentFrames) -> Iterator[Findings]:
        """Validate the beginning here, and hand out the rest if it is worth it."""
        size = 0
        for frame in frames:
            yield from self.local.frames(iter((frame,)))
            self._note_progress()
            if not isinstance(frame, Chunk):
                continue
            size += len(frame.data)
            end = end_of_lines(frame)
            origin = self._origin_of_lines(end) if size >= HEAD else None
            if origin is not None and end is not None:
                yield from self._ranges(origin, end)
                return
            if size >= WORTH_UNKNOWN and not self._is_small():
                yield from self._bundles(frames)
                return

    def _origin_of_lines(self, place: Cursor | None) -> Path | RemoteFile | None:
        """Return the file if its lines can be read from `place` on, and are worth it.

        `place` is None where no line begins.
        """
        reader, pool = self.file.blocks.reader, self.workers.pool
        origin, size = getattr(reader, "file", None), reader.total
        if place is None or size is None or size - place.offset < WORTH:
            return None
        found: Path | RemoteFile | None = origin
        # One connection reads a remote file as fast as several of one machine.
        is_unseen = isinstance(found, RemoteFile)
        if found is not None and pool.is_far:
            is_unseen = pool.fingerprint_of(found) is None
        return None if is_unseen else found

    def _is_small(self) -> bool:
        """Return whether the rest of the file is not worth a second process."""
        reader = self.file.blocks.reader
        if getattr(reader, "file", None) is None or reader.total is None:
            return False
        return reader.total - reader.consumed < WORTH

    def _ranges(self, origin: Path | RemoteFile, place: Cursor) -> Iterator[Findings]:
        """Yield the problems of the lines of a file from `place` on."""
        self.place, self.file.count.bytes = place, place.offset
        total = self.file.blocks.reader.total
        examples = self.plan.run.options.examples
        size = range_size(examples, is_far=self.workers.pool.is_far)
        handed = ranges_in(origin, place.offset, total or place.offset, size)
        plan = self.plan.seen_as(self.workers.pool.fingerprint_of(origin))
        yield from self._in_turn(handed, plan)
        if isinstance(origin, RemoteFile) and not self.is_broken:
            self._check_unchanged(origin)

    def _bundles(self, frames: DocumentFrames) -> Iterator[Findings]:
        """Yield the problems of rows that are cut here."""
        pool = self.workers.pool
        with ExitStack() as stack:
            files = None
            # A cluster or an executor may be on other machines.
            if not pool.is_far:
                # One more than are under way: the first of them is still read here.
                files = stack.enter_context(memory_files(pool.max_pending + 1))
            yield from self._in_turn(bundles(frames, files), self.plan)

    def _in_turn(
        self, handed: Iterator[FilePart], plan: FilePlan
    ) -> Iterator[Findings]:
        """Yield the problems of units in their order."""
        prepare(self.local.validators)
        works = (
            (part, None if part.unit is None else self._work(plan, part.unit))
            for part in handed
        )
        for item, ticket in submit_in_order(self.workers.pool, works, _size, HELD):
            if item.unit is None or ticket is None:
                yield from self.local.frames(iter(item.frames))
            else:
                yield from self._answered(item, item.unit, ticket)
            self._note_progress()
            if self.is_broken:
                return

    def _work(
        self, plan: FilePlan, unit: RowRange
    ) -> tuple[Callable[..., UnitAnswer], tuple[FilePlan, RowRange, Demand]]:
        """Return the function and arguments with which a worker validates a unit."""
        demand = self.workers.demand(self.file.count, SATISFIED)
        return answer_range, (plan, unit, demand)

    def _answered(
        self, item: FilePart, unit: RowRange, ticket: PendingTask
    ) -> Iterator[Findings]:
        """Yield the problems of a unit, by its answer."""
        try:
            answer: UnitAnswer = self.workers.pool.result(ticket)
        except WorkerDied:
            yield from self._unvalidated(item, unit, worker_died(unit))
            return
        if isinstance(answer, UnitResult):
            yield self._added(answer)
            self._move_on(unit, answer.lines)
        elif isinstance(answer, InternalFault):
            yield from self._unvalidated(item, unit, internal_error(unit, answer))
        else:
            self.workers.redone.count(answer)
            reader = self._reader_of(unit)
            yield from self.local.frames(self._frames_of(item, reader))
            self._move_on(unit, reader.lines)

    def _move_on(self, unit: RowRange, lines: int) -> None:
        """Note that a unit is done, which had `lines` lines."""
        if self.place is not None:
            self.place = Cursor(unit.end, self.place.line + lines)
            self.file.count.bytes = unit.end

    def _added(self, result: UnitResult) -> Findings:
        """Add the result of the next unit; return its problems with their places."""
        merge = self.local.merge
        lines = self.place.line - 1 if self.place is not None else 0
        findings = placed(result.findings, merge.records, lines)
        merge.add(result, lines=lines)
        if self.local.repeated_ids is not None:
            self.local.repeated_ids.add_digests(result.digests)
        return findings

    def _reader_of(self, unit: RowRange) -> RangeReader:
        """Return the bytes of a unit of lines, to be read once more by this process."""
        given = unit.bytes
        origin = given.origin if isinstance(given, FileBytes) else b""
        return RangeReader(self.plan.name, unit.begin, unit.end, origin)

    def _frames_of(self, item: FilePart, reader: RangeReader) -> DocumentFrames:
        """Yield the frames of a unit once more, as far as they can be read."""
        if self.place is None:
            yield from item.frames
            return
        blocks = ReadBlocks(reader, FileCount(reader.name))
        limit = self.plan.run.options.max_row_bytes
        lines = line_rows(ByteBuffer(iter(blocks)), self.place, limit)
        yield from complete_frames(lines, blocks)
        if blocks.error is not None:
            self.file.blocks.error = blocks.error
            self.is_broken = True

    def _unvalidated(
        self, item: FilePart, unit: RowRange, problem: tuple[str, str, str]
    ) -> Iterator[Findings]:
        """Count the records of a unit that could not be validated, and report them."""
        merge, code, message, help_ = self.local.merge, *problem
        before, start = merge.records, self.place or unit.start
        reader = self._reader_of(unit)
        records = lines = 0
        for frame in self._frames_of(item, reader):
            if isinstance(frame, Chunk):
                lines += count_newlines(frame.data)
                records += sum(not is_blank(row) for row in frame.rows)
            elif isinstance(frame, FramingFault):
                records += frame.record
        merge.add(unvalidated(records))
        merge.has_gaps = True
        collector = self.local.collector
        text = f"{records:,} record{'s' * (records != 1)}"
        where = f"lines {start.line:,} to {start.line + lines:,}"
        place = collector.place(start, before + 1 if records else None)
        collector.add(code, message.format(records=text, where=where), help_, place)
        yield collector.take()
        self._move_on(unit, reader.lines)

    def _note_progress(self) -> None:
        """Report how far the file was read; workers read ranges themselves."""
        if self.workers.progress is None:
            return
        read: ReadProgress = self.file.blocks.reader
        if self.place is not None:
            read = BytesRead(self.plan.name, read.total, self.place.offset)
        self.workers.progress(read)

    def _check_unchanged(self, remote: RemoteFile) -> None:
        """Note in the blocks of the file if it has changed since it was found."""
        try:
            remote.check_unchanged()
        except OSError as error:
            self.file.blocks.error = SourceError(self.plan.name, error_reason(error))


def _size(item: FilePart) -> int:
    """Return the bytes of rows that this process holds for a part of a file."""
    return item.size
