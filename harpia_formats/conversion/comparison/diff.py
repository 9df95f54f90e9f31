"""Compare two data sets of any formats and orders, record by record, on disk.

Records are matched by their ids, or by their prompts where one side has no ids. Fields
that one of the two formats has no place for are not compared.
"""

import struct
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from harpia_formats.conversion.comparison.comparison_report import (
    DifferenceReport,
    FieldDifferences,
    compare_headers,
    differences_shown,
    first_by_path,
    refuse_quarantine,
)
from harpia_formats.conversion.comparison.differences import (
    CommonFields,
    Difference,
    decode_fields,
    encoded_differences,
)
from harpia_formats.conversion.comparison.record_partitions import (
    PARTS,
    RecordPartitions,
    StoredRecord,
)
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.mapping.chats import last_text_of
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.files.io.inputs import Input
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.mapped_format import (
    detect_mapped_format,
    has_free_names,
)
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.problem import ConversionError, Place, Problem
from harpia_formats.model.record import Record
from harpia_formats.model.report import FileCount, Report
from harpia_formats.validation.redaction import problems_shown, redaction_of

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


class Unmatched:
    """The records of one part of a data set that were not matched yet."""

    def __init__(self, records: RecordPartitions, part: int) -> None:
        self._records = records
        self._next = records.part(part)
        #: Where records are that were passed over, by the digests of their keys.
        self._passed: dict[int, deque[int]] = {}

    def take(self, wanted: StoredRecord) -> StoredRecord | None:
        """Return the first record with the key of `wanted`, None if there is none.

        It is not returned again. Where both data sets have one order, none is passed
        over.
        """
        passed = self._passed.get(wanted.digest, ())
        for offset in passed:
            record = self._records.at(offset)
            if record.key == wanted.key:
                self._remove(wanted.digest, offset)
                return record
        for record in self._next:
            if record.key == wanted.key:
                return record
            self._passed.setdefault(record.digest, deque()).append(record.offset)
        return None

    def _remove(self, digest: int, offset: int) -> None:
        offsets = self._passed[digest]
        offsets.remove(offset)
        if not offsets:
            del self._passed[digest]

    def rest(self) -> Iterator[StoredRecord]:
        """Yield the records that were not taken."""
        for offsets in self._passed.values():
            yield from map(self._records.at, offsets)
        yield from self._next


def _is_mapped(inputs: list[Input], format_: str | None) -> bool:
    """Tell whether the columns of inputs may have any names."""
    return has_free_names(format_ or detect_mapped_format(inputs))


class Comparison:
    """One comparison: iterate for the problems, then ask for the report.

    Raises `ConversionError`, `UnknownFormat` or `ValueError`.
    """

    def __init__(
        self,
        left: Iterable[Input],
        right: Iterable[Input],
        options: ConvertOptions,
        to: str | None = None,
    ) -> None:
        """Compare `left`, whose format is `options.from_`, with `right` in format `to`.

        A format that is None is recognised. `options.columns` are those of the data
        sets whose columns may have any names.
        """
        refuse_quarantine(options)
        self._options = options
        self._redaction = redaction_of(options)
        left, right = list(left), list(right)
        pairs = [(left, options.from_), (right, to)]
        mapped = [bool(options.columns) and _is_mapped(*pair) for pair in pairs]
        if options.columns and not any(mapped):
            raise ConversionError(
                "the map of columns is for csv and haystack, and neither side is seen "
                "to be one; say which one is, such as with `--from csv` or `--to csv`"
            )

        def reading(
            inputs: list[Input], format_: str | None, *, is_mapped: bool
        ) -> Reading:
            return Reading(
                inputs,
                format_,
                columns=options.columns if is_mapped else None,
                delimiter=options.delimiter,
                from_csv_safe=options.from_csv_safe,
                fail_fast=options.on_invalid is OnInvalid.FAIL,
                max_row_bytes=options.max_row_bytes,
                progress=options.progress,
                files=options,
            )

        readings = [
            reading(*pair, is_mapped=is_mapped)
            for pair, is_mapped in zip(pairs, mapped, strict=True)
        ]
        self._left, self._right = (
            DataSet(one, ModelSelection(options.model)) for one in readings
        )
        self._found = DifferenceReport()
        #: The number of the record of each example, by the path of its field.
        self._examples: dict[str, int] = {}
        #: The field by which records were matched: `id` or `prompt`.
        self.matched_by = "id"
        self._common_fields = CommonFields(())

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        yield from problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        try:
            yield from self._run()
        finally:
            self._left.records.close()
            self._right.records.close()

    def _run(self) -> Iterator[Problem]:
        yield from self._left.problems()
        self._right.by_id = self._left.by_id
        yield from self._right.problems()
        if self._failed():
            return
        self._left.check_model("first data set")
        self._right.check_model("second data set")
        adapters = [*self._left.adapters, *self._right.adapters]
        self._common_fields = CommonFields(
            tuple({id(one): one for one in adapters}.values())
        )
        readings = self._left.reading, self._right.reading
        compare_headers(*readings, self._common_fields, self._found)
        if not self._right.by_id:
            self._left.match_by_prompt()
            self.matched_by = "prompt"
        for part in range(PARTS):
            self._compare(part)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Paths of fields that are not compared: one side has no place for them."""
        found = self._common_fields.left_out
        if self._redaction is not None:
            found = dict.fromkeys(map(self._redaction.words.field, found))
        return tuple(found)

    def _failed(self) -> bool:
        reports = self._reports()
        if self._skips:
            return any(report.failures for report in reports)
        return not all(report.ok for report in reports)

    @property
    def _skips(self) -> bool:
        """Whether invalid records are left out."""
        return self._options.on_invalid is OnInvalid.SKIP

    def _reports(self) -> list[Report]:
        return [side.reading.tally.report() for side in (self._left, self._right)]

    def report(self) -> DifferenceReport:
        """Return the differences, with the report of an unreadable or invalid side."""
        reports = self._reports()
        wrong = [report for report in reports if not report.ok]
        wrong.sort(key=lambda report: not report.failures)
        # Files that were passed over are said, too.
        wrong += [report for report in reports if report.skipped]
        self._found.report = wrong[0] if wrong else reports[0]
        self._found.reports = tuple(reports)
        if self._skips:
            self._found.skipped = sum(
                file.invalid for report in reports for file in report.files
            )
        return differences_shown(self._found, self._redaction)

    def _compare(self, part: int) -> None:
        """Compare the records of one part of both sides."""
        others = Unmatched(self._right.records, part)
        for record in self._left.records.part(part):
            other = others.take(record)
            if other is None:
                self._found.only_left += 1
                where = "only in the first"
                self._add_unmatched(where, record, self._left)
            else:
                self._match(record, other)
        for record in others.rest():
            self._found.only_right += 1
            self._add_unmatched("only in the second", record, self._right)

    def _match(self, left: StoredRecord, right: StoredRecord) -> None:
        self._found.records += 1
        common = self._common_fields
        # Equal texts are equal records, and most records are equal.
        if left.text == right.text and common.is_all:
            return
        ours, theirs = decode_fields(left.text), decode_fields(right.text)
        common.reduce(ours)
        common.reduce(theirs)
        if ours == theirs:
            return
        found = first_by_path(encoded_differences(ours, theirs))
        self._found.differing += bool(found)
        for difference in found:
            path = difference.path
            line = self._found.fields.setdefault(path, FieldDifferences(path))
            self._add(line, difference, left, self._left)

    def _add_unmatched(self, where: str, record: StoredRecord, side: DataSet) -> None:
        """Count a record that only one side has; the first one is the example."""
        line = self._found.fields.setdefault(where, FieldDifferences(where))
        key = record.key.removeprefix("=")
        self._add(line, Difference(self.matched_by, key, UNSET), record, side)

    def _add(
        self,
        line: FieldDifferences,
        difference: Difference,
        record: StoredRecord,
        side: DataSet,
    ) -> None:
        """Count a difference; that of the first record is the example."""
        line.count += 1
        first = self._examples.get(line.path)
        if first is None or record.number < first:
            line.example, line.place = difference, side.place_of(record.place)
            self._examples[line.path] = record.number
