"""Hand the units of one file to workers, and take the converted rows in order."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, Self

from harpia_formats.conversion.containers.row_writer import EncodedRows
from harpia_formats.conversion.mapping.to_rows import ID_IS_NUMBER
from harpia_formats.conversion.options import Ids, OnInvalid
from harpia_formats.conversion.parallel.job import ConversionJob, ConvertedRows, Part
from harpia_formats.conversion.parallel.row_files import (
    memory_folder,
    release_file,
    rows_limit,
    unit_file,
)
from harpia_formats.conversion.parallel.shared_conversion import SharedConversion
from harpia_formats.conversion.parallel.unit_places import (
    PlaceInBatch,
    Shift,
    frames_again,
    records_in,
)
from harpia_formats.conversion.parallel.worker import (
    convert_batch,
    convert_unit,
    prepare,
)
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.conversion.reading.row_batch import RowBatch
from harpia_formats.files.io.temp_folder import temporary_folder
from harpia_formats.files.workers.ordered import MAX_LOSSES
from harpia_formats.files.workers.pool import (
    TASKS_PER_WORKER,
    PendingTask,
    Task,
    WorkerDied,
)
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.model.problem import Place
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.cut import BUNDLE, FilePart
from harpia_formats.validation.parallel.handed_out import HandedOut
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import FileBytes, RowRange, SentBytes
from harpia_formats.validation.unit.result import Findings


class ConvertedUnits:
    """The units of one file, which workers convert, for `with`."""

    def __init__(
        self,
        workers: SharedConversion,
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
            self._destination.outputs.is_split,
            self._totals.prefix,
            self._stream.fields,
            self._stream.surroundings,
            self._local.merge.columns,
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
        needed = rows_limit(self._size) * files
        folder = stack.enter_context(temporary_folder(memory_folder(needed)))
        return folder if pool.shares_folder(folder) else ""

    def task(self, part: FilePart, unit: RowRange) -> Task | None:
        """Return the function and arguments with which a worker converts a unit."""
        is_table = self._plan.cut is Framing.TABLE
        records = records_in(part, unit, is_table=is_table) if self._counts else 0
        return self._task(convert_unit, unit, records)

    def batch_task(self, data: FileBytes | SentBytes, rows: int) -> Task | None:
        """Return the function and arguments with which a worker converts a batch.

        `data` are so many rows from `encoded_rows`; None if this process has to do it.
        """
        return self._task(convert_batch, data, rows)

    def _task(self, run: Callable[..., Any], unit: Any, records: int) -> Task | None:
        """Return the task of a unit of so many records."""
        before, slot = self._handed, self._units % (self._pool.max_pending + 1)
        self._waiting.append((before, slot))
        self._units += 1
        self._handed += records
        if self._deaths >= MAX_LOSSES:
            return None
        before += self._start + self._surplus
        return run, (self._job, unit, before, slot)

    def answered(
        self,
        handed: HandedOut,
        part: FilePart,
        unit: RowRange,
        ticket: PendingTask | None,
    ) -> Iterator[Findings]:
        """Yield the problems of a unit, by its answer."""
        local = self._local
        parts, slot = self._answer(ticket)
        lines = 0 if handed.place is None else handed.place.line - 1
        for piece in parts or [Part(unit.begin, unit.end, None)]:
            rows = piece.converted
            if rows is None or not self._is_right(rows):
                yield from local.frames(frames_again(piece, handed, part, unit))
            else:
                self._deliver(rows, slot, Shift(lines, local.merge.records))
                local.merge.pass_over(rows.records)
                handed.move_on(piece.end, rows.lines)
                yield Findings()
            if handed.is_over or local.merge.stopped:
                return
        _release(parts)

    def batch_answered(self, batch: RowBatch, ticket: PendingTask | None) -> None:
        """Take the rows of a batch, or convert them in this process."""
        parts, slot = self._answer(ticket)
        (rows,) = (part.converted for part in parts) if parts else (None,)
        if rows is None or not self._is_right(rows):
            self._stream.batch(batch)
        else:
            self._deliver(rows, slot, PlaceInBatch(batch))
        _release(parts)

    def _answer(self, ticket: PendingTask | None) -> tuple[list[Part] | None, int]:
        """Return what came of the next unit, and the number of its file for rows."""
        before, slot = self._waiting.popleft()
        # Blank lines and invalid rows are no records, which shows only here.
        self._surplus = self._totals.records - self._start - before
        return self._parts(ticket), slot

    def _is_right(self, rows: ConvertedRows) -> bool:
        """Return whether rows have the numbers of their records if they need them."""
        if not self._counts or rows.before == self._totals.records:
            return True
        return self._workers.options.ids is not Ids.NUMBER and not any(
            fate.path == "id" and fate.how == ID_IS_NUMBER
            for _, fates, *_ in rows.fates
            for fate in fates
        )

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

    def _deliver(
        self, rows: ConvertedRows, slot: int, place_of: Callable[[Place], Place]
    ) -> None:
        """Write converted rows, and count their records and fates.

        `place_of` returns a place in the file for one in what the worker got.
        """
        totals, workers = self._totals, self._workers
        for paths, fates, found, times in rows.fates:

            def place(found: Place | None = found) -> Place | None:
                return None if found is None else place_of(found)

            totals.losses.add(paths, fates, place, times)
        workers.digests.add_digests(rows.digests)
        for model, block in self._blocks(rows, slot):
            self._destination.add_blocks([block], model)
        totals.records += rows.records
        for header in rows.headers:
            self._stream.note_header(header)
        workers.models.add(rows.models, found=rows.has_model)
        workers.models.add_metrics(rows.metrics, found=rows.has_metric)

    def _blocks(
        self, rows: ConvertedRows, slot: int
    ) -> Iterator[tuple[str, EncodedRows]]:
        """Yield the blocks of converted rows with the models of their files."""
        assert self._job is not None  # noqa: S101 - they are of this job
        path = Path(rows.file) if rows.file else unit_file(self._job.folder, slot)
        if not rows.blocks:
            return
        with BytesIO(rows.data) if path is None else path.open("rb") as file:
            file.seek(0 if path is None else rows.at)
            for block in rows.blocks:
                yield block.model, block.read(file)


def _release(parts: list[Part] | None) -> None:
    """Let workers use the files again that rows came back in."""
    files = {part.converted.file for part in parts or () if part.converted}
    for file in files - {""}:
        release_file(Path(file))
