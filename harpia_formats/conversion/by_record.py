"""Convert records one by one, or one for each group of them."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.account import ConversionTotals, StopConversion
from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.losses.problems import ConversionProblems
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.mapping.split_models import split_by_model
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Record
from harpia_formats.reading.record_stream import PlacedRecord

if TYPE_CHECKING:  # each is for an option that few ask for
    from harpia_formats.conversion.grouping.record_groups import RecordGroups
    from harpia_formats.conversion.quarantine import Quarantine


class RecordConverter:
    """The conversion of single records, whatever is asked for.

    Raises `StopConversion` at a record that cannot be converted, and at a loss, where
    that is a failure.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what is asked for, and who is told of what
        self,
        options: ConvertOptions,
        account: ConversionTotals,
        mishaps: ConversionProblems,
        models: ModelSelection,
        groups: "RecordGroups | None",
        quarantine: "Quarantine | None",
    ) -> None:
        self._options = options
        self._account = account
        self._mishaps = mishaps
        self._models = models
        self._groups = groups
        self._quarantine = quarantine

    def take(
        self, taken: PlacedRecord, file: int, prefix: str, destination: Destination
    ) -> None:
        """Convert a record of a file, or keep it for its group."""
        record, fates = taken.record, FieldFates()
        self._models.note(record)
        if self._options.prefix_ids and record.id is not UNSET:
            record = replace(record, id=f"{prefix}{record.id}")
            fates.changed("id", "with the name of its file in front")
        self._account.records += 1

        def place() -> Place:
            return taken.row.place(0, 1, ())

        if self._groups is not None:
            # The notes of a group are its own; what became of its rows is told here.
            self._account.files[file].losses.add((), tuple(fates.entries), place)
            self._groups.add(record, file, place())
            return

        self._convert(record, fates, place, taken.row.text, file, destination)

    def write_groups(self, destination: Destination) -> None:
        """Convert one record for each group, if there are groups."""
        if self._groups is None:
            return
        self._account.records = 0
        for record, fates, file, place in self._groups:
            self._account.records += 1
            text = encode(record)
            self._convert(record, fates, partial(_same, place), text, file, destination)

    def _convert(  # noqa: PLR0913, PLR0917 - a record with all that is known of it
        self,
        record: Record,
        fates: FieldFates,
        place: Callable[[], Place],
        text: bytes,
        file: int,
        destination: Destination,
    ) -> None:
        parts = [("", record)]
        if destination.outputs.is_split:
            parts = list(split_by_model(record, fates, self._options.model))
        try:
            written = [
                (model, destination.mapper.map(part, self._account.records))
                for model, part in parts
            ]
        except Unconvertible as error:
            self._cannot(error, record, place(), file, text)
            return
        for model, each in written:
            destination.add(each.rows, destination.file_of(model))
            fates.entries += each.fates
        # What is told of a record is told once, whatever it is spread over.
        paths = tuple(dict.fromkeys(path for _, each in written for path in each.paths))
        said = tuple(dict.fromkeys(fates.entries))
        self._account.files[file].losses.add(paths, said, place)
        self._account.stop_at_loss()

    def _cannot(
        self, error: Unconvertible, record: Record, place: Place, file: int, text: bytes
    ) -> None:
        """Say that a record cannot be converted, and stop or leave it out."""
        lacking = ""
        if error.path.startswith("outputs"):
            lacking = self._models.lacking(record)
        self._mishaps.cannot(error, place, file, lacking)
        if self._options.on_invalid is OnInvalid.FAIL:
            raise StopConversion
        if self._quarantine is not None:
            self._quarantine.row(text)


def _same(place: Place) -> Place:
    return place
