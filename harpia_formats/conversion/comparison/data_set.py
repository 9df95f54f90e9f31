"""Read one side of a comparison, and keep its records by what they are matched by."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from harpia_formats.conversion.comparison.record_partitions import RecordPartitions
from harpia_formats.conversion.mapping.chats import last_text_of
from harpia_formats.conversion.mapping.select_model import ModelSelection
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.problem import Place, Problem
from harpia_formats.model.record import Record
from harpia_formats.model.report import FileCount

#: The place of a record: the index of its file, line, column, offset in bytes, and its
#: number. The id that its row has stands behind it as JSON.
_place = struct.Struct("<IQQQQ")


class _Question(Struct):
    """The fields of a record that tell its prompt."""

    prompt: str | UnsetType = UNSET
    messages: list[dict[str, Any]] | UnsetType = UNSET


_question_of = msgspec.json.Decoder(_Question).decode


@dataclass(slots=True)
class DataSet:
    """The records of one data set, distributed by their ids or by their prompts."""

    reading: Reading
    #: Selects the answers of one model, if the options ask for that.
    models: ModelSelection
    #: Whether records are matched by their ids, as far as all of them have some.
    by_id: bool = True
    adapters: list[FormatAdapter] = field(default_factory=list)
    records: RecordPartitions = field(default_factory=RecordPartitions)
    #: The path of each file, and the key of the id in its rows.
    _files: list[tuple[str, str]] = field(default_factory=list)
    #: Whether the answers of the file that is read have models.
    _has_models: bool = False

    def problems(self) -> Iterator[Problem]:
        """Read all records and distribute them; yield the problems of the input."""
        yield from self.reading.problems(self._receive, self._begin, lambda _: None)

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        adapter = adapter_of(variant.format)
        self.adapters.append(adapter)
        self._files.append((count.path, variant.format.id_key))
        self._has_models = adapter.carries("outputs.model")

    def check_model(self, which: str) -> None:
        """Raise `ConversionError` if no answer is of the selected model."""
        if any(adapter.carries("outputs.model") for adapter in self.adapters):
            self.models.check(f" in the {which}")

    def _receive(self, placed: PlacedRecord) -> None:
        record = placed.record
        if self._has_models:
            record = self.models.select(record)
        if self.by_id and record.id is UNSET:
            self.match_by_prompt()
        file, start = len(self._files) - 1, placed.start
        place = _place.pack(file, start.line, start.column, start.offset, placed.number)
        key = _key_of_id(record) if self.by_id else _key_of_prompt(record)
        self.records.add(
            self.records.count, key, place + encode(placed.row_id), encode(record)
        )

    def match_by_prompt(self) -> None:
        """Distribute the records by their prompts, also those that come."""
        if not self.by_id:
            return
        self.by_id = False
        if self.records.count:
            by_id, self.records = self.records, RecordPartitions()
            for stored in by_id.all():
                key = _key_of_prompt(_question_of(stored.text))
                self.records.add(stored.number, key, stored.place, stored.text)
            by_id.close()

    def place_of(self, packed: bytes) -> Place:
        """Return the place of the first byte of a record's row."""
        file, line, column, offset, number = _place.unpack_from(packed)
        path, id_key = self._files[file]
        place = Place(
            path=path,
            line=line,
            column=column + 1,
            end_column=column + 2,
            byte_offset=offset,
            record=number,
            record_id=decode(packed[_place.size :]),
            record_id_key=id_key,
        )
        return self.reading.tally.in_member(place)


def _key_of_id(record: Record) -> str:
    """Return the text by which a record is matched by its id."""
    return f"={record.id}"


def _key_of_prompt(record: Record | _Question) -> str:
    """Return the text by which a record is matched by its prompt."""
    prompt: Any = record.prompt
    if prompt is UNSET:
        prompt = last_text_of(record.messages or [], "user")
    return "?" if prompt is UNSET else f"={prompt}"
