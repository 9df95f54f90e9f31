"""Compare two data sets of any formats, record by record, in any order, out of core.

Records are matched by their ids, or by what they ask where one side has no ids. Fields
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

from harpia_formats.comparison.round_trip import (
    DifferenceReport,
    FieldDifferences,
    check_skipping,
    first_by_path,
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

#: Files that the records of a side are spread over, and bytes that memory holds.
FILES, HELD = 64, 64 * 1024
_head = struct.Struct("<QII")
_parts = msgspec.json.Decoder(tuple[str, msgspec.Raw]).decode


def _held() -> IO[bytes]:
    """Return a temporary file; whoever reads it closes it."""
    return SpooledTemporaryFile(HELD)


@dataclass(slots=True)
class _Side:
    """The records of one data set, by what they are matched by."""

    reading: Reading
    #: What takes the answers of the model that is asked for.
    models: ModelSelection
    adapters: list[FormatAdapter] = field(default_factory=list)
    files: list[IO[bytes]] = field(default_factory=list)
    records: IO[bytes] = field(default_factory=_held)
    has_ids: bool = True
    #: Whether the file that is read tells its answers apart by their models.
    _tells_models: bool = False

    def problems(self) -> Iterator[Problem]:
        """Read all records into a temporary file; yield what is wrong."""
        yield from self.reading.problems(self._receive, self._begin, lambda _: None)

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        del count
        adapter = adapter_of(variant.format)
        self.adapters.append(adapter)
        self._tells_models = adapter.carries("outputs.model")

    def check_model(self, which: str) -> None:
        """Raise `ConversionError` if no answer is of the model that is asked for."""
        if any(each.carries("outputs.model") for each in self.adapters):
            self.models.check(f" in the {which}")

    def _receive(self, taken: PlacedRecord) -> None:
        record = (
            self.models.select(taken.record) if self._tells_models else taken.record
        )
        self.has_ids = self.has_ids and record.id is not UNSET
        place = pickle.dumps(taken.row.place(0, 1, ()))
        text = encode(record)
        self.records.write(_head.pack(0, len(place), len(text)) + place + text)

    def spread(self, *, by_id: bool) -> None:
        """Spread the records over files by what they are matched by."""
        self.files = [_held() for _ in range(FILES)]
        for number, (_, place, text) in enumerate(_items(self.records)):
            record = msgspec.convert(decode(text), Record)
            key = _key_of(record, by_id=by_id)
            whole = b"[" + encode(key) + b"," + text + b"]"
            head = _head.pack(number, len(place), len(whole))
            self.files[digest_of(key) % FILES].write(head + place + whole)

    def close(self) -> None:
        """Let go of all temporary files."""
        for each in (self.records, *self.files):
            each.close()


def _items(file: IO[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    file.seek(0)
    while head := file.read(_head.size):
        number, of_place, of_text = _head.unpack(head)
        yield number, file.read(of_place), file.read(of_text)
    file.close()


def _key_of(record: Record, *, by_id: bool) -> str:
    if by_id:
        return f"={record.id}"
    asked: Any = record.prompt
    if asked is UNSET:
        asked = last_text_of(record.messages or [], "user")
    return "?" if asked is UNSET else f"={asked}"


def _is_mapped(inputs: list[Input], format_: str | None) -> bool:
    """Tell whether columns of inputs may have any names, as said or else as seen."""
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

        Either is recognised where it is None. Columns are those of what is a plain
        table.
        """
        check_skipping(options)
        self._options = options
        left, right = list(left), list(right)
        pairs = [(left, options.from_), (right, to)]
        mapped = [bool(options.columns) and _is_mapped(*each) for each in pairs]
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
                fail_fast=options.on_invalid is OnInvalid.FAIL,
                max_row_bytes=options.max_row_bytes,
                progress=options.progress,
            )

        readings = [
            reading(*pair, is_mapped=each)
            for pair, each in zip(pairs, mapped, strict=True)
        ]
        self._left, self._right = (
            _Side(each, ModelSelection(options.model)) for each in readings
        )
        self._found = DifferenceReport()
        self._examples: dict[str, tuple[int, FieldDifferences]] = {}
        #: What records were matched by: `id` or `prompt`.
        self.matched_by = "id"
        self._narrowing = CommonFields(())

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
        self._narrowing.adapters = tuple({id(each): each for each in adapters}.values())
        by_id = self._left.has_ids and self._right.has_ids
        self.matched_by = "id" if by_id else "prompt"
        self._left.spread(by_id=by_id)
        self._right.spread(by_id=by_id)
        for ours, theirs in zip(self._left.files, self._right.files, strict=True):
            self._compare(ours, theirs)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Fields that are not compared, because one side has no place for them."""
        return self._narrowing.left_out

    def _failed(self) -> bool:
        reports = self._reports()
        if self._skips:
            return any(each.failures for each in reports)
        return not all(each.ok for each in reports)

    @property
    def _skips(self) -> bool:
        """Whether what is not valid is left out."""
        return self._options.on_invalid is OnInvalid.SKIP

    def _reports(self) -> list[Report]:
        return [each.reading.tally.report() for each in (self._left, self._right)]

    def report(self) -> DifferenceReport:
        """Return what differs, with the report of the side that has more to tell."""
        reports = self._reports()
        wrong = [each for each in reports if not each.ok]
        wrong.sort(key=lambda each: not each.failures)
        self._found.report = wrong[0] if wrong else reports[0]
        if self._skips:
            files = (file for each in reports for file in each.files)
            self._found.skipped = sum(each.invalid for each in files)
        return self._found

    def _compare(self, ours: IO[bytes], theirs: IO[bytes]) -> None:
        waiting: dict[str, deque[tuple[int, bytes, msgspec.Raw]]] = {}
        for number, place, text in _items(theirs):
            key, record = _parts(text)
            waiting.setdefault(key, deque()).append((number, place, record))
        for number, place, text in _items(ours):
            key, record = _parts(text)
            others = waiting.get(key)
            if not others:
                self._found.only_left += 1
                self._note_only("only in the first", number, place, key)
                continue
            _, _, other = others.popleft()
            left, right = self._record_of(record), self._record_of(other)
            self._match(left, right, number, place)
        for key, rest in waiting.items():
            self._found.only_right += len(rest)
            for number, place, _ in rest:
                self._note_only("only in the second", number, place, key)

    def _record_of(self, text: msgspec.Raw) -> Record:
        return self._narrowing.reduce(msgspec.convert(decode(bytes(text)), Record))

    def _match(self, left: Record, right: Record, number: int, place: bytes) -> None:
        found = first_by_path(left, right)
        self._found.records += 1
        self._found.differing += bool(found)
        for each in found:
            line = self._found.fields.setdefault(each.path, FieldDifferences(each.path))
            line.count += 1
            first = self._examples.get(each.path)
            if first is None or number < first[0]:
                line.example, line.place = each, pickle.loads(place)  # noqa: S301 - written by ourselves a moment ago
                self._examples[each.path] = (number, line)

    def _note_only(self, where: str, number: int, place: bytes, key: str) -> None:
        """Keep the first record that only one side has."""
        from harpia_formats.comparison.differences import Difference  # noqa: PLC0415 - where they differ only

        line = self._found.fields.setdefault(where, FieldDifferences(where))
        line.count += 1
        first = self._examples.get(where)
        if first is None or number < first[0]:
            line.example = Difference(self.matched_by, key.removeprefix("="), UNSET)
            line.place = pickle.loads(place)  # noqa: S301 - written by ourselves a moment ago
            self._examples[where] = (number, line)
