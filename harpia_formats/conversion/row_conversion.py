"""Convert valid rows: in batches, one by one, or merged to a record for each group."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.destination import Destination, RecordSteps, steps_of
from harpia_formats.conversion.losses.conversion_problems import (
    GROUP_HELP,
    NUMBER_HELP,
    ConversionProblems,
    with_remedies,
)
from harpia_formats.conversion.losses.conversion_report import (
    ConversionTotals,
    StopConversion,
)
from harpia_formats.conversion.mapping.answer_groups import (
    ModelSelection,
    split_by_model,
)
from harpia_formats.conversion.mapping.extra_fields import NO_SURROUNDINGS, ReadRow
from harpia_formats.conversion.options import ConvertOptions, Ids, OnInvalid
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.row_batch import DecodedChunk, RowBatch
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.problem import ConversionError, Place
from harpia_formats.model.record import Record
from harpia_formats.validation.diagnosis.row_context import RowContext

if TYPE_CHECKING:  # files that are small, or decoded without a decoder, need none
    from harpia_formats.conversion.batch import BatchConverter, ConvertedBatch
    from harpia_formats.conversion.quarantine import Quarantine
    from harpia_formats.conversion.record_groups import RecordGroups


class ChunkConverter:
    """Converts chunks of rows, if the options allow that."""

    def __init__(self, options: ConvertOptions, totals: ConversionTotals) -> None:
        """Take the `totals` in which what becomes of all records is noted."""
        self._options = options
        self._totals = totals
        #: Where rows go, once the target is chosen.
        self.destination: Destination | None = None
        self._batches: BatchConverter | None = None
        #: The one of an earlier file.
        self._previous: BatchConverter | None = None
        self._read: ReadRow | None = None
        self._around: Mapping[str, Any] = NO_SURROUNDINGS

    def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
        """Take what reads a row of the file, and what stands around its rows.

        Raises `ConversionError` if that says that records of the file share their ids,
        where rows need different ones.
        """
        self._previous = self._batches or self._previous
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
        """Convert a chunk of decoded rows; return False if that is not possible."""
        batches = self._batches_of_file()
        if batches is None:
            return False
        chunk = rows.chunk

        @cache
        def place(row: int) -> Place:
            text, start = chunk.rows[row], chunk.start_of(row)
            return self._place(text, start, rows.numbers.of(row), decode(text))

        before = self._totals.records
        batch = batches.convert_decoded(chunk, rows.values, rows.decoder, before)
        return self._is_written(batch, place)

    def batch(self, batch: RowBatch) -> bool:
        """Convert a batch of rows; return False if that is not possible."""
        batches = self._batches_of_file()
        if batches is None:
            return False

        @cache
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
        """Write what some rows became; return False if they are not taken at once.

        That is so if one cannot be converted, or has a loss that ends the conversion:
        one by one, they end at that one, wherever the batch ends.
        """
        totals, destination = self._totals, self.destination
        assert destination is not None  # noqa: S101 - without it nothing is converted
        if batch is None or any(
            totals.is_failed_by(found.outcomes) for found, *_ in batch.record_outcomes
        ):
            return False
        for record_outcome, first, times in batch.record_outcomes:

            def place(first: int = first) -> Place:
                return place_of(first)

            totals.losses.add(
                record_outcome.paths, record_outcome.outcomes, place, times
            )
        totals.records += batch.records
        if batch.rows:
            destination.add_batch(batch.rows, batch.lines)
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
        assert self._read is not None  # noqa: S101 - the file was begun
        from harpia_formats.conversion.batch import BatchConverter  # noqa: PLC0415 - small files need none

        steps = steps_of(
            self._options,
            destination.adapter,
            destination.requirements[-1],
            self._totals.prefix,
        )
        mapper, check = destination.mapper, destination.check
        around = self._around
        made = BatchConverter(variant, self._read, around, mapper, steps, check)
        if self._previous is not None:
            made.learn_from(self._previous)
        return made

    def learn_from(self, other: "ChunkConverter") -> None:
        """Use what another converter for the same conversion has learned."""
        # It holds nothing of the rows that it has converted.
        self._batches = other._batches  # noqa: SLF001 - of this class


def record_groups(key: str | None) -> "RecordGroups | None":
    """Return what groups records by the field `key`, None if `key` is None.

    Raises `ConversionError` if records cannot be grouped by it.
    """
    if key is None:
        return None
    from harpia_formats.conversion.record_groups import RecordGroups  # noqa: PLC0415 - few conversions group records

    return RecordGroups(key)


class RecordConverter:
    """Converts single records; it can do whatever the options ask for.

    Raises `StopConversion` at a record that cannot be converted and at a loss, if the
    options make that a failure.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of one conversion
        self,
        options: ConvertOptions,
        totals: ConversionTotals,
        problems: ConversionProblems,
        models: ModelSelection,
        groups: "RecordGroups | None",
        quarantine: "Quarantine | None",
    ) -> None:
        self._options = options
        self._totals = totals
        self._problems = problems
        self._models = models
        self._groups = groups
        self._quarantine = quarantine
        #: The steps for the records of the last file, with its index and prefix.
        self._last_steps: tuple[tuple[int, str], RecordSteps] = (-1, ""), RecordSteps()

    def convert(
        self, placed: PlacedRecord, file: int, prefix: str, destination: Destination
    ) -> None:
        """Convert a record of the file with index `file`, or add it to its group.

        `prefix` is put in front of its id if the options ask for it.
        """
        record, outcomes = placed.record, FieldOutcomes()
        self._models.observe(record)
        self._totals.records += 1

        def place() -> Place:
            return placed.row.place(0, 1, ())

        steps = self._steps_of(file, prefix, destination)
        try:
            record = steps.before_grouping(record, outcomes)
        except Unconvertible as error:
            self._reject(error, record, place(), file, placed.texts)
            return
        if self._groups is not None:
            self._groups.add(record, outcomes, file, place())
            return

        self._convert(record, outcomes, place, placed.texts, file, destination, steps)

    def _steps_of(
        self, file: int, prefix: str, destination: Destination
    ) -> RecordSteps:
        """Return the steps for the records of a file.

        Those of the last file are kept: making them takes as long as a record.
        """
        known, steps = self._last_steps
        if known != (file, prefix):
            requirements = destination.requirements[file]
            steps = steps_of(self._options, destination.adapter, requirements, prefix)
            self._last_steps = (file, prefix), steps
        return steps

    def write_groups(self, destination: Destination) -> None:
        """Convert the merged record of each group, if records are grouped."""
        if self._groups is None:
            return
        if not self._problems.are_grouped(self._groups.conflicts()):
            raise StopConversion
        self._totals.records = 0
        for record, outcomes, file, place in self._groups:
            self._totals.records += 1
            text = encode(record)

            def place_of_first(place: Place = place) -> Place:
                return place

            steps = self._steps_of(file, "", destination)
            self._convert(
                record, outcomes, place_of_first, text, file, destination, steps
            )

    def close(self) -> None:
        """Delete the temporary files of groups."""
        if self._groups is not None:
            self._groups.close()

    def _convert(  # noqa: PLR0913, PLR0917 - a record with all that is known of it
        self,
        record: Record,
        outcomes: FieldOutcomes,
        place: Callable[[], Place],
        text: bytes,
        file: int,
        destination: Destination,
        steps: RecordSteps,
    ) -> None:
        try:
            record = steps.after_grouping(record, self._totals.records, outcomes)
            parts = [("", record)]
            if destination.outputs.is_split:
                parts = list(split_by_model(record, outcomes, self._options.model))
            mapped = [
                (model, destination.mapped(part, self._totals.records))
                for model, part in parts
            ]
        except Unconvertible as error:
            self._reject(error, record, place(), file, text)
            return
        for model, (rows, record_outcome) in mapped:
            destination.add(rows, destination.file_of(model), len(text))
            outcomes.entries += record_outcome.outcomes
        # An outcome counts once for a record, however many rows the record becomes.
        record_outcomes = [record_outcome for _, (_, record_outcome) in mapped]
        paths = tuple(
            dict.fromkeys(path for each in record_outcomes for path in each.paths)
        )
        entries = tuple(dict.fromkeys(outcomes.entries))
        self._totals.files[file].losses.add(paths, entries, place)
        self._totals.stop_at_loss(entries, place)

    def _reject(
        self, error: Unconvertible, record: Record, place: Place, file: int, text: bytes
    ) -> None:
        """Report a record that cannot be converted; stop, or leave the record out."""
        source = self._totals.variants[file].format
        error = with_remedies(error, record, source, self._options)
        missing_model = ""
        if error.path.startswith("outputs"):
            missing_model = self._models.missing_in(record)
        self._problems.add_unconvertible(error, place, file, missing_model)
        if self._options.on_invalid is OnInvalid.FAIL:
            raise StopConversion(place)
        if self._quarantine is not None:
            self._quarantine.row(text)
