"""Compare two data sets of any formats and orders, record by record, on disk.

Records are matched by their ids, or by their prompts where one side has no ids. Fields
that one of the two formats has no place for are not compared.
"""

import pickle
import struct
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec
from msgspec import UNSET

from harpia_formats.comparison.differences import Difference
from harpia_formats.comparison.headers import compare_headers
from harpia_formats.comparison.report import (
    DifferenceReport,
    FieldDifferences,
    first_by_path,
    refuse_quarantine,
)
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.dedup.digests import digest_of
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.io.inputs import Input
from harpia_formats.mapping.chats import last_text_of
from harpia_formats.mapping.common_fields import CommonFields
from harpia_formats.mapping.mapped_format import (
    FREE_COLUMN_FORMATS,
    detect_mapped_format,
)
from harpia_formats.mapping.requirements import ConversionError
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record
from harpia_formats.model.report import FileCount, Report
from harpia_formats.reading.reader import Reading
from harpia_formats.reading.record_stream import PlacedRecord
from harpia_formats.registry import adapter_of

#: Temporary files that the records of a data set are distributed over.
FILES = 64
#: Bytes of each temporary file that are held in memory before it goes to disk.
SPOOL_BYTES = 64 * 1024
#: Stands in front of each item of a file: the number of the record, the size of its
#: place, and the size of its text.
_item_head = struct.Struct("<QII")
_decode_item = msgspec.json.Decoder(tuple[str, msgspec.Raw]).decode


def _spool() -> IO[bytes]:
    """Return a temporary file, which is closed by `_items` or `_DataSet.close`."""
    return SpooledTemporaryFile(SPOOL_BYTES)


@dataclass(slots=True)
class _DataSet:
    """The records of one data set, in temporary files."""

    reading: Reading
    #: Selects the answers of one model, if the options ask for that.
    models: ModelSelection
    adapters: list[FormatAdapter] = field(default_factory=list)
    files: list[IO[bytes]] = field(default_factory=list)
    records: IO[bytes] = field(default_factory=_spool)
    has_ids: bool = True
    #: Whether the answers of the file that is read have models.
    _has_models: bool = False

    def problems(self) -> Iterator[Problem]:
        """Read all records into a temporary file; yield the problems of the input."""
        yield from self.reading.problems(self._receive, self._begin, lambda _: None)

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        del count
        adapter = adapter_of(variant.format)
        self.adapters.append(adapter)
        self._has_models = adapter.carries("outputs.model")

    def check_model(self, which: str) -> None:
        """Raise `ConversionError` if no answer is of the selected model."""
        if any(adapter.carries("outputs.model") for adapter in self.adapters):
            self.models.check(f" in the {which}")

    def _receive(self, placed: PlacedRecord) -> None:
        record = (
            self.models.select(placed.record) if self._has_models else placed.record
        )
        self.has_ids = self.has_ids and record.id is not UNSET
        place = pickle.dumps(placed.row.place(0, 1, ()))
        text = encode(record)
        self.records.write(_item_head.pack(0, len(place), len(text)) + place + text)

    def distribute(self, *, by_id: bool) -> None:
        """Distribute the records over files by the key that they are matched by."""
        self.files = [_spool() for _ in range(FILES)]
        for number, (_, place, text) in enumerate(_items(self.records)):
            record = msgspec.convert(decode(text), Record)
            key = _key_of(record, by_id=by_id)
            item = b"[" + encode(key) + b"," + text + b"]"
            head = _item_head.pack(number, len(place), len(item))
            self.files[digest_of(key) % FILES].write(head + place + item)

    def close(self) -> None:
        """Close all temporary files."""
        for file in (self.records, *self.files):
            file.close()


def _items(file: IO[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number, the place and the text of each item of a file; close it."""
    file.seek(0)
    while head := file.read(_item_head.size):
        number, place_size, text_size = _item_head.unpack(head)
        yield number, file.read(place_size), file.read(text_size)
    file.close()


def _key_of(record: Record, *, by_id: bool) -> str:
    """Return the text by which a record is matched: its id, or its prompt."""
    if by_id:
        return f"={record.id}"
    prompt: Any = record.prompt
    if prompt is UNSET:
        prompt = last_text_of(record.messages or [], "user")
    return "?" if prompt is UNSET else f"={prompt}"


def _is_mapped(inputs: list[Input], format_: str | None) -> bool:
    """Tell whether the columns of inputs may have any names."""
    return (format_ or detect_mapped_format(inputs)) in FREE_COLUMN_FORMATS


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
        left, right = list(left), list(right)
        pairs = [(left, options.from_), (right, to)]
        mapped = [bool(options.columns) and _is_mapped(*pair) for pair in pairs]
        if options.columns and not any(mapped):
            raise ConversionError(
                "the map of columns is for csv and haystack, and neither side is seen "
                "to be one; say which one is, such as with --from csv or --to csv"
            )

        def reading(
            inputs: list[Input], format_: str | None, *, is_mapped: bool
        ) -> Reading:
            return Reading(
                inputs,
                format_,
                columns=options.columns if is_mapped else None,
                delimiter=options.delimiter,
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
            _DataSet(one, ModelSelection(options.model)) for one in readings
        )
        self._found = DifferenceReport()
        self._examples: dict[str, tuple[int, FieldDifferences]] = {}
        #: The field by which records were matched: `id` or `prompt`.
        self.matched_by = "id"
        self._common_fields = CommonFields(())

    def __iter__(self) -> Generator[Problem, None, None]:
        try:
            yield from self._run()
        finally:
            self._left.close()
            self._right.close()

    def _run(self) -> Iterator[Problem]:
        yield from self._left.problems()
        yield from self._right.problems()
        if self._failed():
            return
        self._left.check_model("first data set")
        self._right.check_model("second data set")
        adapters = [*self._left.adapters, *self._right.adapters]
        self._common_fields.adapters = tuple(
            {id(one): one for one in adapters}.values()
        )
        readings = self._left.reading, self._right.reading
        compare_headers(*readings, self._common_fields, self._found)
        by_id = self._left.has_ids and self._right.has_ids
        self.matched_by = "id" if by_id else "prompt"
        self._left.distribute(by_id=by_id)
        self._right.distribute(by_id=by_id)
        for ours, theirs in zip(self._left.files, self._right.files, strict=True):
            self._compare(ours, theirs)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Paths of fields that are not compared: one side has no place for them."""
        return self._common_fields.left_out

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
        if self._skips:
            self._found.skipped = sum(
                file.invalid for report in reports for file in report.files
            )
        return self._found

    def _compare(self, ours: IO[bytes], theirs: IO[bytes]) -> None:
        waiting: dict[str, deque[tuple[int, bytes, msgspec.Raw]]] = {}
        for number, place, text in _items(theirs):
            key, record = _decode_item(text)
            waiting.setdefault(key, deque()).append((number, place, record))
        for number, place, text in _items(ours):
            key, record = _decode_item(text)
            others = waiting.get(key)
            if not others:
                self._found.only_left += 1
                self._add_unmatched("only in the first", number, place, key)
                continue
            _, _, other = others.popleft()
            left, right = self._record_of(record), self._record_of(other)
            self._match(left, right, number, place)
        for key, rest in waiting.items():
            self._found.only_right += len(rest)
            for number, place, _ in rest:
                self._add_unmatched("only in the second", number, place, key)

    def _record_of(self, text: msgspec.Raw) -> Record:
        return self._common_fields.reduce(msgspec.convert(decode(bytes(text)), Record))

    def _match(self, left: Record, right: Record, number: int, place: bytes) -> None:
        found = first_by_path(left, right)
        self._found.records += 1
        self._found.differing += bool(found)
        for difference in found:
            path = difference.path
            line = self._found.fields.setdefault(path, FieldDifferences(path))
            line.count += 1
            first = self._examples.get(path)
            if first is None or number < first[0]:
                line.example, line.place = difference, pickle.loads(place)  # noqa: S301 - pickled by `_receive`
                self._examples[path] = (number, line)

    def _add_unmatched(self, where: str, number: int, place: bytes, key: str) -> None:
        """Count a record that only one side has; the first one is the example."""
        line = self._found.fields.setdefault(where, FieldDifferences(where))
        line.count += 1
        first = self._examples.get(where)
        if first is None or number < first[0]:
            line.example = Difference(self.matched_by, key.removeprefix("="), UNSET)
            line.place = pickle.loads(place)  # noqa: S301 - pickled by `_receive`
            self._examples[where] = (number, line)
