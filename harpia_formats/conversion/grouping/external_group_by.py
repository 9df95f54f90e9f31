"""Merge rows with the same prompt or id to one record, with temporary files on disk.

Records go to temporary files by the digest of the value that they are grouped by. The
groups of one file are collected in memory, which a single file fits into; then the
groups of all files are merged in the order of their first records.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import merge as merge_in_order
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.dedup.digests import digest_of
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record

#: Temporary files that records are distributed over.
FILES = 128
#: Bytes of each temporary file that are held in memory before it goes to disk.
SPOOL_BYTES = 64 * 1024
#: Fields that records can be grouped by.
KEYS = tuple(name for name in Record.__struct_fields__ if name != "outputs")
#: What stands in front of each item of a file: the number of the first record of the
#: group, the size of its place, and the size of the records.
_item_head = struct.Struct("<QII")
_numbered_id = re.compile(r"(?s)(.*)#([1-9]\d*)")


def base_id(id_: object) -> str | None:
    """Return `id_` without its `#` and number; None if it does not end so.

    A record that becomes several rows gets `#` and a number behind its id in each of
    them. An id may also end so by chance: rows belong together only if they have the
    same prompt, too.
    """
    match = _numbered_id.fullmatch(id_) if isinstance(id_, str) else None
    return match[1] if match else None


@dataclass(frozen=True, slots=True)
class MergedRecord:
    """The record of one group, which may be merged from several records."""

    record: Record
    #: The place of the first record of the group, as it was given.
    place: bytes
    fates: FieldFates


@dataclass(slots=True)
class ExternalGroupBy:
    """Collects records one by one, and yields one record for each group."""

    #: The field whose value is the same in all records of a group.
    key: str
    _files: list[IO[bytes] | None] = field(default_factory=lambda: [None] * FILES)
    _count: int = 0

    def add(self, record: Record, place: bytes) -> None:
        """Add a record with its place, in any encoding."""
        key = self._key_of(record)
        number = digest_of(key) % FILES
        file = self._files[number]
        if file is None:
            file = self._files[number] = SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - `_items` closes it
        text = encode([key, record])
        file.write(_item_head.pack(self._count, len(place), len(text)) + place + text)
        self._count += 1

    def groups(self) -> Iterator[MergedRecord]:
        """Yield a record for each group, in the order of their first records."""
        runs = [_grouped_file(file) for file in self._files if file is not None]
        self._files = []
        items = [_items(run) for run in runs]
        for _, place, text in merge_in_order(*items, key=lambda item: item[0]):
            members = [msgspec.convert(value, Record) for value in decode(text)]
            fates = FieldFates()
            yield MergedRecord(_merged(members, fates, self.key), place, fates)

    def _key_of(self, record: Record) -> str:
        """Return a text that is the same for the records of one group only."""
        if self.key == "id":
            base = base_id(record.id)
            if base is not None:
                # An id may end so by chance; the rows of one record ask the same.
                return f"={base}#" + _question_of(record)
            return f"#{self._count}" if record.id is UNSET else f"={record.id}"
        if self.key == "prompt":
            return _question_of(record) or f"#{self._count}"
        value = getattr(record, self.key)
        if value is UNSET:
            return f"#{self._count}"
        return "=" + encode([value]).decode()


def _question_of(record: Record) -> str:
    """Return the prompt, messages and system prompt as one text, "" without any."""
    values = [record.prompt, record.messages, record.system]
    if all(value is UNSET for value in values):
        return ""
    known = [None if value is UNSET else value for value in values]
    return "=" + encode(known).decode()


def _items(file: IO[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number, the place and the text of each item of a file; close it."""
    file.seek(0)
    while head := file.read(_item_head.size):
        number, place_size, text_size = _item_head.unpack(head)
        yield number, file.read(place_size), file.read(text_size)
    file.close()


def _grouped_file(file: IO[bytes]) -> IO[bytes]:
    """Return a file with the groups of `file`, in the order of their first records."""
    groups: dict[str, tuple[int, bytes, list[msgspec.Raw]]] = {}
    for number, place, text in _items(file):
        key, record = _decode_item(text)
        groups.setdefault(key, (number, place, []))[2].append(record)
    run: IO[bytes] = SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - `_items` closes it
    for number, place, records in groups.values():
        text = msgspec.json.encode(records)
        run.write(_item_head.pack(number, len(place), len(text)) + place + text)
    return run


_decode_item = msgspec.json.Decoder(tuple[str, msgspec.Raw]).decode


def _merged(members: list[Record], fates: FieldFates, key: str) -> Record:
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
            changes["id"] = base_id(first.id) or first.id
        elif any(text != texts[0] for text in texts):
            fates.dropped(name, "differs among rows that became one")
    fates.merged("outputs", "rows that became one")
    return replace(first, **changes)


def _json_or_none(value: Any) -> bytes | None:
    """Return the JSON text of a field, None if it is absent."""
    return None if value is UNSET else encode(value)
