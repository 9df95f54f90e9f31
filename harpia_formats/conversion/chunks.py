"""Convert valid rows in batches."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.losses.problems import GROUP_HELP, NUMBER_HELP
from harpia_formats.conversion.mapping.row_reader import NO_SURROUNDINGS, ReadRow
from harpia_formats.conversion.mapping.select_model import ModelSelection
from harpia_formats.conversion.options import ConvertOptions, Ids
from harpia_formats.conversion.reading.row_batch import DecodedChunk, RowBatch
from harpia_formats.conversion.record_steps import steps_of
from harpia_formats.conversion.report import ConversionTotals
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import Row
from harpia_formats.model.errors import ConversionError
from harpia_formats.model.exact_json import decode
from harpia_formats.model.problem import Place
from harpia_formats.validation.diagnosis.row_context import RowContext

if TYPE_CHECKING:  # files that are small, or decoded without a decoder, need none
    from harpia_formats.conversion.batch import BatchConverter, ConvertedBatch


class ChunkConverter:
    """Converts chunks of rows, if the options allow that."""

    def __init__(
        self, options: ConvertOptions, totals: ConversionTotals, models: ModelSelection
    ) -> None:
        """Take what is noted of all records: `totals`, and the `models` of answers."""
        self._options = options
        self._totals = totals
        self._models = models
        #: Where rows go, once the target is chosen.
        self.destination: Destination | None = None
        self._batches: BatchConverter | None = None
        self._read: ReadRow | None = None
        self._around: Mapping[str, Any] = NO_SURROUNDINGS

    def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
        """Take what reads a row of the file, and what stands around its rows.

        Raises `ConversionError` if that says that records of the file share their ids,
        where rows need different ones.
        """
        self._read, self._around, self._batches = read, around, None
        destination, options = self.destination, self._options
        repeated = adapter_of(self._totals.variants[-1].format).repeated_ids
        is_own = options.ids is Ids.KEEP and options.group is None
        if repeated is None or destination is None or not is_own:
            return
        if destination.checks_ids and (why := repeated(around)):
            path = self._totals.counts[-1].path
            raise ConversionError(f"{path}: {why}; {GROUP_HELP}, or {NUMBER_HELP}")

    def decoded(self, rows: DecodedChunk) -> bool:
        """Convert a chunk of decoded rows; return False if that is not possible.

        Raises `StopConversion` at a loss, if the options make that a failure.
        """
        batches = self._batches_of_file()
        if batches is None:
            return False
        chunk = rows.chunk

        def place(row: int) -> Place:
            text, start = chunk.rows[row], chunk.start_of(row)
            return self._place(text, start, rows.numbers.of(row), decode(text))

        before = self._totals.records
        batch = batches.convert_decoded(chunk, rows.values, rows.decoder, before)
        return self._is_written(batch, place)

    def batch(self, batch: RowBatch) -> bool:
        """Convert a batch of rows; return False if that is not possible.

        Raises `StopConversion` at a loss, if the options make that a failure.
        """
        batches = self._batches_of_file()
        if batches is None:
            return False

        def place(row: int) -> Place:
            text, start = batch.text_of(row), batch.start_of(row)
            return self._place(text, start, batch.numbers[row], batch.values[row])

        converted = batches.convert(batch.values, self._totals.records)
        return self._is_written(converted, place)

    def _place(self, text: bytes, start: Cursor, number: int, value: Row) -> Place:
        """Return the place of a row with its id, which only `value` tells."""
        path = self._totals.counts[-1].path
        id_key = self._totals.variants[-1].format.id_key
        return RowContext(path, text, start, number, value, id_key).place(0, 1, ())

    def _is_written(
        self, batch: "ConvertedBatch | None", place_of: Callable[[int], Place]
    ) -> bool:
        """Write what some rows became; return False if one could not be converted."""
        totals, destination = self._totals, self.destination
        assert destination is not None  # noqa: S101 - without it nothing is converted
        if batch is None:
            return False
        for outcome, first, times in batch.outcomes:

            def place(first: int = first) -> Place:
                return place_of(first)

            totals.losses.add(outcome.paths, outcome.fates, place, times)
        totals.records += batch.records
        self._models.add(batch.models.seen, found=batch.models.found)
        if batch.rows:
            destination.add_batch(batch.rows, batch.lines)
        totals.stop_at_loss()
        return True

    def _batches_of_file(self) -> "BatchConverter | None":
        """Return the converter of batches for the current file.

        None if the target is not chosen yet, or options forbid batches.
        """
        if self._batches is None and self.destination is not None:
            self._batches = self._batches_for(
                self._totals.variants[-1], self.destination
            )
        return self._batches

    def _batches_for(
        self, variant: FormatVariant, destination: Destination
    ) -> "BatchConverter | None":
        """Return a converter of batches, None if records have to be taken one by one.

        That is so where they are merged to groups, or written to several files, and
        where it has to be known which models or metrics there are.
        """
        if self._options.group is not None or destination.outputs.is_split:
            return None
        if self._options.model is not None or self._options.metric is not None:
            return None
        if self._read is None:
            return None
        from harpia_formats.conversion.batch import BatchConverter  # noqa: PLC0415 - small files need none

        steps = steps_of(
            self._options,
            destination.adapter,
            destination.requirements[-1],
            self._totals.prefix,
        )
        mapper, check = destination.mapper, destination.check
        around = self._around
        return BatchConverter(variant, self._read, around, mapper, steps, check)

    def learn_from(self, other: "ChunkConverter") -> None:
        """Use what another converter for the same conversion has learned."""
        # It holds nothing of the rows that it has converted.
        self._batches = other._batches  # noqa: SLF001 - of this class

    def end_file(self) -> None:
        """Forget the file that was read."""
        self._batches = self._read = None
