"""Merge rows with the same prompt or id to one record, with temporary files on disk.

A group is the records that have the same value in the field that they are grouped by,
and ask the same. Records go to temporary files by the digest of both. Two groups with
one value cannot both be written; they are found by the digests of the values.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.questions import (
    base_id,
    differing_fields,
    merged_answers,
)
from harpia_formats.conversion.mapping.questions import question_text as question_of
from harpia_formats.model.describe import short_json
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import FieldOutcome, FieldOutcomes
from harpia_formats.model.problem import ConversionError, Place
from harpia_formats.model.record import Record, record_of
from harpia_formats.model.spelling import hint_on
from harpia_formats.validation.dedup.digests import Digests, digest_of
from harpia_formats.validation.dedup.item_partitions import Item, ItemPartitions
from harpia_formats.validation.dedup.repeated_digests import (
    Occurrence,
    RepeatedDigests,
    repeated_digest_batches,
)

#: Values that are compared as texts; for more, equal digests are proof.
NAMED = 100_000
#: Fields that records can be grouped by.
KEYS = tuple(name for name in Record.__struct_fields__ if name != "outputs")


@dataclass(frozen=True, slots=True)
class MergedRecord:
    """The record of one group, which may be merged from several records."""

    record: Record
    #: The place of the first record of the group, as it was given.
    place: bytes
    outcomes: FieldOutcomes


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two groups that have one value in the field, and do not ask the same."""

    value: str
    #: The first record and its place; None where too many are to be remembered.
    first: Record | None
    first_place: bytes
    second: Record
    second_place: bytes


@dataclass(slots=True)
class ExternalGroupBy:
    """Collects records one by one, and yields one record for each group.

    After the last `add` come `conflicts`, then `groups`, and at last `close`.
    """

    #: The field whose value is the same in all records of a group.
    key: str
    #: Whether equal answers of different records of a group become one.
    merges_answers: bool = False
    _items: ItemPartitions = field(default_factory=ItemPartitions)

    def add(
        self, record: Record, place: bytes, outcomes: Sequence[FieldOutcome]
    ) -> None:
        """Add a record with its place, in any encoding, and its outcomes so far."""
        value = self._value_of(record)
        if value is None:
            key, alone = f"#{self._items.count}", None
        else:
            key = f"{len(value)}={value}{question_of(record)}"
            # An id may end with # and a number by chance, and then stays as it is.
            alone = str(record.id) if self.key == "id" else value
        self._items.add(key, place, encode([key, value, alone, record, outcomes]))

    def _value_of(self, record: Record) -> str | None:
        """Return the value that a record is grouped by as text, None if it has none."""
        if self.key == "id":
            if record.id is UNSET:
                return None
            base = base_id(record.id)
            return str(record.id) if base is None else base
        if self.key == "prompt":
            # The prompt may be a chat, and is not the same for another system.
            values = [record.prompt, record.messages, record.system]
            if all(value is UNSET for value in values):
                return None
            known = [None if value is UNSET else value for value in values]
            return encode(known).decode()
        value = getattr(record, self.key)
        return None if value is UNSET else encode([value]).decode()

    def conflicts(self) -> Iterator[Conflict]:
        """Yield each group whose value a group before it has.

        They are in order, unless so many values repeat that the groups are read several
        times. Raises `SourceError` if a temporary file fails.
        """
        with Digests() as digests:
            self._items.group(partial(_grouped, digests=digests))
            for repeated in repeated_digest_batches(digests):
                yield from self._repeats(repeated)

    def _repeats(self, repeated: RepeatedDigests) -> Iterator[Conflict]:
        """Read the groups again; the first `NAMED` values are compared as texts."""
        firsts: dict[str, tuple[Record, bytes]] = {}
        for _, place, text in self._items.groups():
            value, records, _ = _decode_group(text)
            if value is None:
                continue
            occurrence = repeated.record(digest_of(value))
            if occurrence is Occurrence.ONLY:
                continue
            record = record_of(decode(bytes(records[0])))
            if value in firsts:
                yield Conflict(value, *firsts[value], record, place)
            elif len(firsts) < NAMED:
                firsts[value] = (replace(record, outputs=[]), place)
            elif occurrence is Occurrence.AGAIN:
                yield Conflict(value, None, b"", record, place)

    def groups(self) -> Iterator[MergedRecord]:
        """Yield a record for each group, in the order of their first records."""
        for _, place, text in self._items.groups():
            _, records, entries = _decode_group(text)
            members = [record_of(decode(bytes(member))) for member in records]
            outcomes = FieldOutcomes(entries)
            merged = _merged(members, outcomes, self.key)
            if self.merges_answers and len(members) > 1:
                outputs = merged_answers([member.outputs for member in members])
                merged = replace(merged, outputs=outputs)
            yield MergedRecord(merged, place, outcomes)

    def close(self) -> None:
        """Delete the temporary files."""
        self._items.close()


@dataclass(slots=True)
class _Group:
    """The records of one group."""

    number: int
    place: bytes
    value: str | None
    #: The value if the group has one record only.
    alone: str | None
    records: list[msgspec.Raw] = field(default_factory=list)
    #: What became of fields of any of them, each outcome once.
    outcomes: dict[FieldOutcome, None] = field(default_factory=dict)


def _grouped(items: Iterator[Item], digests: Digests) -> Iterator[Item]:
    """Yield the groups of `items`, in the order of their first records.

    The value that no other group may have is added to `digests`.
    """
    groups: dict[str, _Group] = {}
    for number, place, text in items:
        key, value, alone, record, outcomes = _decode_item(text)
        group = groups.get(key)
        if group is None:
            group = groups[key] = _Group(number, place, value, alone)
        group.records.append(record)
        group.outcomes |= dict.fromkeys(outcomes)
    values = []
    for group in groups.values():
        value = group.alone if len(group.records) == 1 else group.value
        if value is not None:
            values.append(value)
        text = msgspec.json.encode([value, group.records, [*group.outcomes]])
        yield Item(group.number, group.place, text)
    digests.add(values)


_decode_item = msgspec.json.Decoder(
    tuple[str, str | None, str | None, msgspec.Raw, list[FieldOutcome]]
).decode
_decode_group = msgspec.json.Decoder(
    tuple[str | None, list[msgspec.Raw], list[FieldOutcome]]
).decode


def _merged(members: list[Record], outcomes: FieldOutcomes, key: str) -> Record:
    """Return one record with the outputs of all `members`, and add what differs."""
    first = members[0]
    if len(members) == 1:
        return first
    changes: dict[str, Any] = {
        "outputs": [output for member in members for output in member.outputs]
    }
    for name in KEYS:
        texts = [_json_or_none(getattr(member, name)) for member in members]
        if name == "id" and key == "id":
            base = base_id(first.id)
            changes["id"] = first.id if base is None else base
        elif any(text != texts[0] for text in texts):
            outcomes.dropped(name, "differs among rows that became one")
    outcomes.merged("outputs", "rows that became one")
    return replace(first, **changes)


def _json_or_none(value: Any) -> bytes | None:
    """Return the JSON text of a field, None if it is absent."""
    return None if value is UNSET else encode(value)


class RecordGroup(NamedTuple):
    """The record of one group, with the file and the place of its first record."""

    record: Record
    outcomes: FieldOutcomes
    #: The index of the file.
    file: int
    place: Place


class GroupConflict(NamedTuple):
    """A record that cannot be in the group of a record before it."""

    message: str
    #: The index of the file of the later record.
    file: int
    place: Place


class RecordGroups:
    """Collects records one by one, and yields one record for each group.

    After the last `add` come `conflicts`, then the groups, and at last `close`. Raises
    `ConversionError` where records cannot be grouped by `key`.
    """

    def __init__(self, key: str) -> None:
        if key not in KEYS:
            raise ConversionError(
                f"records cannot be grouped by {key!r}{hint_on(key, KEYS)}"
            )
        self._key = key
        self._group_by = ExternalGroupBy(key)

    def merge_answers(self) -> None:
        """Make one answer of equal answers of different records of a group."""
        self._group_by.merges_answers = True

    def add(
        self, record: Record, outcomes: FieldOutcomes, file: int, place: Place
    ) -> None:
        """Add a record of the file with index `file`, and its outcomes so far."""
        self._group_by.add(record, pickle.dumps((file, place)), outcomes.entries)

    def conflicts(self) -> Iterator[GroupConflict]:
        """Yield the records that have the value of another one and ask something else.

        Raises `SourceError` if a temporary file fails.
        """
        for conflict in self._group_by.conflicts():
            file, place = pickle.loads(conflict.second_place)  # noqa: S301 - pickled by `add`
            yield GroupConflict(self._message(conflict, place), file, place)

    def _message(self, conflict: Conflict, place: Place) -> str:
        """Return why the records of a conflict cannot be one, with both of them."""
        owner, differing = "a record before it", ["input"]
        if conflict.first is not None:
            _, first = pickle.loads(conflict.first_place)  # noqa: S301 - pickled by `add`
            owner = f"record {first.record:,}"
            if first.path != place.path:
                owner += f" of {first.path}"
            differing = differing_fields(conflict.first, conflict.second)
        value = self._key
        if self._key == "id":
            id_ = conflict.second.id
            is_own = str(id_) == conflict.value
            value += f" {short_json(id_ if is_own else conflict.value)}"
        number = f"record {place.record:,}"
        if not differing:
            return f"{number} would get the {value}, which is that of {owner}"
        return (
            f"{number} has the {value} of {owner}, but not the same "
            f"{' and '.join(differing)}"
        )

    def __iter__(self) -> Iterator[RecordGroup]:
        for merged in self._group_by.groups():
            file, place = pickle.loads(merged.place)  # noqa: S301 - pickled by `add`
            yield RecordGroup(merged.record, merged.outcomes, file, place)

    def close(self) -> None:
        """Delete the temporary files."""
        self._group_by.close()
