"""Convert rows that a decoder accepted many at a time, here or in several processes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.options import ConvertOptions, OnLoss
from harpia_formats.conversion.report import ConversionTotals
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.model.field_fates import FieldFate
from harpia_formats.model.problem import Place as RowPlace
from harpia_formats.registry import adapter_of
from harpia_formats.validation.diagnosis.row_context import Row as PlacedRow
from harpia_formats.validation.file.outcomes import Numbers
from harpia_formats.validation.file.row_validator import Judge

if TYPE_CHECKING:  # small files need none of them
    from harpia_formats.conversion.fast.batch import Bulk
    from harpia_formats.conversion.fast.shard_worker import Done, Job, PlanKey
    from harpia_formats.conversion.fast.shards import Place, Shards
    from harpia_formats.workers.pool import WorkerPool


class ChunkConverter:
    """The conversion of rows by plans, as far as nothing stands against it."""

    def __init__(self, options: ConvertOptions, totals: ConversionTotals) -> None:
        self._options = options
        self._totals = totals
        #: Where rows go, once that is settled.
        self.destination: Destination | None = None
        self._bulk: Bulk | None = None
        #: The judge of the rows that were converted many at once.
        self._judge: Judge | None = None
        #: Plans of other processes, and how often they were followed.
        self._plans: dict[PlanKey, tuple[tuple[str, ...], tuple[FieldFate, ...]]] = {}
        self._followed: Counter[PlanKey] = Counter()

    def accepted(
        self, chunk: Chunk, numbers: Numbers, values: Sequence[Any], judge: Judge
    ) -> bool:
        """Convert rows that a decoder accepted; tell whether that was done.

        Raises `Enough` at a loss where that is a failure.
        """
        totals, destination, decoder = self._totals, self.destination, judge.decoder
        if destination is None or decoder is None:
            return False
        if self._bulk is None:
            self._bulk = self._bulk_of(totals.variants[-1], destination)
            if self._bulk is not None:
                self._bulk.help(judge)
        if self._bulk is None:
            return False
        self._judge = judge
        made = self._bulk.made(values, decoder, judge.decoder_schema, totals.records)
        if made is None:
            return False
        path = totals.counts[-1].path
        for paths, fates, first, times in made.shapes:

            def place(first: int = first) -> RowPlace:
                start = chunk.start_of(first)
                row = PlacedRow(path, chunk.rows[first], start, numbers.of(first))
                return row.place(0, 1, ())

            totals.losses.add(paths, fates, place, times)
        totals.records += len(values)
        if made.rows:
            destination.add(made.rows)
        totals.stop_at_loss()
        return True

    def _bulk_of(
        self, variant: FormatVariant, destination: Destination
    ) -> "Bulk | None":
        """Return what converts many rows at once, if nothing stands against it."""
        options = self._options
        if options.group is not None or options.score or options.prefix_ids:
            return None
        if destination.outputs.is_split:
            return None
        from harpia_formats.conversion.fast.batch import Bulk, suits_bulk  # noqa: PLC0415 - once there is a decoder

        source, mapper = adapter_of(variant.format), destination.mapper
        if not suits_bulk(source, destination.adapter, mapper.choices):
            return None
        return Bulk(variant, source, mapper)

    def shards(self, pool: "WorkerPool | None") -> "Shards | None":
        """Return what has large files done by a pool, if there is one."""
        if pool is None:
            return None
        from harpia_formats.conversion.fast.shards import Shards  # noqa: PLC0415 - with several processes only

        return Shards(
            pool,
            self._job_for,
            self._deliver,
            self._counts_records,
            lambda: self._totals.records,
        )

    def _job_for(self, variant: FormatVariant, place: "Place") -> "Job | None":
        """Return what others are to do with rows of a file, None if nothing."""
        destination = self.destination
        if destination is None or self._bulk_of(variant, destination) is None:
            return None
        if self._options.on_loss is OnLoss.FAIL:
            return None
        from harpia_formats.conversion.fast.shard_worker import Job, prepare  # noqa: PLC0415 - for large files only

        source, origin = variant.format, place.origin
        job = Job(
            # Others have another working folder.
            "" if isinstance(origin, RemoteFile) else str(origin.absolute()),
            source.id,
            source.dialects.index(variant.dialect),
            destination.target.id,
            destination.mapper.choices,
            destination.separator,
            self._options.max_row_bytes,
            place.folder,
            origin if isinstance(origin, RemoteFile) else None,
            place.fingerprint,
            checks_ids=destination.checks_ids,
        )
        # Only processes that begin as copies of this one know what is prepared here.
        if place.folder and self._judge is not None and self._bulk is not None:
            prepare(job, self._judge, self._bulk)
        return job

    def _counts_records(self) -> bool:
        """Tell whether rows may get the number of their record for an id."""
        return self.destination is not None and self.destination.mapper.needs_id

    def _deliver(
        self, done: "Done", rows: Iterable[bytes], start: Cursor, before: int
    ) -> None:
        """Take what became of a range."""
        assert self.destination is not None  # noqa: S101 - without it there are no jobs
        totals = self._totals
        path, losses = totals.counts[-1].path, totals.losses
        for paths, fates, (offset, line, record), counted in done.shapes:
            times = counted if isinstance(counted, int) else 0
            if not isinstance(counted, int):
                self._plans[counted] = paths, fates

            def place(
                offset: int = offset, line: int = line, record: int = record
            ) -> RowPlace:
                at = Cursor(start.offset + offset, start.line + line)
                number = before + record + 1
                return RowPlace(path, at.line, 1, 2, at.offset, number)

            losses.add(paths, fates, place, times)
        for plan, times in done.plans:
            self._followed[plan] += times
        self.destination.add_block(rows, done.count, done.keys)
        totals.records += done.records

    def end_file(self) -> None:
        """Count what plans were followed for in the present file, and forget them."""
        counted = list(self._bulk.counted()) if self._bulk is not None else []
        counted += [(*self._plans[key], times) for key, times in self._followed.items()]
        for paths, fates, times in counted:
            self._totals.losses.add(paths, fates, lambda: None, times)
        self._bulk = self._judge = None
        self._plans.clear()
        self._followed.clear()
