"""Convert the units of a large file in a worker process.

All is done as in the main process, up to the first finding.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from typing import TYPE_CHECKING, Any, cast

from harpia_formats.conversion.containers.row_writer import RowEncoder
from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.losses.conversion_problems import ConversionProblems
from harpia_formats.conversion.losses.conversion_report import (
    ConversionTotals,
    StopConversion,
)
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel.converted_rows import (
    ConvertedRows,
    OutcomeLog,
    Part,
    RowBlocks,
    RowFile,
    StoredRows,
    UnitPlace,
    claim_file,
    rows_limit,
    unit_file,
)
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.conversion.reading.row_batch import RowBatch, decoded_rows
from harpia_formats.conversion.row_conversion import ChunkConverter, RecordConverter
from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.parsing.csv_blocks import TableBlock, TableFault
from harpia_formats.files.parsing.csv_records import rows_of_block
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.formats.registry import format_of
from harpia_formats.model.adapter import Row
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import FileMerge
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.parallel.range_worker import RangeFrames, RangeState
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.table_units import BATCH, start_of
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.validators import FileValidators

if TYPE_CHECKING:  # for a type only
    from harpia_formats.conversion.losses.conversion_report import OutcomeCounts
    from harpia_formats.validation.plan.table_units import TableBatch

#: Different sets of fields and outcomes that are kept for a unit, some kilobytes each.
MAX_OUTCOMES = 2_000


@dataclass(frozen=True, slots=True)
class ConversionJob:
    """How the rows of one file are converted, which is the same for all of them."""

    plan: FilePlan
    #: The options without what cannot be sent to another process.
    options: ConvertOptions
    #: The id of the format that is written.
    target: str
    #: Encodes rows as the file takes them.
    encoder: RowEncoder
    #: Whether each model has a file of its own.
    is_split: bool
    #: What is put in front of the ids of the file if the options ask for it.
    prefix: str
    #: The names of the fields in mapped columns, by the names of the columns.
    fields: dict[str, str]
    #: What stands around the rows, as far as their reader needs it.
    surroundings: Mapping[str, Any]
    #: The columns of a table, from its header.
    columns: tuple[str, ...]
    #: Whether the file is the only input.
    is_only: bool
    #: The folder for files of rows, which are faster than a pipe; "" to return the rows
    #: themselves, where a worker may not see the folder.
    folder: str

    @property
    def is_far(self) -> bool:
        """Whether other machines may do the work, where results can be lost."""
        return self.plan.fingerprint is not None

    def state(self) -> "ConversionState":
        """Return what a worker starts with."""
        return ConversionState(RowConverter(self))


@dataclass(slots=True)
class ConvertedChunk:
    """The number of records of some rows, and what became of the fields."""

    records: int
    outcomes: OutcomeLog


class RowConverter:
    """Converts the rows of one job, and keeps what it learns from unit to unit."""

    def __init__(self, job: "ConversionJob") -> None:
        self.job = job
        plan, options = job.plan, job.options
        variant = plan.variant
        assert variant is not None  # noqa: S101 - only rows of a known format are converted
        self.validators = FileValidators(plan)
        self.collector = Collector(self.validators.rules, plan.name, 1)
        self.totals = ConversionTotals(loss_fails=options.on_loss == "fail")
        tally = Tally()
        self.totals.begin(variant, tally.begin(plan.name))
        # A worker does not know whether other files of this name came before.
        self.totals.prefix = job.prefix
        self.models = ModelSelection(options.model, options.metric)
        self.output = RowBlocks(job.encoder, job.is_split)
        self.chunks = ChunkConverter(options, self.totals)
        self.records = RecordConverter(
            options,
            self.totals,
            ConversionProblems(self.totals, tally),
            self.models,
            None,
            None,
        )
        scorer = None
        if options.score:
            from harpia_formats.conversion.fill_scores import score_filler  # noqa: PLC0415 - on request

            scorer = score_filler(options)
        self.destination = self.chunks.destination = Destination(
            format_of(job.target), self.output, options, self.output.add_keys, scorer
        )
        self.destination.begin(variant, only=job.is_only)
        #: Whether a row was not valid.
        self.has_refused = False
        self.stream = RecordStream(
            plan.name,
            self._receive,
            self._refuse,
            lambda _: None,
            self.chunks,
            job.fields,
            known_surroundings=job.surroundings,
        )
        self.stream.open(variant)
        # The items of columns are kept in the main process.
        self.stream.discard()

    def _receive(self, placed: PlacedRecord) -> None:
        self.records.convert(placed, 0, self.totals.prefix, self.destination)

    def _refuse(self, _: bytes | None) -> None:
        self.has_refused = True

    def rows_of(
        self, frame: "Chunk | TableBatch | TableBlock", part: "_OpenPart"
    ) -> ConvertedChunk | None:
        """Convert the next rows of a part; None if the main process has to do that."""
        plan, earlier = self.job.plan, part.rows.records
        merge = FileMerge(plan, FileCount(plan.name))
        merge.records, merge.columns = earlier, self.job.columns
        local = LocalValidation(self.validators, merge, self.collector, self.stream)

        def run() -> int:
            has_found = any(local.frames(iter((frame,))))
            return -1 if has_found else merge.records - earlier

        return self._converted(run, part)

    def rows_of_batch(
        self, values: list[Row], part: "_OpenPart"
    ) -> ConvertedChunk | None:
        """Convert decoded rows; None if the main process has to do that.

        Of their places only the number of a record tells anything.
        """
        numbers = range(1, len(values) + 1)
        batch = RowBatch(values, numbers, lambda _: Cursor(), lambda _: b"{}")

        def run() -> int:
            self.stream.batch(batch)
            return len(values)

        return self._converted(run, part)

    def _converted(
        self, run: Callable[[], int], part: "_OpenPart"
    ) -> ConvertedChunk | None:
        """Return what `run` converts behind a part, None if it fails.

        It returns its number of records, of which one below 0 tells that it does.
        """
        outcomes = OutcomeLog(part.outcomes)
        self.totals.files[0].losses = cast("OutcomeCounts", outcomes)
        self.totals.records = part.rows.before + part.rows.records
        headers = len(self.stream.headers)
        self.has_refused = False
        self.output.clear()
        try:
            records = run()
        except StopConversion:
            self.collector.take()
            records = -1
        self.destination.flush()
        if records < 0 or self.has_refused:
            del self.stream.headers[headers:]
            return None
        return ConvertedChunk(records, outcomes)


class ConversionState(RangeState):
    """Converts one unit after the other.

    Rows are validated, read, converted and encoded as in the main process. Where
    anything is found, rows are left to the main process, maybe with some of those
    around them.
    """

    def __init__(self, worker: RowConverter) -> None:
        super().__init__(worker.validators)
        self._worker = worker

    def learn_from(self, local: LocalValidation) -> None:
        """Start with what was learned from the rows that came first."""
        super().learn_from(local)
        stream = local.consumer
        if isinstance(stream, RecordStream) and isinstance(stream.bulk, ChunkConverter):
            self._worker.chunks.learn_from(stream.bulk)

    def run(self, frames: RangeFrames, given: UnitPlace) -> list[Part] | None:
        """Convert the parts of a unit in which nothing is found.

        None if the main process has to do it, since the rows are longer than is kept.
        """
        folder, slot = self._worker.job.folder, given.slot
        # On other machines a unit may be converted twice, and results may be lost.
        is_far = self._worker.job.is_far
        path = claim_file(folder) if is_far else unit_file(folder, slot)
        try:
            with RowFile(path, rows_limit(frames.unit.bytes.size)) as file:
                parts = UnitParts(self._worker, file, given.before)
                if given.is_decoded:
                    return parts.of_batch(b"".join(frames.reader))
                return parts.of_unit(frames)
        except TooManyRows:
            return None


class TooManyRows(Exception):  # noqa: N818 - a reason to stop, not an error
    """The rows of a unit are longer, or differ more in their fields, than is kept."""


class _OpenPart:
    """Rows that follow each other, as far as they are converted."""

    def __init__(self, before: int, at: int) -> None:
        #: Where they begin, None as long as there are none.
        self.start: Cursor | None = None
        self.rows = ConvertedRows(before, at=at)
        self.outcomes = OutcomeLog()


class UnitParts:
    """The parts of one unit, as far as they are converted."""

    def __init__(self, worker: RowConverter, file: RowFile, before: int) -> None:
        self.worker = worker
        self.file = file
        self.found: list[Part] = []
        self.part = _OpenPart(before, 0)
        #: How many sets of fields and outcomes the finished parts have.
        self.outcomes = 0

    def of_unit(self, frames: RangeFrames) -> list[Part]:
        """Return all parts in order.

        Raises `TooManyRows`, and `SourceError` if the unit cannot be read.
        """
        unit = frames.unit
        if self.worker.job.plan.cut is Framing.TABLE:
            self._add_table(frames)
        else:
            self._add_rows(frames)
        self._finish(unit.start.line + frames.lines)
        for earlier, later in pairwise(self.found):
            earlier.end = later.begin
        if self.found:
            self.found[-1].end = unit.end
        return self.found

    def of_batch(self, data: bytes) -> list[Part] | None:
        """Return decoded rows as one part, None if one cannot be converted.

        Raises `TooManyRows`.
        """
        rows = self.worker.rows_of_batch(decoded_rows(data), self.part)
        if rows is None:
            return None
        self._take(rows, Cursor())
        self._finish(0)
        return self.found

    def _add_rows(self, frames: RangeFrames) -> None:
        """Add rows of JSON."""
        for frame in frames:
            if isinstance(frame, FramingFault):
                self._leave(frame.start, int(frame.record))
            elif isinstance(frame, Chunk) and not self._add(frame, frame.start):
                self._add_pieces(frame)

    def _add_table(self, frames: RangeFrames) -> None:
        """Add records of a table.

        A fault is left with the records that were cut with it. If the unit ends inside
        of a field, the last record has one.
        """
        start: Cursor | None = frames.unit.start
        batches = cast("Iterator[TableBatch | TableBlock]", iter(frames))
        for batch in _with_whole_records(batches):
            begin = start or start_of(batch)
            start = None
            if not isinstance(batch, TableBlock):
                self._add_records(batch, begin)
            elif not self._add(batch, begin):
                self._add_block(batch)

    def _add_block(self, block: TableBlock) -> None:
        """Convert the records of a block, but for a few around each invalid one."""
        # At the first error the main process stops.
        if self.worker.job.plan.run.options.fail_fast:
            self._leave(block.start, block.count)
            return
        records = rows_of_block(block)
        while some := tuple(islice(records, BATCH)):
            self._add_records(some, some[0].start)

    def _add_records(self, records: "TableBatch", start: Cursor) -> None:
        """Add records of a table, or leave all of them."""
        is_broken = any(isinstance(piece, TableFault) for piece in records)
        if is_broken or not self._add(records, start):
            self._leave(start, len(records))

    def _add_pieces(self, chunk: Chunk) -> None:
        """Convert the valid lines of a chunk, and leave the others."""
        # At the first error the main process stops.
        if not chunk.lines or self.worker.job.plan.run.options.fail_fast:
            self._leave(chunk.start, len(chunk))
            return
        validator = self.worker.validators.part().validator
        for is_valid, rows in groupby(
            range(len(chunk)), lambda row: validator.is_valid(chunk.rows[row])
        ):
            first, *others = rows
            piece = chunk.between(first, first + 1 + len(others))
            if not (is_valid and self._add(piece, piece.start)):
                self._leave(piece.start, len(piece))

    def _leave(self, start: Cursor, records: int) -> None:
        """Leave about so many records, from `start` on, unconverted."""
        self._finish(start.line)
        before = self.part.rows.before + self.part.rows.records + records
        if not self.found or self.found[-1].converted is not None:
            self.found.append(Part(start.offset, start.offset, None))
        self.part = _OpenPart(before, self.file.size)

    def _add(self, frame: "Chunk | TableBatch | TableBlock", start: Cursor) -> bool:
        """Add rows to the part; return False if they have to be left.

        Raises `TooManyRows`.
        """
        found = self.worker.rows_of(frame, self.part)
        if found is None:
            return False
        self._take(found, start)
        return True

    def _take(self, found: ConvertedChunk, start: Cursor) -> None:
        """Add converted rows to the part; raises `TooManyRows`."""
        part, output = self.part, self.worker.output
        for model, block in zip(output.models, output.blocks, strict=True):
            stored = self.file.write(block, model)
            if stored is None:
                raise TooManyRows
            _append(stored, part.rows.blocks)
        output.keep_columns()
        part.start = part.start or start
        part.rows.records += found.records
        part.rows.digests += output.digests
        part.outcomes.merge(found.outcomes)
        if self.outcomes + len(part.outcomes) > MAX_OUTCOMES:
            # The main process adds them up row by row, so that none are kept.
            raise TooManyRows

    def _finish(self, line: int) -> None:
        """Add the part, which ends where `line` begins, if it has rows."""
        part, worker, file = self.part, self.worker, self.file
        if part.start is None:
            return
        rows, begin = part.rows, part.start.offset
        rows.lines = line - part.start.line
        rows.outcomes = part.outcomes.entries()
        self.outcomes += len(rows.outcomes)
        rows.headers, worker.stream.headers = worker.stream.headers, []
        rows.models, rows.has_model = list(worker.models.seen), worker.models.found
        worker.models.seen.clear()
        rows.metrics = list(worker.models.metrics)
        rows.has_metric = worker.models.has_metric
        rows.data = file.take_held()
        if worker.job.is_far and file.path is not None:
            rows.file = str(file.path)
        self.found.append(Part(begin, begin, rows))


def _append(rows: StoredRows, blocks: list[StoredRows]) -> None:
    """Add rows to the blocks of a part, to the last one if they can be joined."""
    joined = blocks[-1].joined(rows) if blocks else None
    if joined is None:
        blocks.append(rows)
    else:
        blocks[-1] = joined


def _with_whole_records(
    batches: "Iterator[TableBatch | TableBlock]",
) -> "Iterator[TableBatch | TableBlock]":
    """Yield records of a table so that none but the first batch begins with a fault.

    A fault is in a record or behind it, and has no place where a record begins.
    """
    held: TableBatch | TableBlock = ()
    for batch in batches:
        if isinstance(batch, TableBlock) or not isinstance(batch[0], TableFault):
            if held:
                yield held
            held = batch
        elif isinstance(held, TableBlock):
            held = (*rows_of_block(held), *batch)
        else:
            held += batch
    if held:
        yield held
