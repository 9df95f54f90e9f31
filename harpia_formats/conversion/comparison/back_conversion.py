"""Convert the rows of a round trip back, from the other format to the first one."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from msgspec.structs import replace

from harpia_formats.conversion.comparison.round_trip_ids import RoundTripIds
from harpia_formats.conversion.comparison.round_trip_rows import (
    RowsOfRecords,
)
from harpia_formats.conversion.fill_scores import ScoreFiller
from harpia_formats.conversion.grouping.same_answers import merged_answers
from harpia_formats.conversion.mapping.constants import constants_by_path
from harpia_formats.conversion.mapping.presence import PresenceKeys
from harpia_formats.conversion.mapping.questions import base_id
from harpia_formats.conversion.mapping.record_program import MAX_OUTCOMES
from harpia_formats.conversion.mapping.requirements import (
    RowRequirements,
    missing_fields,
    row_requirements,
)
from harpia_formats.conversion.mapping.row_reader import ReadRow, row_reader
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.written_rows import WrittenRowCheck
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.errors import ConversionError
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record, field_paths


@dataclass(slots=True)
class BackConversion:
    """Converts records back to their format; constants fill fields that were lost."""

    format: Format
    adapter: FormatAdapter
    options: ConvertOptions
    #: The values that the user gives, by the paths of the fields.
    constants: dict[str, Any]
    scorer: ScoreFiller | None
    #: What rows of the other format may lack.
    requirements: RowRequirements
    #: The message that all rows of the other format lack something, "" if not.
    missing: str
    #: Collects the ids of the rows.
    ids: RoundTripIds
    _rows: dict[tuple[frozenset[str], bool], RowsOfRecords] = field(
        default_factory=dict
    )
    #: Which constants records have a field for, by what `_presence` says of them.
    _had: dict[Hashable, frozenset[str]] = field(default_factory=dict)
    _presence: PresenceKeys = field(default_factory=lambda: PresenceKeys(frozenset()))
    _check: WrittenRowCheck = field(init=False)
    _read: ReadRow = field(init=False)

    def __post_init__(self) -> None:
        self._check = WrittenRowCheck(self.format)
        self._read = row_reader(self.adapter)

    def convert(self, middle: Record, before: Record, number: int) -> Record:
        """Return the record of `middle` in the first format, where it was `before`.

        Raises `Unconvertible`.
        """
        if self.missing:
            path, _ = self.requirements.fields[0]
            raise Unconvertible(path, self.missing)
        self.requirements.check(middle)
        rows = self._rows_for(before).of(middle, number)
        self.ids.add_rows(self.format, rows, back=True)
        read = [self._read(row) for row in rows]
        return merged(read, repeats_answers=self.adapter.repeats_answers)

    def _rows_for(self, before: Record) -> RowsOfRecords:
        """Return what makes rows and fills no field that `before` did not have."""
        scored = any(output.scores for output in before.outputs)
        key = self._had_of(before), scored
        found = self._rows.get(key)
        if found is None:
            constants = {path: self.constants[path] for path in sorted(key[0])}
            scorer = self.scorer if scored else None
            mapper = RecordMapper(
                self.adapter, self.options.choices(constants), scorer, self._check
            )
            found = self._rows[key] = RowsOfRecords(mapper, self._check)
        return found

    def _had_of(self, record: Record) -> frozenset[str]:
        """Return the paths of the constants that a record has."""
        if not self.constants:
            return frozenset()
        key = self._presence.of(record)
        had = self._had.get(key)
        if had is None:
            had = frozenset(self.constants).intersection(field_paths(record))
            if len(self._had) < MAX_OUTCOMES:
                self._had[key] = had
        return had

    def message_for(self, error: Unconvertible) -> str:
        """Return why a record cannot be converted back, and what would help."""
        return f"on the way back: {error}"


def requirements_back(  # noqa: PLR0913 - two formats, and what the user gives
    source: Format,
    source_adapter: FormatAdapter,
    target: Format,
    target_adapter: FormatAdapter,
    constants: Mapping[str, Any],
    *,
    scored: bool,
) -> tuple[RowRequirements, str]:
    """Return what rows of `source` may lack, and a message if all of them lack it."""
    try:
        found = row_requirements(
            source, source_adapter, target, target_adapter, constants, scored=scored
        )
    except ConversionError as error:
        missing = missing_fields(
            source_adapter, target_adapter, constants, scored=scored
        )
        fields = tuple((field.record_path, field.name) for field in missing)
        return RowRequirements(fields), str(error)
    return found, ""


def constants_of_both(
    via: FormatAdapter, own: FormatAdapter, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the `given` values for fields of either format, by their paths.

    Raises `ConversionError` for a field that neither format has.
    """
    constants: dict[str, Any] = {}
    for name, value in given.items():
        try:
            constants |= constants_by_path(via, {name: value})
        except ConversionError as error:
            try:
                constants |= constants_by_path(own, {name: value})
            except ConversionError:
                raise error from None
    return constants


def merged(records: list[Record], *, repeats_answers: bool) -> Record:
    """Return one record of the records that were read from its rows.

    `repeats_answers` tells whether rows of one answer differ in their scores.
    """
    first = records[0]
    if len(records) == 1:
        return first
    base = base_id(first.id)
    own = first.id if base is None else base
    answers = [record.outputs for record in records]
    outputs = merged_answers(answers) if repeats_answers else list(chain(*answers))
    return replace(first, id=own, outputs=outputs)
