"""Convert rows in a worker process: validate, read, map and encode them.

All is done as in the main process, up to the first finding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from harpia_formats.conversion.by_record import RecordConverter
from harpia_formats.conversion.chunks import ChunkConverter
from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.losses.problems import ConversionProblems
from harpia_formats.conversion.mapping.select_model import ModelSelection
from harpia_formats.conversion.parallel.collected import FateLog, RowBlocks
from harpia_formats.conversion.parallel.job import ConversionJob
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.conversion.reading.row_batch import RowBatch
from harpia_formats.conversion.report import ConversionTotals, StopConversion
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.formats.registry import format_of
from harpia_formats.model.adapter import Row
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import FileMerge
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.validators import FileValidators

if TYPE_CHECKING:  # for a type only
    from harpia_formats.conversion.loss_counts import FateCounts
    from harpia_formats.files.parsing.csv_blocks import TableBlock
    from harpia_formats.validation.plan.table_units import TableBatch


@dataclass(slots=True)
class ConvertedChunk:
    """The number of records of some rows, and what became of the fields."""

    records: int
    fates: FateLog


class RowConverter:
    """Converts the rows of one job, and keeps what it learns from unit to unit."""

    def __init__(self, job: ConversionJob) -> None:
        self.job = job
        plan, options = job.plan, job.options
        variant = plan.variant
        assert variant is not None  # noqa: S101 - only rows of a known format are converted
        self.validators = FileValidators(plan)
        self.collector = Collector(self.validators.rules, plan.name, 1)
        self.totals = ConversionTotals(loss_fails=options.on_loss == "fail")
        tally = Tally()
        self.totals.begin(variant, tally.begin(plan.name))
        self.models = ModelSelection(options.model, options.metric)
        self.output = RowBlocks(job.encoder, job.is_split)
        self.chunks = ChunkConverter(options, self.totals, self.models)
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
            settled=job.surroundings,
        )
        self.stream.open(variant)
        # The items of columns are kept in the main process.
        self.stream.discard()

    def _receive(self, placed: PlacedRecord) -> None:
        self.records.convert(placed, 0, self.job.prefix, self.destination)

    def _refuse(self, _: bytes) -> None:
        self.has_refused = True

    def rows_of(
        self, frame: "Chunk | TableBatch | TableBlock", before: int, earlier: int
    ) -> ConvertedChunk | None:
        """Convert the rows of a frame; None if the main process has to do that.

        `before` is the number of records before its part, `earlier` those in the part.
        """
        plan = self.job.plan
        merge = FileMerge(plan, FileCount(plan.name))
        merge.records, merge.columns = earlier, self.job.columns
        local = LocalValidation(self.validators, merge, self.collector, self.stream)

        def run() -> int:
            has_found = any(local.frames(iter((frame,))))
            return -1 if has_found else merge.records - earlier

        return self._converted(run, before + earlier)

    def rows_of_batch(self, values: list[Row], before: int) -> ConvertedChunk | None:
        """Convert decoded rows; None if the main process has to do that.

        Of their places only the number of a record tells anything.
        """
        numbers = range(1, len(values) + 1)
        batch = RowBatch(values, numbers, lambda _: Cursor(), lambda _: b"{}")

        def run() -> int:
            self.stream.batch(batch)
            return len(values)

        return self._converted(run, before)

    def _converted(self, run: Callable[[], int], before: int) -> ConvertedChunk | None:
        """Return what `run` converts, and its number of records, None if it fails.

        A number below 0 tells that it does.
        """
        fates = FateLog()
        self.totals.files[0].losses = cast("FateCounts", fates)
        self.totals.records = before
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
        return ConvertedChunk(records, fates)
