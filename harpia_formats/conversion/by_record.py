"""Convert records one by one, or merged to one record for each group."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.losses.problems import ConversionProblems
from harpia_formats.conversion.mapping.select_model import (
    ModelSelection,
    split_by_model,
)
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.record_steps import RecordSteps, steps_of
from harpia_formats.conversion.remedies import with_remedies
from harpia_formats.conversion.report import ConversionTotals, StopConversion
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Record

if TYPE_CHECKING:  # loaded only for the options --group and --on-invalid quarantine
    from harpia_formats.conversion.grouping.record_groups import RecordGroups
    from harpia_formats.conversion.quarantine import Quarantine


def record_groups(key: str | None) -> "RecordGroups | None":
    """Return what groups records by the field `key`, None if `key` is None.

    Raises `ConversionError` if records cannot be grouped by it.
    """
    if key is None:
        return None
    from harpia_formats.conversion.grouping.record_groups import RecordGroups  # noqa: PLC0415 - few conversions group records

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
        record, fates = placed.record, FieldFates()
        self._models.observe(record)
        self._totals.records += 1

        def place() -> Place:
            return placed.row.place(0, 1, ())

        steps = self._steps_of(file, prefix, destination)
        try:
            record = steps.before_grouping(record, fates)
        except Unconvertible as error:
            self._reject(error, record, place(), file, placed.texts)
            return
        if self._groups is not None:
            # The merged record has its own fates; those of its rows are counted here.
            self._totals.files[file].losses.add((), tuple(fates.entries), place)
            self._groups.add(record, file, place())
            return

        self._convert(record, fates, place, placed.texts, file, destination, steps)

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
        for record, fates, file, place in self._groups:
            self._totals.records += 1
            text = encode(record)

            def place_of_first(place: Place = place) -> Place:
                return place

            steps = self._steps_of(file, "", destination)
            self._convert(record, fates, place_of_first, text, file, destination, steps)

    def close(self) -> None:
        """Delete the temporary files of groups."""
        if self._groups is not None:
            self._groups.close()

    def _convert(  # noqa: PLR0913, PLR0917 - a record with all that is known of it
        self,
        record: Record,
        fates: FieldFates,
        place: Callable[[], Place],
        text: bytes,
        file: int,
        destination: Destination,
        steps: RecordSteps,
    ) -> None:
        try:
            record = steps.after_grouping(record, self._totals.records, fates)
            parts = [("", record)]
            if destination.outputs.is_split:
                parts = list(split_by_model(record, fates, self._options.model))
            mapped = [
                (model, destination.mapped(part, self._totals.records))
                for model, part in parts
            ]
        except Unconvertible as error:
            self._reject(error, record, place(), file, text)
            return
        for model, (rows, outcome) in mapped:
            destination.add(rows, destination.file_of(model), len(text))
            fates.entries += outcome.fates
        # A fate counts once for a record, however many rows the record becomes.
        outcomes = [outcome for _, (_, outcome) in mapped]
        paths = tuple(dict.fromkeys(path for each in outcomes for path in each.paths))
        entries = tuple(dict.fromkeys(fates.entries))
        self._totals.files[file].losses.add(paths, entries, place)
        self._totals.stop_at_loss()

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
            raise StopConversion
        if self._quarantine is not None:
            self._quarantine.row(text)
