"""Convert chunks of rows that a decoder accepted, in one or in several processes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.options import ConvertOptions, Ids, OnLoss
from harpia_formats.conversion.report import ConversionTotals
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.mapping.choices import ReferenceFrom
from harpia_formats.model.field_fates import FieldFate
from harpia_formats.model.problem import Place
from harpia_formats.registry import adapter_of
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.unit.record_numbers import RecordNumbers
from harpia_formats.validation.unit.row_validator import RowValidator

if TYPE_CHECKING:  # files that are small, or decoded without a decoder, need none
    from harpia_formats.conversion.fast.batch import BatchConverter
    from harpia_formats.conversion.parallel.job import (
        ConversionJob,
        ConvertedPart,
        TemplateKey,
    )
    from harpia_formats.conversion.parallel.large_file import (
        ConvertedFile,
        LargeFileConversion,
    )
    from harpia_formats.workers.pool import WorkerPool


class ChunkConverter:
    """Converts chunks of rows by templates, if options and formats allow that."""

    def __init__(self, options: ConvertOptions, totals: ConversionTotals) -> None:
        self._options = options
        self._totals = totals
        #: Where rows go, once the target is chosen.
        self.destination: Destination | None = None
        self._batches: BatchConverter | None = None
        #: The validator of the rows that were converted in batches.
        self._validator: RowValidator | None = None
        #: The paths and fates of the templates of workers, and how many records each
        #: of them converted.
        self._templates: dict[
            TemplateKey, tuple[tuple[str, ...], tuple[FieldFate, ...]]
        ] = {}
        self._used: Counter[TemplateKey] = Counter()

    def accepted(
        self,
        chunk: Chunk,
        numbers: RecordNumbers,
        values: Sequence[Any],
        validator: RowValidator,
    ) -> bool:
        """Convert a chunk of decoded rows; return False if that is not possible.

        Raises `StopConversion` at a loss, if the options make that a failure.
        """
        totals, destination, decoder = self._totals, self.destination, validator.decoder
        if destination is None or decoder is None:
            return False
        if self._batches is None:
            self._batches = self._batches_for(totals.variants[-1], destination)
            if self._batches is not None:
                self._batches.count_members_for(validator)
        if self._batches is None:
            return False
        self._validator = validator
        batch = self._batches.convert(
            values, decoder, validator.decoder_schema, totals.records
        )
        if batch is None:
            return False
        path = totals.counts[-1].path
        for paths, fates, first, times in batch.fates:

            def place(first: int = first) -> Place:
                start = chunk.start_of(first)
                row = RowContext(path, chunk.rows[first], start, numbers.of(first))
                return row.place(0, 1, ())

            totals.losses.add(paths, fates, place, times)
        totals.records += len(values)
        if batch.rows:
            destination.add(batch.rows)
        totals.stop_at_loss()
        return True

    def _batches_for(
        self, variant: FormatVariant, destination: Destination
    ) -> "BatchConverter | None":
        """Return a converter of batches, None if options or formats forbid it."""
        options = self._options
        if options.group is not None or options.score or options.prefix_ids:
            return None
        if options.ids is not Ids.KEEP or destination.requirements[-1].fields:
            return None
        if options.reference_from is not ReferenceFrom.REFERENCES:
            return None
        if destination.outputs.is_split:
            return None
        from harpia_formats.conversion.fast.batch import BatchConverter, can_batch  # noqa: PLC0415 - only rows with a decoder need it

        source, mapper = adapter_of(variant.format), destination.mapper
        if not can_batch(source, destination.adapter, mapper.choices):
            return None
        return BatchConverter(variant, source, mapper)

    def large_file(self, pool: "WorkerPool | None") -> "LargeFileConversion | None":
        """Return what converts large files with the workers of `pool`, if any."""
        if pool is None:
            return None
        from harpia_formats.conversion.parallel.large_file import LargeFileConversion  # noqa: PLC0415 - only several processes need it

        return LargeFileConversion(
            pool,
            self._job_for,
            self._deliver,
            self._needs_numbers,
            lambda: self._totals.records,
        )

    def _job_for(
        self, variant: FormatVariant, file: "ConvertedFile"
    ) -> "ConversionJob | None":
        """Return the job for a file, None if it cannot be converted in ranges."""
        destination = self.destination
        if destination is None or self._batches_for(variant, destination) is None:
            return None
        if self._options.on_loss is OnLoss.FAIL:
            return None
        from harpia_formats.conversion.parallel.job import ConversionJob  # noqa: PLC0415 - only large files need it
        from harpia_formats.conversion.parallel.worker import prepare_workers  # noqa: PLC0415 - only large files need it

        source, origin = variant.format, file.origin
        job = ConversionJob(
            # Workers may have another working directory.
            "" if isinstance(origin, RemoteFile) else str(origin.absolute()),
            source.id,
            source.dialects.index(variant.dialect),
            destination.target.id,
            destination.mapper.choices,
            destination.separator,
            self._options.max_row_bytes,
            file.folder,
            origin if isinstance(origin, RemoteFile) else None,
            file.fingerprint,
            checks_ids=destination.checks_ids,
        )
        # Only processes that are forked from this one have what is prepared here.
        if file.folder and self._validator is not None and self._batches is not None:
            prepare_workers(job, self._validator, self._batches)
        return job

    def _needs_numbers(self) -> bool:
        """Tell whether rows may get the number of their record for an id."""
        return self.destination is not None and self.destination.mapper.needs_id

    def _deliver(
        self, part: "ConvertedPart", rows: Iterable[bytes], start: Cursor, before: int
    ) -> None:
        """Write the rows of a converted part, and count its records and fates.

        `start` is where the part begins, `before` the number of records before it.
        """
        assert self.destination is not None  # noqa: S101 - without it there are no jobs
        totals = self._totals
        path, losses = totals.counts[-1].path, totals.losses
        for paths, fates, (offset, line, record), counted in part.fates:
            times = counted if isinstance(counted, int) else 0
            if not isinstance(counted, int):
                self._templates[counted] = paths, fates

            def place(
                offset: int = offset, line: int = line, record: int = record
            ) -> Place:
                at = Cursor(start.offset + offset, start.line + line)
                number = before + record + 1
                return Place(path, at.line, 1, 2, at.offset, number)

            losses.add(paths, fates, place, times)
        for template, times in part.used_templates:
            self._used[template] += times
        self.destination.add_block(rows, part.count, part.keys)
        totals.records += part.records

    def end_file(self) -> None:
        """Count the records that templates converted in this file, and forget them."""
        counted = list(self._batches.counted()) if self._batches is not None else []
        counted += [(*self._templates[key], times) for key, times in self._used.items()]
        for paths, fates, times in counted:
            self._totals.losses.add(paths, fates, lambda: None, times)
        self._batches = self._validator = None
        self._templates.clear()
        self._used.clear()
