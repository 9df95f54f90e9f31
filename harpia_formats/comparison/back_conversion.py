"""Convert the rows of a round trip back, from the other format to the first one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.comparison.round_trip_ids import RoundTripIds
from harpia_formats.conversion.fill_scores import ScoreFiller
from harpia_formats.conversion.grouping.external_group_by import base_id
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.written_rows import WrittenRowCheck
from harpia_formats.mapping.constants import constants_by_path
from harpia_formats.mapping.extras import restore_extras, split_extras
from harpia_formats.mapping.requirements import (
    ConversionError,
    RowRequirements,
    missing_fields,
    row_requirements,
)
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.adapter import FormatAdapter, Row
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
    _mappers: dict[tuple[frozenset[str], bool], RecordMapper] = field(
        default_factory=dict
    )

    def convert(self, middle: Record, before: Record, number: int) -> Record:
        """Return the record of `middle` in the first format, where it was `before`.

        Raises `Unconvertible`.
        """
        if self.missing:
            path, _ = self.requirements.fields[0]
            raise Unconvertible(path, self.missing)
        self.requirements.check(middle)
        mapper = self._mapper_for(before)
        rows = mapper.map(with_id(middle, mapper, number)).rows
        self.ids.add_rows(self.format, rows, back=True)
        return merged([read_row(row, self.adapter) for row in rows])

    def _mapper_for(self, before: Record) -> RecordMapper:
        """Return a mapper that fills no field that `before` did not have."""
        had = frozenset(self.constants).intersection(field_paths(before))
        scored = any(output.scores for output in before.outputs)
        key = had, scored
        if key not in self._mappers:
            constants = {path: self.constants[path] for path in sorted(had)}
            scorer = self.scorer if scored else None
            self._mappers[key] = RecordMapper(
                self.adapter,
                self.options.choices(constants),
                scorer,
                WrittenRowCheck(self.format),
            )
        return self._mappers[key]

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


def with_id(record: Record, mapper: RecordMapper, number: int) -> Record:
    """Return `record` with its number as id, if it has none and rows need one."""
    if record.id is UNSET and mapper.needs_id:
        return replace(record, id=str(number))
    return record


def read_row(row: Row, adapter: FormatAdapter) -> Record:
    """Return the record of a row that `adapter` wrote."""
    bare, extras = split_extras(row, adapter)
    return restore_extras(adapter.read(bare), extras)


def merged(records: list[Record]) -> Record:
    """Return one record of the records that were read from its rows."""
    first = records[0]
    if len(records) == 1:
        return first
    base = base_id(first.id)
    own = first.id if base is None else base
    outputs = [output for record in records for output in record.outputs]
    return replace(first, id=own, outputs=outputs)
