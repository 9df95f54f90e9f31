"""Hand the units of one file to workers, and take the converted rows in order."""

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Self

from harpia_formats.conversion.containers.row_writer import EncodedRows
from harpia_formats.conversion.options import Ids, OnInvalid
from harpia_formats.conversion.parallel.job import ConversionJob, ConvertedRows, Part
from harpia_formats.conversion.parallel.row_files import (
    MAX_GROWTH,
    memory_folder,
    release_file,
    unit_file,
)
from harpia_formats.conversion.parallel.worker import convert_unit, prepare
from harpia_formats.framing.byte_buffer import ByteBuffer
from harpia_formats.framing.byte_ranges import RangeReader, range_blocks
from harpia_formats.framing.chunk import Chunk, Cursor, count_newlines
from harpia_formats.framing.columns import DocumentFrames
from harpia_formats.framing.lines import line_rows
from harpia_formats.io.temp_folder import temporary_folder
from harpia_formats.model.problem import Place
from harpia_formats.reading.record_stream import RecordStream
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.cut import BUNDLE, FilePart
from harpia_formats.validation.parallel.handed_out import HandedOut
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import FileBytes, RowRange
from harpia_formats.validation.unit.result import Findings
from harpia_formats.workers.ordered import MAX_LOSSES
from harpia_formats.workers.pool import (
    TASKS_PER_WORKER,
    PendingTask,
    Task,
    WorkerDied,
)

if TYPE_CHECKING:  # it imports this module
    from harpia_formats.conversion.parallel.large_file import ConversionWorkers


class ConvertedUnits:
    """The units of one file, which workers convert, for `with`."""

    def __init__(
        self,
        workers: "ConversionWorkers",
        local: LocalValidation,
        plan: FilePlan,
        size: int,
    ) -> None:
        """Take the plan of the file, and the bytes of a unit that workers read.

        The size is 0 if the bytes are sent to them.
        """
        destination, stream = workers.chunks.destination, local.consumer
        assert destination is not None  # noqa: S101 - rows go somewhere
        assert isinstance(stream, RecordStream)  # noqa: S101 - it reads the records
        self._workers = workers
        self._pool = workers.pool
        self._totals = workers.totals
        self._destination = destination
        self._local = local
        self._stream = stream
        self._plan = plan
        self._size = size or 2 * BUNDLE
        #: Ends the workers, and deletes the files of rows.
        self._stack = ExitStack()
        self._job: ConversionJob | None = None
        #: Whether rows may get the number of their record for an id.
        has_numbers = workers.options.ids is Ids.NUMBER
        self._counts = destination.mapper.needs_id or has_numbers
        #: The number of records before the first unit, those in the units that were
        #: handed out, and how many more there were than that.
        self._start = self._totals.records
        self._handed = self._surplus = 0
        #: Of each unit that is under way: records in the units before it, and the
        #: number of its file for rows.
        self._waiting: deque[tuple[int, int]] = deque()
        self._units = 0
        #: Workers that died, one after the other.
        self._deaths = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            job = self._job = self._job_with(self._folder(stack))
            stack.callback(self._pool.reset)
            if not self._pool.is_far:
                prepare(job, self._local.validators, self._workers.chunks)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _job_with(self, folder: str) -> ConversionJob:
        """Return the job with a folder for the rows of units."""
        return ConversionJob(
            self._plan,
            replace(
                self._workers.options,
                columns=None,
                on_invalid=OnInvalid.FAIL,
                quarantine=None,
                jobs=1,
                executor=None,
                engine=None,
                progress=None,
            ),
            self._destination.target.id,
            self._destination.outputs.encoder(),
            self._totals.prefix,
            self._stream.fields,
            self._workers.has_one_file,
            folder,
        )

    def _folder(self, stack: ExitStack) -> str:
        """Return the folder for the rows of units, "" if workers do not see one."""
        pool = self._pool
        # A machine that does not see the file has no such folder either.
        if pool.is_far and self._plan.fingerprint is None:
            return ""
        files = pool.max_pending + pool.max_pending // TASKS_PER_WORKER + 1
        needed = MAX_GROWTH * self._size * files
        folder = stack.enter_context(temporary_folder(memory_folder(needed)))
        return folder if pool.shares_folder(folder) else ""

    def task(self, part: FilePart, unit: RowRange) -> Task | None:
        """Return the function and arguments with which a worker converts a unit."""
        before, slot = self._handed, self._units % (self._pool.max_pending + 1)
        self._waiting.append((before, slot))
        self._units += 1
        if self._counts:
            self._handed += _records_in(part, unit)
        if self._deaths >= MAX_LOSSES:
            return None
        before += self._start + self._surplus
        return convert_unit, (self._job, unit, before, slot)

    def answered(
        self,
        handed: HandedOut,
        part: FilePart,
        unit: RowRange,
        ticket: PendingTask | None,
    ) -> Iterator[Findings]:
        """Yield the problems of a unit, by its answer."""
        before, slot = self._waiting.popleft()
        totals, local = self._totals, self._local
        # Blank lines and invalid rows are no records, which shows only here.
        self._surplus = totals.records - self._start - before
        lines = 0 if handed.place is None else handed.place.line - 1
        parts = self._parts(ticket)
        for piece in parts or [Part(unit.begin, unit.end, None)]:
            rows = piece.converted
            if rows is None or (self._counts and rows.before != totals.records):
                yield from local.frames(_frames_of(piece, handed, part, unit))
            else:
                self._deliver(rows, lines, slot)
                handed.move_on(piece.end, rows.lines)
                yield Findings()
            if handed.is_broken or local.merge.stopped:
                return
        files = {piece.converted.file for piece in parts or () if piece.converted}
        for file in files - {""}:
            release_file(Path(file))

    def _parts(self, ticket: PendingTask | None) -> "list[Part] | None":
        """Return what a worker answers, None if it could do nothing."""
        if ticket is None:
            return None
        try:
            found: list[Part] | None = self._pool.result(ticket)
        except WorkerDied:
            self._deaths += 1
            return None
        self._deaths = 0
        return found

    def _deliver(self, rows: "ConvertedRows", lines: int, slot: int) -> None:
        """Write converted rows, and count their records and fates.

        `lines` is the number of lines before the unit.
        """
        totals, merge, workers = self._totals, self._local.merge, self._workers
        records = merge.records
        for paths, fates, found, times in rows.fates:

            def place(found: Place | None = found) -> Place | None:
                if found is None:
                    return None
                record = records + (found.record or 0)
                return replace(found, line=found.line + lines, record=record)

            totals.losses.add(paths, fates, place, times)
        workers.digests.add_digests(rows.digests)
        self._destination.add_blocks(self._blocks(rows, slot))
        totals.records += rows.records
        merge.pass_over(rows.records)
        for header in rows.headers:
            self._stream.note_header(header)
        workers.models.add(rows.models, found=rows.has_model)

    def _blocks(self, rows: "ConvertedRows", slot: int) -> Iterator[EncodedRows]:
        """Yield the blocks of converted rows."""
        assert self._job is not None  # noqa: S101 - they are of this job
        path = Path(rows.file) if rows.file else unit_file(self._job.folder, slot)
        if not rows.blocks:
            return
        with BytesIO(rows.data) if path is None else path.open("rb") as file:
            file.seek(0 if path is None else rows.at)
            for block in rows.blocks:
                yield block.read(file)


def _records_in(part: FilePart, unit: RowRange) -> int:
    """Return how many records a unit has if each of its lines is one."""
    given = unit.bytes
    if part.frames or not isinstance(given, FileBytes):
        return sum(len(frame) for frame in part.frames if isinstance(frame, Chunk))
    blocks = range_blocks(given.origin, given.begin, given.begin + given.size)
    return sum(map(count_newlines, blocks))


def _frames_of(
    piece: "Part", handed: HandedOut, part: FilePart, unit: RowRange
) -> DocumentFrames:
    """Yield the frames of a piece of a unit, to be converted in this process."""
    if handed.place is not None and isinstance(unit.bytes, FileBytes):
        name, origin = handed.plan.name, unit.bytes.origin
        reader = RangeReader(name, piece.begin, piece.end, origin)
        yield from handed.frames_of(part, reader)
        handed.move_on(piece.end, reader.lines)
    elif unit.pieces:
        for frame in part.frames:
            assert isinstance(frame, Chunk)  # noqa: S101 - of such a unit is made
            if piece.begin <= frame.start.offset < piece.end:
                yield frame
    else:
        chunks = (frame.data for frame in part.frames if isinstance(frame, Chunk))
        data, begin = b"".join(chunks), piece.begin - unit.begin
        line = unit.start.line + count_newlines(data[:begin])
        text = data[begin : piece.end - unit.begin]
        limit = handed.plan.run.options.max_row_bytes
        yield from line_rows(
            ByteBuffer(iter((text,))), Cursor(piece.begin, line), limit
        )
