"""Make one record of the rows that are of one prompt, or of one id, out of core.

Records go to temporary files by the digest of what they are grouped by. Each file is
small enough to be put together in memory; the groups are then merged in the order in
which their first records came.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import merge as merged_by_order
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.grouping.expanded_ids import expanded_id
from harpia_formats.dedup.digests import digest_of
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record

#: Files that records are spread over, and bytes of each that memory holds.
FILES, HELD = 128, 64 * 1024
#: Fields that records can be grouped by.
KEYS = tuple(each for each in Record.__struct_fields__ if each != "outputs")
_head = struct.Struct("<QII")


@dataclass(frozen=True, slots=True)
class Grouped:
    """A record that was made of several, or that is alone."""

    record: Record
    #: Where the first of them was, as it was given.
    place: bytes
    fates: FieldFates


@dataclass(slots=True)
class Grouping:
    """Takes records one by one, and gives back one for each group."""

    #: The field that records of one group have alike.
    key: str
    _files: list[IO[bytes] | None] = field(default_factory=lambda: [None] * FILES)
    _count: int = 0

    def add(self, record: Record, place: bytes) -> None:
        """Take a record, with where it was."""
        key = self._key_of(record)
        number = digest_of(key) % FILES
        file = self._files[number]
        if file is None:
            file = self._files[number] = SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed when read
        text = encode([key, record])
        file.write(_head.pack(self._count, len(place), len(text)) + place + text)
        self._count += 1

    def groups(self) -> Iterator[Grouped]:
        """Yield a record for each group, in the order of their first records."""
        runs = [_run_of(each) for each in self._files if each is not None]
        self._files = []
        flows = [_items(each) for each in runs]
        for _, place, text in merged_by_order(*flows, key=lambda each: each[0]):
            members = [_record_of(each) for each in decode(text)]
            fates = FieldFates()
            yield Grouped(_merged(members, fates, self.key), place, fates)

    def _key_of(self, record: Record) -> str:
        if self.key == "id":
            base = expanded_id(record.id)
            if base is not None:
                # Other ids may end like ours; those of one record ask the same.
                return f"={base}#" + _asked_by(record)
            return f"#{self._count}" if record.id is UNSET else f"={record.id}"
        values = [getattr(record, self.key)]
        if self.key == "prompt":
            return _asked_by(record) or f"#{self._count}"
        if all(each is UNSET for each in values):
            return f"#{self._count}"
        return (
            "=" + encode([None if each is UNSET else each for each in values]).decode()
        )


def _asked_by(record: Record) -> str:
    """Return what a record asks as one text, "" if it asks nothing."""
    values = [record.prompt, record.messages, record.system]
    if all(each is UNSET for each in values):
        return ""
    return "=" + encode([None if each is UNSET else each for each in values]).decode()


def _items(file: IO[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    file.seek(0)
    while head := file.read(_head.size):
        number, of_place, of_text = _head.unpack(head)
        yield number, file.read(of_place), file.read(of_text)
    file.close()


def _run_of(file: IO[bytes]) -> IO[bytes]:
    """Return a file with the groups of one file, each at its first record."""
    groups: dict[str, tuple[int, bytes, list[msgspec.Raw]]] = {}
    for number, place, text in _items(file):
        key, record = _parts(text)
        groups.setdefault(key, (number, place, []))[2].append(record)
    run: IO[bytes] = SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed when read
    for number, place, records in groups.values():
        whole = msgspec.json.encode(records)
        run.write(_head.pack(number, len(place), len(whole)) + place + whole)
    return run


_parts = msgspec.json.Decoder(tuple[str, msgspec.Raw]).decode


def _record_of(value: Any) -> Record:
    return msgspec.convert(value, Record)


def _merged(members: list[Record], fates: FieldFates, key: str) -> Record:
    first = members[0]
    if len(members) == 1:
        return first
    changes: dict[str, Any] = {
        "outputs": [each for member in members for each in member.outputs]
    }
    for name in KEYS:
        values = [getattr(each, name) for each in members]
        if name == "id" and key == "id":
            changes["id"] = expanded_id(first.id) or first.id
        elif any(encode_or_none(each) != encode_or_none(values[0]) for each in values):
            fates.dropped(name, "differs among rows that became one")
    fates.merged("outputs", "rows that became one")
    return replace(first, **changes)


def encode_or_none(value: Any) -> bytes | None:
    """Return the JSON text of a field, None if it is not there."""
    return None if value is UNSET else encode(value)
