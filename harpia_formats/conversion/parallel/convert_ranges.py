"""Convert the rows of a large file in worker processes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from harpia_formats.conversion.losses.conversion_report import ConversionTotals
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.mapping.to_rows import ID_IS_NUMBER
from harpia_formats.conversion.options import ConvertOptions, Ids, OnInvalid
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.conversion.reading.row_batch import RowBatch
from harpia_formats.conversion.row_conversion import ChunkConverter
from harpia_formats.files.framing.byte_ranges import range_blocks, read_range
from harpia_formats.files.framing.chunk import Chunk, Cursor, count_newlines
from harpia_formats.files.io.file_sink import temporary_folder
from harpia_formats.files.workers.pool import (
    TASKS_PER_WORKER,
    Task,
    WorkerDied,
    WorkerPool,
    answers_in_order,
)
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.model.problem import Place
from harpia_formats.validation.dedup.digests import Digests
from harpia_formats.validation.local import LocalValidation, RowConsumer
from harpia_formats.validation.parallel.range_worker import (
    NotDone,
    prepare,
    run_range,
)
from harpia_formats.validation.parallel.ranges import (
    Clock,
    FilePart,
    MemoryFiles,
    Ranges,
)
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import FileBytes, RowRange, SentBytes
from harpia_formats.validation.unit.findings import (
    KILLED,
    KILLED_HELP,
    Findings,
    RecordSet,
)

if TYPE_CHECKING:  # most files are too small for it: start-up time
    from harpia_formats.conversion.containers.row_writer import EncodedRows
    from harpia_formats.conversion.parallel.converted_rows import (
        ConvertedRows,
        Part,
        UnitPlace,
    )
    from harpia_formats.conversion.parallel.range_converter import ConversionJob

#: Bytes of encoded rows for which batches are held, unless it is a single one.
HELD = 8 * 1024 * 1024
#: Bytes that a batch of rows mostly has not.
USUAL = 4 * 1024 * 1024


class ConversionWorkers(Struct, frozen=True):
    """The worker processes of a run, which convert the rows of its large files."""

    pool: WorkerPool
    options: ConvertOptions
    #: What results are added to.
    totals: ConversionTotals
    #: It knows where rows go.
    chunks: ChunkConverter
    digests: Digests
    models: ModelSelection
    has_one_file: bool

    def work(self, local: LocalValidation) -> "RangeConversion":
        """Return what is done with the ranges of a file."""
        return RangeConversion(self, local)

    def finish(
        self, local: LocalValidation, stream: RecordStream
    ) -> Iterator[Findings | None]:
        """Convert what is read only at the end of a file; yield after some rows.

        Raises `EngineError`, and what `RecordStream.finish` and its receiver raise.
        """
        batches = stream.batches()
        clock, rows, size = Clock(), 0, 0
        total = max(local.merge.lengths.values(), default=0)
        for batch in batches:
            stream.batch(batch)
            yield None
            rows += len(batch.values)
            size += sum(items.size for items in batch.columns)
            clock.note(size)
            left = size * (total - rows) // max(1, rows)
            if self.can_share(stream) and clock.is_worth(left):
                yield from RangeConversion(self, local).batches(batches)
                if local.merge.stopped:
                    return
        yield from stream.merge_rows()

    def can_share(self, stream: RowConsumer | None) -> bool:
        """Return whether workers can convert the rows of a file."""
        destination = self.chunks.destination
        if destination is None or self.options.group is not None:
            return False
        if destination.outputs.is_split and destination.adapter.columns:
            # The table of each model has its own columns.
            return False
        if not isinstance(stream, RecordStream):
            return True
        return stream.keys is None and not stream.merges_rows


class RangeConversion:
    """The conversion of the ranges of one file, or of its columns."""

    is_wordy = False

    def __init__(self, workers: ConversionWorkers, local: LocalValidation) -> None:
        self._workers = workers
        self._local = local
        self._totals = workers.totals
        self._job: ConversionJob | None = None
        #: Whether rows get the number of their record for an id, or may get it.
        self._is_numbered = workers.options.ids is Ids.NUMBER
        self._counts = self._is_numbered
        #: The number of records before the first unit, those in the units that were
        #: handed out, and how many more there were than that.
        self._start = self._totals.records
        self._handed = self._surplus = 0
        self._units = 0

    def can_share(self, done: int) -> bool:  # noqa: ARG002 - however much is done
        """Return whether workers can do the work."""
        return self._workers.can_share(self._local.consumer)

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "ConversionJob":
        """Return what workers do."""
        from harpia_formats.conversion.parallel.range_converter import ConversionJob  # noqa: PLC0415 - most files are too small for it

        destination, stream = self._workers.chunks.destination, self._local.consumer
        assert destination is not None  # noqa: S101 - rows go somewhere
        assert isinstance(stream, RecordStream)  # noqa: S101 - it reads the records
        self._counts |= destination.mapper.needs_id
        self._start = self._totals.records
        options = replace(
            self._workers.options,
            columns=None,
            on_invalid=OnInvalid.FAIL,
            quarantine=None,
            jobs=1,
            executor=None,
            engine=None,
            progress=None,
        )
        self._job = ConversionJob(
            plan,
            options,
            destination.target.id,
            destination.outputs.encoder(),
            destination.outputs.is_split,
            self._totals.prefix,
            stream.fields,
            stream.surroundings,
            self._local.merge.columns,
            self._workers.has_one_file,
            self._folder(plan, size, stack),
        )
        return self._job

    def _folder(self, plan: FilePlan, size: int, stack: ExitStack) -> str:
        """Return the folder for the rows of units, "" if workers do not see one."""
        from harpia_formats.conversion.parallel import converted_rows  # noqa: PLC0415 - most files are too small for it

        pool = self._workers.pool
        # A machine that does not see the file has no such folder either.
        if pool.is_far and plan.fingerprint is None:
            return ""
        files = pool.max_pending + pool.max_pending // TASKS_PER_WORKER + 1
        needed = converted_rows.rows_limit(size) * files
        folder = temporary_folder(converted_rows.memory_folder(needed))
        try:
            path = stack.enter_context(folder)
        except OSError:  # no folder can be made: rows are sent through pipes
            return ""
        return path if pool.shares_folder(path) else ""

    def given(self, part: FilePart) -> "UnitPlace":
        """Return where the rows of the next unit belong."""
        assert self._job is not None  # noqa: S101 - see `begin`
        is_table = self._job.plan.cut is Framing.TABLE
        return self._place(_records_in(part, is_table=is_table) if self._counts else 0)

    def _place(self, records: int, *, is_decoded: bool = False) -> "UnitPlace":
        """Return where the rows of a unit of so many records belong."""
        from harpia_formats.conversion.parallel.converted_rows import UnitPlace  # noqa: PLC0415 - most files are too small for it

        handed, slot = self._handed, self._units % (self._workers.pool.max_pending + 1)
        self._units += 1
        self._handed += records
        before = handed + self._start + self._surplus
        return UnitPlace(before, slot, handed, is_decoded)

    def merge(
        self,
        answer: "list[Part]",
        ranges: Ranges,
        part: FilePart,
        given: "UnitPlace",
    ) -> Iterator[Findings]:
        """Write the rows of the next unit; yield the problems of what is left of it."""
        merge = self._local.merge
        self._note_surplus(given)
        # The lines of all parts count from the beginning of the unit.
        lines = ranges.lines
        for piece in answer:
            merge.stopped |= merge.has_enough()
            if ranges.is_over or merge.stopped:
                return
            rows = piece.converted
            if rows is None or not self._is_right(rows):
                yield from ranges.again(part, piece.begin, piece.end)
            else:
                self._deliver(rows, given.slot, Shift(lines, merge.records))
                merge.pass_over(rows.records)
                ranges.move_on(piece.end, rows.lines)
                yield Findings()
        _release(answer)

    def note_left(self, reason: NotDone | None) -> None:
        """Note nothing: this process writes the same rows."""

    def batches(self, batches: "Iterator[RowBatch]") -> Iterator[Findings]:
        """Have workers convert decoded rows of columns; yield after each batch.

        Raises `EngineError`, and what a rejected row raises in this process.
        """
        from harpia_formats.conversion.reading.row_batch import joined_batches  # noqa: PLC0415 - most files are too small for it

        pool, local = self._workers.pool, self._local
        stream = local.consumer
        assert isinstance(stream, RecordStream)  # noqa: S101 - it reads the records
        with ExitStack() as stack:
            job = self.begin(local.merge.plan, USUAL, stack)
            stack.callback(pool.end_idle)
            files = None
            # A cluster or an executor may be on other machines.
            if not pool.is_far:
                prepare(job, local)
                files = stack.enter_context(MemoryFiles(pool.max_pending + 1, USUAL))
            tasks = (self._batch(job, one, files) for one in joined_batches(batches))
            answers = answers_in_order(pool, tasks, lambda item: item.size, HELD)
            stack.callback(answers.close)
            for item, answer in answers:
                self._note_surplus(item.place)
                if isinstance(answer, WorkerDied):
                    yield self._without_verdict(item.batch, stream)
                    if local.merge.stopped:
                        return
                    continue
                parts = answer if isinstance(answer, list) else None
                (rows,) = (part.converted for part in parts) if parts else (None,)
                if rows is None or not self._is_right(rows):
                    stream.batch(item.batch)
                else:
                    self._deliver(rows, item.place.slot, PlaceInBatch(item.batch))
                _release(parts)
                yield Findings()

    def _batch(
        self, job: "ConversionJob", batch: "RowBatch", files: MemoryFiles | None
    ) -> "tuple[_Batch, Task]":
        """Return a batch with the bytes of its rows, and its task."""
        from harpia_formats.conversion.reading.row_batch import encoded_rows  # noqa: PLC0415 - most files are too small for it

        data = encoded_rows(batch)
        given = (None if files is None else files.put([data])) or SentBytes(data)
        place = self._place(len(batch.values), is_decoded=True)
        unit = RowRange(0, len(data), Cursor(), given)
        return _Batch(batch, len(data), place), (run_range, (job, unit, place))

    def _without_verdict(self, batch: "RowBatch", stream: RecordStream) -> Findings:
        """Report rows of columns that killed two workers, and leave them out."""
        merge, collector = self._local.merge, self._local.collector
        found = RecordSet()
        for number in batch.numbers:
            found.add(number)
        merge.outcomes.add(b"", bytes(found.bits), 0)
        first, last = batch.numbers[0], batch.numbers[-1]
        text = f"{len(batch.values):,} record{'s' * (len(batch.values) != 1)}"
        merge.gap = (
            f"{text} could not be converted: the process that worked on records "
            f"{first:,} to {last:,} died twice"
        )
        place = collector.place(batch.start_of(0), first)
        collector.add(KILLED, merge.gap, KILLED_HELP, place)
        for index in range(len(batch.values)):
            stream.refuse(batch.text_of(index))
        merge.stopped |= merge.plan.run.options.fail_fast
        return collector.take()

    def _note_surplus(self, place: "UnitPlace") -> None:
        """Note how many more records came before a unit than its place tells."""
        # Blank lines and invalid rows are no records, which shows only here.
        self._surplus = self._totals.records - self._start - place.handed

    def _is_right(self, rows: "ConvertedRows") -> bool:
        """Return whether rows have the numbers of their records if they need them."""
        if not self._counts or rows.before == self._totals.records:
            return True
        return not self._is_numbered and not any(
            outcome.path == "id" and outcome.how == ID_IS_NUMBER
            for _, outcomes, *_ in rows.outcomes
            for outcome in outcomes
        )

    def _deliver(
        self, rows: "ConvertedRows", slot: int, place_of: Callable[[Place], Place]
    ) -> None:
        """Write converted rows, and count their records and outcomes.

        `place_of` returns a place in the file for one in what the worker got.
        """
        totals, workers, stream = self._totals, self._workers, self._local.consumer
        destination = workers.chunks.destination
        assert destination is not None  # noqa: S101 - rows go somewhere
        assert isinstance(stream, RecordStream)  # noqa: S101 - it reads the records
        for paths, outcomes, found, times in rows.outcomes:

            def place(found: Place | None = found) -> Place | None:
                return None if found is None else place_of(found)

            totals.losses.add(paths, outcomes, place, times)
        workers.digests.add_digests(rows.digests)
        for model, block in self._blocks(rows, slot):
            destination.add_blocks([block], model)
        totals.records += rows.records
        for header in rows.headers:
            stream.note_header(header)
        workers.models.add(rows.models, found=rows.has_model)
        workers.models.add_metrics(rows.metrics, found=rows.has_metric)

    def _blocks(
        self, rows: "ConvertedRows", slot: int
    ) -> "Iterator[tuple[str, EncodedRows]]":
        """Yield the blocks of converted rows with the models of their files."""
        from harpia_formats.conversion.parallel.converted_rows import unit_file  # noqa: PLC0415 - most files are too small for it

        assert self._job is not None  # noqa: S101 - they are of this job
        path = Path(rows.file) if rows.file else unit_file(self._job.folder, slot)
        if not rows.blocks:
            return
        with BytesIO(rows.data) if path is None else path.open("rb") as file:
            file.seek(0 if path is None else rows.at)
            for block in rows.blocks:
                yield block.model, block.read(file)


def _release(parts: "list[Part] | None") -> None:
    """Let workers use the files again that rows came back in."""
    from harpia_formats.conversion.parallel.converted_rows import release_file  # noqa: PLC0415 - most files are too small for it

    files = {part.converted.file for part in parts or () if part.converted}
    for file in files - {""}:
        release_file(Path(file))


class _Batch(Struct, frozen=True):
    """Rows of columns that are handed out together, and their bytes."""

    batch: "RowBatch"
    size: int
    place: "UnitPlace"


class Shift(Struct, frozen=True):
    """Moves a place by the lines and records before it."""

    lines: int
    records: int

    def __call__(self, found: Place) -> Place:
        """Return the place in the file of a place in a part."""
        record = self.records + (found.record or 0)
        return replace(found, line=found.line + self.lines, record=record)


class PlaceInBatch(Struct, frozen=True):
    """Finds the places of the rows of a batch, by their numbers."""

    batch: RowBatch

    def __call__(self, found: Place) -> Place:
        """Return the place in the file of the row with the number of a place."""
        index = (found.record or 1) - 1
        start = self.batch.start_of(index)
        return replace(
            found,
            line=start.line,
            column=start.column + 1,
            end_column=start.column + 2,
            byte_offset=start.offset,
            record=self.batch.numbers[index],
        )


def _records_in(part: FilePart, *, is_table: bool) -> int:
    """Return how many records a unit has if each of its lines is one.

    The lines of a table are those outside of quoted fields.
    """
    assert part.unit is not None  # noqa: S101 - it is for a worker
    given = part.unit.bytes
    if is_table and isinstance(given, FileBytes):
        from harpia_formats.files.framing.byte_ranges import count_records  # noqa: PLC0415 - only for tables

        end = given.begin + given.size
        return count_records(read_range(given.origin, given.begin, end))
    if part.frames or not isinstance(given, FileBytes):
        return sum(len(frame) for frame in part.frames if isinstance(frame, Chunk))
    blocks = range_blocks(given.origin, given.begin, given.begin + given.size)
    return sum(map(count_newlines, blocks))
