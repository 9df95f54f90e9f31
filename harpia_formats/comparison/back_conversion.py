"""The way back of a round trip: from rows of another format to what they were."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.fill_scores import Filling
from harpia_formats.conversion.grouping.expanded_ids import expanded_id
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.mapping.constants import constants_for
from harpia_formats.mapping.extras import restored, taken_out
from harpia_formats.mapping.requirements import ConversionError, check_needs
from harpia_formats.mapping.to_rows import Pairing
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record, paths_in


@dataclass(slots=True)
class WayBack:
    """The way back, on which constants fill what a record had and is lost."""

    adapter: FormatAdapter
    options: ConvertOptions
    constants: dict[str, Any]
    filling: Filling | None
    #: What rows need that the other format never has, and what gives it.
    lacking: str
    _pairings: dict[tuple[frozenset[str], bool], Pairing] = field(default_factory=dict)

    def of(self, middle: Record, before: Record, number: int) -> Record:
        """Return what `before` is when it came back as `middle`.

        Raises `Unconvertible`.
        """
        pairing = self._pairing_for(before)
        rows = pairing.written(with_id(middle, pairing, number)).rows
        return together([read_back(each, self.adapter) for each in rows])

    def _pairing_for(self, before: Record) -> Pairing:
        """Return what fills nothing that `before` did not have."""
        had = frozenset(self.constants).intersection(paths_in(before))
        scored = any(each.scores for each in before.outputs)
        key = had, scored
        if key not in self._pairings:
            given = {path: self.constants[path] for path in sorted(had)}
            filling = self.filling if scored else None
            self._pairings[key] = Pairing(
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
        check_needs(
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
            found |= constants_for(via, {name: value})
        except ConversionError as error:
            try:
                found |= constants_for(own, {name: value})
            except ConversionError:
                raise error from None
    return found


def with_id(record: Record, pairing: Pairing, number: int) -> Record:
    """Return `record` with its number for an id, where rows must have one."""
    if record.id is UNSET and pairing.needs_id:
        return replace(record, id=str(number))
    return record


def read_back(row: Row, adapter: FormatAdapter) -> Record:
    """Return the record that a row written by `adapter` is."""
    bare, kept = taken_out(row, adapter)
    return restored(adapter.read(bare), kept)


def together(records: list[Record]) -> Record:
    """Return the record whose rows these are."""
    first = records[0]
    if len(records) == 1:
        return first
    base = expanded_id(first.id)
    own = first.id if base is None else base
    references = first.references
    if any(each.references != references for each in records):
        gathered = [text for each in records for text in each.references or ()]
        references = list(dict.fromkeys(gathered))
    outputs = [output for each in records for output in each.outputs]
    return replace(first, id=own, references=references, outputs=outputs)
