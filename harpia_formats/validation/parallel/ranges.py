"""Work on the rows of a large file in other processes, range by range, in order.

All commands that read rows use `map_ranges`; what they do with a range is their
`RangeWork`. The beginning of a file is done in this process, and so is a file that is
not worth more. The rest is cut into ranges: a worker reads those of a plain file of
lines, or of a table, itself; the rows of any other file are cut here, and sent with
their bytes. Answers are merged in the order of the file.

A range that a worker cannot do is done here. Rows that kill two workers are never: they
are reported (V901), and have no verdict.
"""

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple, Protocol, Self

import msgspec

from harpia_formats.files.framing.byte_ranges import RangeReader, line_ranges
from harpia_formats.files.framing.chunk import (
    Chunk,
    Cursor,
    FramingFault,
    count_newlines,
    is_blank,
)
from harpia_formats.files.framing.columns import DocumentHeader, RowArray
from harpia_formats.files.framing.container import line_rows
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.file_sink import temporary_folder
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.source import BytesRead, ReadProgress, Source
from harpia_formats.files.workers.pool import (
    Task,
    WorkerDied,
    WorkerPool,
    answers_in_order,
)
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    ReadBlocks,
    complete_frames,
)
from harpia_formats.formats.detection.splittable import is_plain_lines, splittable_size
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation, table_frames
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.one_file import OpenFile
from harpia_formats.validation.parallel.range_worker import (
    NotDone,
    RangeJob,
    prepare,
    run_range,
)
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import (
    FileBytes,
    Piece,
    RowRange,
    SentBytes,
)
from harpia_formats.validation.unit.findings import (
    KILLED,
    KILLED_HELP,
    Findings,
    InternalFault,
    unvalidated,
)

#: Seconds of work in this process that are worth a second one.
WORTH_SECONDS = 0.1
#: Bytes of rows on which the time of the work is taken.
TIMED = 256 * 1024
#: Bytes of a file from which a cluster or executor may read ranges of it.
MIN_FAR = 24 * 1024 * 1024
#: Bytes of a range that a worker reads, at most and at least; between them, each worker
#: gets about so many of a file that none waits long at its end.
MAX_RANGE, MIN_RANGE = 4 * 1024 * 1024, 1024 * 1024
RANGES_PER_WORKER = 6
#: How much shorter the ranges of a table are: short cells become long rows.
TABLE_GROWTH = 2
#: Bytes of a range for a cluster or executor; each costs its scheduler some time.
FAR_RANGE = 32 * 1024 * 1024
#: Bytes of rows that are cut here and go to a worker together.
BUNDLE = 1024 * 1024
#: Bytes of rows that this process holds for workers, unless they are a single range.
HELD = 16 * 1024 * 1024
#: After so many ranges in succession that workers left to this process, it does all.
MAX_LEFT = 4
#: Bytes of rows that are held here and still sent to a worker: more are one long row.
LONGEST_SENT = 2 * BUNDLE
#: Where Linux keeps files in memory, and the bytes that must be free there for each
#: byte that is needed.
MEMORY, ROOM = "/dev/shm", 4  # noqa: S108 - a folder with a name of its own is made in it


class FilePart(NamedTuple):
    """The next part of a file: a range for a worker, or frames for this process."""

    unit: RowRange | None
    #: The frames of the range, if they were cut in this process.
    frames: tuple[Frame, ...] = ()
    #: The bytes of the rows that this process holds.
    size: int = 0


class RangeWork(Protocol):
    """What a command does with the rows of one file, in this process."""

    @property
    def is_wordy(self) -> bool:
        """Whether much comes back from each range, so that they are short."""

    def can_share(self, done: int) -> bool:
        """Return whether workers can do the work, after `done` bytes of rows."""

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> RangeJob:
        """Return what workers do, before the first range is handed out.

        Workers read `size` bytes at once. What has to end after them goes to `stack`.
        """

    def given(self, part: FilePart) -> Any:
        """Return what a worker has to know of one range: plain data."""

    def merge(
        self, answer: Any, ranges: "Ranges", part: FilePart, given: Any
    ) -> Iterator[Findings]:
        """Take the answer of `RangeState.run` for the next range; yield its problems.

        Calls `move_on` of `ranges`, or `again` for what this process has to do.
        """

    def note_left(self, reason: NotDone | None) -> None:
        """Note that a worker left a range to this process, and why if it is known."""


def check_visible(pool: WorkerPool, source: Source) -> None:
    """Check that the workers see a large file, of which they may read ranges.

    Raises `EngineError` if they do not.
    """
    origin, size = source.origin, splittable_size(source.origin)
    is_large = size is not None and size >= MIN_FAR
    if pool.is_far and is_large and is_plain_lines(source):
        assert isinstance(origin, (Path, RemoteFile))  # noqa: S101 - so it has ranges
        pool.check_visible(origin)


def map_ranges(  # noqa: PLR0913, PLR0917 - an open file has so many parts
    pool: WorkerPool,
    work: RangeWork,
    local: LocalValidation,
    frames: Iterator[Frame],
    file: OpenFile,
    progress: Callable[[ReadProgress], None] | None = None,
) -> Generator[Findings, None, None]:
    """Do the beginning of a file here, and the rest in workers if it is worth it.

    `frames` are those of the file; yields the problems of each part, in order.
    `progress` is called with how far the file was read. Raises `EngineError`, and what
    the consumer of `local` raises.
    """
    ranges, clock, done = Ranges(pool, work, local, file), Clock(), 0
    for frame in frames:
        parts = None
        if isinstance(frame, tuple) or not isinstance(
            frame, (Chunk, FramingFault, RowArray, DocumentHeader)
        ):
            from harpia_formats.validation.plan.table_units import bytes_in, start_of  # noqa: PLC0415 - only for tables: start-up time

            parts = ranges.of_table(clock, done, start_of(frame))
            done += bytes_in(frame)
        if parts is None:
            yield from local.frames(iter((frame,)))
            _tell(progress, file.blocks.reader)
            if local.merge.stopped:
                return
            if not isinstance(frame, Chunk):
                continue
            done += len(frame.data)
            parts = ranges.of_lines(clock, done, frame)
            parts = parts or ranges.of_frames(clock, done, frames)
        if parts is not None:
            yield from ranges.done_in_order(parts, progress)
            return


def _tell(progress: Callable[[ReadProgress], None] | None, read: ReadProgress) -> None:
    if progress is not None:
        progress(read)


class Ranges:
    """The ranges of one file, and how far they are done."""

    def __init__(
        self,
        pool: WorkerPool,
        work: RangeWork,
        local: LocalValidation,
        file: OpenFile,
    ) -> None:
        self.pool = pool
        self.local = local
        self.file = file
        self._work = work
        #: The plan that workers get.
        self._plan = local.merge.plan
        #: Where the next range of a file that workers read begins, which counts its
        #: lines; None if rows are cut here.
        self._place: Cursor | None = None
        #: The file that workers read.
        self._origin: Path | RemoteFile | None = None
        #: Bytes of a range that workers read.
        self._size = 0
        #: Whether nothing more is to be read.
        self.is_over = False
        #: Ranges in succession that workers left to this process.
        self._left = 0
        #: Ends the workers, and deletes what they read and write.
        self._stack = ExitStack()

    @property
    def lines(self) -> int:
        """The lines before the next range, 0 if the range knows its own lines."""
        return 0 if self._place is None else self._place.line - 1

    def move_on(self, end: int, lines: int) -> None:
        """Note that the rows up to the byte `end` are done, which had `lines` lines."""
        if self._place is not None:
            self._place = Cursor(end, self._place.line + lines)
            self.file.count.bytes = end

    # --- Which files are worth a second process, and how they are cut ---

    def of_lines(
        self, clock: "Clock", done: int, chunk: Chunk
    ) -> Iterator[FilePart] | None:
        """Return the ranges of a file of lines behind `chunk`, if it is worth it."""
        origin: Path | RemoteFile | None
        origin = getattr(self.file.blocks.reader, "file", None)
        clock.note(done)
        if origin is None or not (chunk.lines and chunk.data.endswith(b"\n")):
            return None
        place = Cursor(
            chunk.start.offset + len(chunk.data), chunk.start.line + len(chunk)
        )
        if not self._is_worth(clock, done, place):
            return None
        # One connection reads a remote file as fast as several of one machine.
        is_unseen = isinstance(origin, RemoteFile)
        if self.pool.is_far:
            fingerprint = self.pool.fingerprint_of(origin)
            is_unseen = fingerprint is None
            self._plan = self._plan.seen_as(fingerprint)
        return None if is_unseen else self._of_file(origin, place)

    def of_table(
        self, clock: "Clock", done: int, place: Cursor
    ) -> Iterator[FilePart] | None:
        """Return the ranges of a table from `place` on, if it is worth it.

        A file whose header was not read, or is wrong, is not.
        """
        origin, merge = getattr(self.file.blocks.reader, "file", None), self.local.merge
        clock.note(done)
        if not isinstance(origin, Path) or self.pool.is_far:
            return None
        if not (merge.columns and merge.is_usable):
            return None
        return (
            self._of_file(origin, place) if self._is_worth(clock, done, place) else None
        )

    def of_frames(
        self, clock: "Clock", done: int, frames: Iterator[Frame]
    ) -> Iterator[FilePart] | None:
        """Return the ranges of rows that are cut here, if the file is worth it."""
        reader, left = self.file.blocks.reader, None
        if getattr(reader, "file", None) is not None and reader.total is not None:
            left = reader.total - reader.consumed
        if not self._work.can_share(done) or not clock.is_worth(left):
            return None
        self._plan, self._size = self.local.merge.plan, 0
        return self._bundles(frames)

    def _is_worth(self, clock: "Clock", done: int, place: Cursor) -> bool:
        """Return whether workers save time, and set how much they read at once."""
        total = self.file.blocks.reader.total
        if total is None or not self._work.can_share(done):
            return False
        left = total - place.offset
        if not clock.is_worth(left):
            return False
        most = MAX_RANGE
        if self._plan.cut is Framing.TABLE:
            most //= TABLE_GROWTH
        size = min(left // (RANGES_PER_WORKER * max(1, self.pool.jobs)), most)
        size = FAR_RANGE if self.pool.is_far else max(MIN_RANGE, size)
        self._size = MIN_RANGE if self._work.is_wordy else size
        return True

    def _of_file(self, origin: Path | RemoteFile, place: Cursor) -> Iterator[FilePart]:
        """Yield the ranges of a file that workers read."""
        # A worker may have another working folder.
        file = origin.absolute() if isinstance(origin, Path) else origin
        self._place, self._origin, begin = place, file, place.offset
        self.file.count.bytes = begin
        try:
            for start, end in self._cut(file, begin):
                given = FileBytes(file, start, end - start)
                yield FilePart(RowRange(start, end, Cursor(start), given))
                begin = end
        except OSError:
            # The process that reads the rest reports why it cannot.
            end = self.file.blocks.reader.total or begin
            given = FileBytes(file, begin, end - begin)
            yield FilePart(RowRange(begin, end, Cursor(begin), given))

    def _cut(self, file: Path | RemoteFile, begin: int) -> Iterator[tuple[int, int]]:
        """Return begin and end of each range of a file."""
        if self._plan.cut is not Framing.TABLE:
            return line_ranges(file, begin, self._size)
        assert isinstance(file, Path)  # noqa: S101 - see `of_table`
        from harpia_formats.files.framing.byte_ranges import csv_ranges  # noqa: PLC0415 - only for tables: start-up time

        return csv_ranges(file, begin, self._size)

    def _bundles(self, frames: Iterator[Frame]) -> Iterator[FilePart]:
        """Yield rows that are cut here, together as far as they are adjacent.

        Their bytes are put into files in memory, or are sent with the range.
        """
        held: list[Chunk] = []
        size, files = 0, None
        # A cluster or an executor may be on other machines.
        if not self.pool.is_far:
            # One more than are under way: the first of them is still read here.
            slots = self.pool.max_pending + 1
            files = self._stack.enter_context(MemoryFiles(slots, 2 * BUNDLE))
        for frame in frames:
            if isinstance(frame, Chunk):
                held.append(frame)
                size += len(frame.data)
                if size < BUNDLE:
                    continue
            if held:
                yield _bundle(held, size, files)
                held, size = [], 0
            if not isinstance(frame, Chunk):
                yield FilePart(None, (frame,))
        if held:
            yield _bundle(held, size, files)

    # --- How ranges are run and merged ---

    def done_in_order(
        self, parts: Iterator[FilePart], progress: Callable[[ReadProgress], None] | None
    ) -> Iterator[Findings]:
        """Hand parts to workers; yield the problems of each, in order."""
        with self._stack as stack:
            job = self._work.begin(self._plan, self._size or 2 * BUNDLE, stack)
            # New processes start with what this one has learned.
            stack.callback(self.pool.end_idle)
            self.pool.end_idle()
            if not self.pool.is_far:
                prepare(job, self.local)
            tasks = (self._task(job, part) for part in parts)
            answers = answers_in_order(
                self.pool, tasks, lambda item: item[0].size, HELD
            )
            stack.callback(answers.close)
            merge = self.local.merge
            for (part, given), answer in answers:
                # Rows follow those that were done, and maybe no more are wanted.
                merge.stopped |= merge.has_enough()
                if merge.stopped:
                    break
                yield from self._answered(part, given, answer)
                read: ReadProgress = self.file.blocks.reader
                if self._place is not None:
                    read = BytesRead(self._plan.name, read.total, self._place.offset)
                _tell(progress, read)
                if self.is_over or merge.stopped:
                    break
        if isinstance(self._origin, RemoteFile) and not self.is_over:
            try:
                self._origin.check_unchanged()
            except OSError as error:
                reason = error_reason(error)
                self.file.blocks.error = SourceError(self._plan.name, reason)

    def _task(
        self, job: RangeJob, part: FilePart
    ) -> tuple[tuple[FilePart, Any], Task | None]:
        """Return a part with what a worker has to know of it, and its task.

        A long row is done here, since it would be held several times, and so is what
        workers cannot do.
        """
        if part.unit is None:
            return (part, None), None
        given = self._work.given(part)
        if part.size > LONGEST_SENT or self._left >= MAX_LEFT:
            return (part, given), None
        return (part, given), (run_range, (job, part.unit, given))

    def _answered(self, part: FilePart, given: Any, answer: Any) -> Iterator[Findings]:
        """Yield the problems of the next part, by the answer to its task."""
        if part.unit is None:
            yield from self.local.frames(iter(part.frames))
        elif isinstance(answer, WorkerDied):
            yield self._without_verdict(part, *_worker_died(part.unit))
        elif isinstance(answer, InternalFault) and self.local.consumer is None:
            yield self._without_verdict(part, *_internal_error(part.unit, answer))
        elif answer is None or isinstance(answer, NotDone):
            self._left += 1
            self._work.note_left(answer)
            yield from self.again(part)
        else:
            self._left = 0
            yield from self._work.merge(answer, self, part, given)

    # --- What this process does with a range ---

    def again(
        self, part: FilePart, begin: int | None = None, end: int | None = None
    ) -> Iterator[Findings]:
        """Do the rows of a range from byte `begin` to `end` here, or all of them."""
        yield from self.local.frames(self._frames_of(part, begin, end))

    def _without_verdict(
        self, part: FilePart, code: str, message: str, help_: str
    ) -> Findings:
        """Report a range that cannot be done; its records count as undetermined."""
        assert part.unit is not None  # noqa: S101 - frames of this process are done
        local, start = self.local, self._place or part.unit.start
        merge, collector = local.merge, local.collector
        records = lines = 0
        for frame in self._frames_of(part):
            for row in _records_in(frame):
                records += 1
                if local.consumer is not None:
                    local.consumer.refuse(row)
            lines += count_newlines(frame.data) if isinstance(frame, Chunk) else 0
        if self._place is not None:
            lines = self._place.line - start.line
        text = f"{records:,} record{'s' * (records != 1)}"
        where = f"lines {start.line:,} to {start.line + lines:,}"
        message = message.format(records=text, where=where)
        before, fails = merge.records, merge.plan.run.options.fail_fast
        stopped = fails and code in collector.rules and collector.is_error(code)
        result = msgspec.structs.replace(unvalidated(records), stopped=stopped)
        merge.add(result)
        merge.end = start.offset if stopped else merge.end
        merge.gap = merge.gap or f"{message} ({code})"
        place = collector.place(start, before + 1 if records else None)
        collector.add(code, message, help_, place)
        return collector.take()

    def _frames_of(
        self, part: FilePart, begin: int | None = None, end: int | None = None
    ) -> Iterator[Frame]:
        """Yield frames of a range, or of a part of it, once more; move on."""
        unit = part.unit
        assert unit is not None  # noqa: S101 - only ranges have answers
        first = unit.begin if begin is None else begin
        last = unit.end if end is None else end
        if self._place is None:
            is_whole = (first, last) == (unit.begin, unit.end)
            limit = self._plan.run.options.max_row_bytes
            yield from part.frames if is_whole else _some_of(part, first, last, limit)
        elif self._plan.cut is Framing.TABLE:
            yield from self._records_of(first, last)
        else:
            yield from self._lines_of(first, last)

    def _lines_of(self, begin: int, end: int) -> Iterator[Frame]:
        """Yield the lines of a file from byte `begin` to `end`, if they are read."""
        assert self._place is not None  # noqa: S101 - workers read the file
        reader = RangeReader(self._plan.name, begin, end, self._origin or b"")
        blocks = ReadBlocks(reader, FileCount(reader.name))
        limit = self._plan.run.options.max_row_bytes
        rows = line_rows(ByteBuffer(iter(blocks)), self._place, limit)
        yield from complete_frames(rows, blocks)
        if blocks.error is not None:
            self.file.blocks.error = blocks.error
            self.is_over = True
        self.move_on(end, reader.lines)

    def _records_of(self, begin: int, end: int) -> Iterator[Frame]:
        """Yield the records of a table from byte `begin` to `end`.

        If none begins at `end`, all that follow are yielded and nothing more is handed
        out: the table was cut inside of a field.
        """
        from harpia_formats.files.parsing.csv_blocks import TableFault  # noqa: PLC0415 - only for tables: start-up time

        place, landed = self._place, list[Cursor]()
        assert place is not None  # noqa: S101 - workers read the file
        total = self.file.blocks.reader.total or end
        reader = RangeReader(self._plan.name, begin, total, self._origin or b"")
        blocks = ReadBlocks(reader, FileCount(reader.name, bytes=begin))

        def belongs(piece: Any) -> bool:
            is_end = not isinstance(piece, TableFault) and piece.start.offset == end
            if is_end:
                landed.append(piece.start)
            return not is_end

        buffer = ByteBuffer(iter(blocks))
        yield from table_frames(buffer, place, self._plan, blocks, belongs)
        if blocks.error is not None:
            self.file.blocks.error = blocks.error
        self.is_over = not landed
        self._place = landed[0] if landed else Cursor(total, place.line)
        self.file.count.bytes = self._place.offset


def _records_in(frame: Frame) -> Iterator[bytes | None]:
    """Yield the bytes of each record in a frame, None for one longer than allowed."""
    if isinstance(frame, Chunk):
        yield from (row for row in frame.rows if not is_blank(row))
    elif isinstance(frame, FramingFault):
        yield from [None] * frame.record
    elif isinstance(frame, tuple):
        from harpia_formats.files.parsing.csv_blocks import TableFault, TableRow  # noqa: PLC0415 - only for tables: start-up time

        for piece in frame:
            if isinstance(piece, TableRow):
                yield piece.data
            elif isinstance(piece, TableFault):
                yield from [piece.text] * piece.record


def _some_of(part: FilePart, begin: int, end: int, limit: int) -> Iterator[Frame]:
    """Yield what was cut here of a range from byte `begin` to `end`."""
    unit = part.unit
    assert unit is not None  # noqa: S101 - only ranges have answers
    chunks = [frame for frame in part.frames if isinstance(frame, Chunk)]
    if unit.pieces:
        yield from (one for one in chunks if begin <= one.start.offset < end)
        return
    data = b"".join(chunk.data for chunk in chunks)
    line = unit.start.line + count_newlines(data[: begin - unit.begin])
    text = data[begin - unit.begin : end - unit.begin]
    yield from line_rows(ByteBuffer(iter((text,))), Cursor(begin, line), limit)


def _bundle(chunks: list[Chunk], size: int, files: "MemoryFiles | None") -> FilePart:
    """Return chunks that are all of lines, or all of an array, as a range."""
    first, last = chunks[0], chunks[-1]
    parts = [chunk.data for chunk in chunks]
    found: FileBytes | SentBytes | None = None if files is None else files.put(parts)
    if found is None:
        found = SentBytes(b"".join(parts))
    pieces = () if first.lines else tuple(map(_piece, chunks))
    end = last.start.offset + len(last.data)
    unit = RowRange(first.start.offset, end, first.start, found, pieces)
    return FilePart(unit, tuple(chunks), size)


def _piece(chunk: Chunk) -> Piece:
    """Return the bytes of a chunk of an array, and how many rows they have."""
    is_whole = len(chunk) == 1 and chunk.rows == [chunk.data]
    return Piece(len(chunk.data), chunk.start, 0 if is_whole else len(chunk))


class Clock:
    """Times the work on the first rows of a file."""

    def __init__(self) -> None:
        """Begin to take the time."""
        self._begin = thread_time()
        #: Bytes, and seconds, when they were noted last.
        self._done, self._seconds = 0, self._begin
        self._is_warm = False
        #: The least seconds that a byte took.
        self._rate = 0.0

    def note(self, done: int) -> None:
        """Note that so many bytes were done so far."""
        size, now = done - self._done, thread_time()
        if size < TIMED:
            return
        rate = (now - self._seconds) / size
        self._done, self._seconds = done, now
        # The first rows take longer: modules are loaded, and functions are made.
        if self._is_warm:
            self._rate = min(self._rate or rate, rate)
        self._is_warm = True

    def is_worth(self, left: int | None) -> bool:
        """Return whether a second process saves time in what is left.

        If that is None, as much is left as was done.
        """
        if left is None:
            return thread_time() - self._begin >= WORTH_SECONDS
        return self._rate * left >= WORTH_SECONDS


class MemoryFiles:
    """Some files in memory, each used again and again, for `with`.

    What is sent through a pipe is held by several processes at once. With these files a
    run over an array needs 0.87 of that memory and 0.92 of the time, over a compressed
    file 0.83 and 0.93 (`python benchmarks/memory_files.py --pairs 9 --rows 30000`).
    Blocks of `multiprocessing.shared_memory` would be mapped, and so count as memory of
    each process. Without such a place, or without room in it, there are none.
    """

    def __init__(self, slots: int, size: int) -> None:
        """Take the number of files, and the bytes that each may have."""
        self._slots = slots
        self._size = size
        self._folder = ""
        self._next = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if _has_room(self._slots * self._size):
            with suppress(OSError):  # no folder can be made there
                self._folder = self._stack.enter_context(temporary_folder(MEMORY))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def put(self, parts: list[bytes]) -> FileBytes | None:
        """Return the place of these bytes in a file, None if there is none for them.

        The file is used again after as many others as there are slots.
        """
        if not self._folder:
            return None
        path = Path(self._folder, str(self._next))
        self._next = (self._next + 1) % self._slots
        try:
            with os.fdopen(
                os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb"
            ) as file:
                file.writelines(parts)
        except OSError:  # no room is left: the bytes are sent with the range
            return None
        return FileBytes(path, 0, sum(map(len, parts)))


def _has_room(size: int) -> bool:
    """Return whether there are files in memory, and room for so many bytes."""
    try:
        free = shutil.disk_usage(MEMORY).free
    except OSError:
        return False
    return free > ROOM * size and os.access(MEMORY, os.W_OK)


def _worker_died(unit: RowRange) -> tuple[str, str, str]:
    """Return code, message and help on rows that ended a worker process twice."""
    return (
        KILLED,
        (
            "{records} could not be validated: the process that worked on bytes "
            f"{unit.begin:,} to {unit.end:,}, {{where}}, died twice"
        ),
        KILLED_HELP,
    )


def _internal_error(unit: RowRange, fault: InternalFault) -> tuple[str, str, str]:
    """Return code, message and help on rows that harpia-formats failed on."""
    error = fault.error.replace("{", "{{").replace("}", "}}")
    return (
        "V902",
        (
            "{records} could not be validated: harpia-formats failed on bytes "
            f"{unit.begin:,} to {unit.end:,}, {{where}}: {error}"
        ),
        "please report it as a bug, with the rows",
    )
