"""The way back of a round trip: from rows of another format to what they were."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.fill_scores import ScoreFiller
from harpia_formats.conversion.grouping.external_group_by import base_id
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.mapping.constants import constants_by_path
from harpia_formats.mapping.extras import restore_extras, split_extras
from harpia_formats.mapping.requirements import ConversionError, check_requirements
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record, field_paths


@dataclass(slots=True)
class BackConversion:
    """The way back, on which constants fill what a record had and is lost."""

    adapter: FormatAdapter
    options: ConvertOptions
    constants: dict[str, Any]
    filling: ScoreFiller | None
    #: What rows need that the other format never has, and what gives it.
    lacking: str
    _pairings: dict[tuple[frozenset[str], bool], RecordMapper] = field(
        default_factory=dict
    )

    def of(self, middle: Record, before: Record, number: int) -> Record:
        """Return what `before` is when it came back as `middle`.

        Raises `Unconvertible`.
        """
        mapper = self._pairing_for(before)
        rows = mapper.map(with_id(middle, mapper, number)).rows
        return together([read_back(each, self.adapter) for each in rows])

    def _pairing_for(self, before: Record) -> RecordMapper:
        """Return what fills nothing that `before` did not have."""
        had = frozenset(self.constants).intersection(field_paths(before))
        scored = any(each.scores for each in before.outputs)
        key = had, scored
        if key not in self._pairings:
            given = {path: self.constants[path] for path in sorted(had)}
            filling = self.filling if scored else None
            self._pairings[key] = RecordMapper(
                self.adapter, self.options.choices(given), filling
            )
        return self._pairings[key]

    def why_not(self, error: Unconvertible) -> str:
        """Return why a record does not come back, and what would bring it back."""
        is_lacking = self.lacking and "--set" in error.help
        return f"on the way back: {self.lacking if is_lacking else error}"


def lack_of(  # noqa: PLR0913 - two formats, and what is given beside
    source: Format,
    source_spoke: FormatAdapter,
    target: Format,
    target_spoke: FormatAdapter,
    constants: Mapping[str, Any],
    *,
    scored: bool,
) -> str:
    """Return what `target` needs that `source` never has, and its cure, or ""."""
    try:
        check_requirements(
            source, source_spoke, target, target_spoke, constants, scored=scored
        )
    except ConversionError as error:
        return str(error)
    return ""


def constants_of_both(
    via: FormatAdapter, own: FormatAdapter, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is given for fields that either format has, by their paths.

    Raises `ConversionError` for what neither has.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        try:
            found |= constants_by_path(via, {name: value})
        except ConversionError as error:
            try:
                found |= constants_by_path(own, {name: value})
            except ConversionError:
                raise error from None
    return found


def with_id(record: Record, mapper: RecordMapper, number: int) -> Record:
    """Return `record` with its number for an id, where rows must have one."""
    if record.id is UNSET and mapper.needs_id:
        return replace(record, id=str(number))
    return record


def read_back(row: Row, adapter: FormatAdapter) -> Record:
    """Return the record that a row written by `adapter` is."""
    bare, kept = split_extras(row, adapter)
    return restore_extras(adapter.read(bare), kept)


def together(records: list[Record]) -> Record:
    """Return the record whose rows these are."""
    first = records[0]
    if len(records) == 1:
        return first
    base = base_id(first.id)
    own = first.id if base is None else base
    references = first.references
    if any(each.references != references for each in records):
        gathered = [text for each in records for text in each.references or ()]
        references = list(dict.fromkeys(gathered))
    outputs = [output for each in records for output in each.outputs]
    return replace(first, id=own, references=references, outputs=outputs)
