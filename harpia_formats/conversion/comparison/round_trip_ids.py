"""Find ids that would make one of the two conversions of a round trip fail."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.conversion.mapping.question import differing_fields, question_of
from harpia_formats.conversion.mapping.questions import base_id
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record
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
