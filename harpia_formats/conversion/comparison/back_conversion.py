"""Convert the rows of a round trip back, from the other format to the first one."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.destination import WrittenRowCheck
from harpia_formats.conversion.fill_scores import ScoreFiller
from harpia_formats.conversion.mapping.compiled_fields import PresenceKeys
from harpia_formats.conversion.mapping.extra_fields import ReadRow, row_reader
from harpia_formats.conversion.mapping.field_constants import constants_by_path
from harpia_formats.conversion.mapping.questions import (
    base_id,
    differing_fields,
    merged_answers,
)
from harpia_formats.conversion.mapping.questions import question_text as question_of
from harpia_formats.conversion.mapping.record_program import (
    MAX_RECORD_OUTCOMES,
    RecordProgram,
)
from harpia_formats.conversion.mapping.requirements import (
    RowRequirements,
    find_field_path,
    missing_fields,
    row_requirements,
)
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.record import Record, field_paths
from harpia_formats.validation.dedup.digests import Digests
from harpia_formats.validation.dedup.identity import IdentityReader

#: Ids that are added at once, which takes a fraction of the time for each.
_AT_ONCE = 256


@dataclass(slots=True)
class HeldIds:
    """Ids of rows or records; to be closed."""

    _digests: Digests = field(default_factory=Digests)
    _held: list[str] = field(default_factory=list)

    def add(self, ids: Sequence[str]) -> None:
        """Add some ids."""
        self._held += ids
        if len(self._held) >= _AT_ONCE:
            self._add_held()

    def _add_held(self) -> None:
        self._digests.add(self._held)
        self._held = []

    def repeated(self) -> int:
        """Return how often an id was added again."""
        self._add_held()
        return self._digests.repeated().surplus

    def close(self) -> None:
        """Delete the temporary file."""
        self._digests.close()


@dataclass(slots=True)
class WrittenIds:
    """The ids of the rows of one format, which must differ."""

    format: Format
    ids: HeldIds = field(default_factory=HeldIds)
    identity: IdentityReader | None = field(init=False)

    def __post_init__(self) -> None:
        paths = self.format.identity_paths
        by_text = self.format.id_by_text
        self.identity = IdentityReader(paths, by_text=by_text) if paths else None

    def add(self, rows: Sequence[Row]) -> None:
        """Add the ids of some rows."""
        if self.identity is not None:
            self.ids.add(self.identity.keys_of_values(rows))


@dataclass(slots=True)
class RoundTripIds:
    """Collects the ids of a round trip; to be closed."""

    #: The ids in the other format, and in the first one again, by the ids of formats.
    written: dict[tuple[str, bool], WrittenIds] = field(default_factory=dict)
    #: The ids of records, and what their rows are joined by.
    _records: HeldIds = field(default_factory=HeldIds)
    _joined: HeldIds = field(default_factory=HeldIds)
    _is_split: bool = False

    def add_rows(self, format_: Format, rows: Sequence[Row], *, back: bool) -> None:
        """Add rows as they are written in `format_`, on the way `back` or there."""
        key = format_.id, back
        if key not in self.written:
            self.written[key] = WrittenIds(format_)
        self.written[key].add(rows)

    def add_record(self, parts: Sequence[Record]) -> None:
        """Add what is read of the rows of one record in the other format.

        Raises `Unconvertible` if these are several that cannot be joined again: they
        have no id, or do not ask the same.
        """
        if len(parts) > 1:
            self._is_split = True
            if parts[0].id is UNSET:
                reason = (
                    f"the record becomes {len(parts)} rows, which have no id by which "
                    "they could be joined again"
                )
                raise Unconvertible("id", reason)
        first = parts[0]
        for part in parts[1:]:
            for name in differing_fields(first, part):
                reason = (
                    f"the record becomes {len(parts)} rows, which cannot be joined "
                    f"again: they do not have the same {name}"
                )
                raise Unconvertible(name, reason)
        if first.id is UNSET:
            return
        base = base_id(first.id)
        joined = str(first.id) if base is None else base
        self._records.add([joined if len(parts) > 1 else str(first.id)])
        self._joined.add([f"{joined}\n{question_of(first)}"])

    def problems(self) -> Iterator[tuple[int, str]]:
        """Yield how many ids repeat, and why that makes a conversion fail."""
        for written in self.written.values():
            count = written.ids.repeated()
            if count:
                yield count, f"several rows of {written.format.id} would have one id"
        if self._is_split:
            count = max(ids.repeated() for ids in (self._records, self._joined))
            if count:
                yield count, "rows of several records would be joined by one id"

    def close(self) -> None:
        """Delete the temporary files."""
        written = (each.ids for each in self.written.values())
        for ids in (self._records, self._joined, *written):
            ids.close()


@dataclass(slots=True)
class RowsOfRecords:
    """Makes the rows of records as a mapper does, by its program."""

    mapper: RecordMapper
    #: Tells whether the rows of a record are valid; the mapper checks rows by it, too.
    check: WrittenRowCheck
    _program: RecordProgram = field(init=False)
    _needs_id: bool = field(init=False)
    _no_outcomes: FieldOutcomes = field(default_factory=FieldOutcomes)

    def __post_init__(self) -> None:
        self._program = RecordProgram(self.mapper)
        self._needs_id = self.mapper.needs_id and "id" not in self.mapper.constants

    def of(self, record: Record, number: int) -> list[Row]:
        """Return the rows of `record`, with its number as id if they need and lack one.

        Raises `Unconvertible`.
        """
        if record.id is UNSET and self._needs_id:
            record = replace(record, id=str(number))
        try:
            rows, _ = self._program.map(record, 0, self._no_outcomes)
        except Unconvertible:
            rows = []
        if rows and self.check.valid_lines(rows) is not None:
            return rows
        # The mapper has the reason, if there is one.
        return self.mapper.map(record).rows


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
            if len(self._had) < MAX_RECORD_OUTCOMES:
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

    A name that both have is that of `via`. Raises `ConversionError` for a field that
    neither has, and for one that is given by two names.
    """
    constants: dict[str, Any] = {}
    for name, value in given.items():
        found = (one for one in (via, own) if find_field_path(name, one) is not None)
        constants |= constants_by_path(next(found, via), {name: value}, constants)
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
