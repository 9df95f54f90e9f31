"""Prove what comes back: there into another format and back again, record by record."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.choices import Responses
from harpia_formats.constants import constants_for
from harpia_formats.convert_options import ConvertOptions, OnInvalid
from harpia_formats.detection import Variant
from harpia_formats.differences import Difference, differences, same
from harpia_formats.expanded import expanded_id
from harpia_formats.filling import filling_of
from harpia_formats.inputs import Input
from harpia_formats.kept import restored, taken_out
from harpia_formats.needs import check_needs
from harpia_formats.notes import Notes, Unconvertible
from harpia_formats.pairing import Pairing
from harpia_formats.problem import Place, Problem
from harpia_formats.reading import Reading
from harpia_formats.record import Header, Record
from harpia_formats.registry import spoke_of
from harpia_formats.report import FileCount, Report
from harpia_formats.spoke import Many, Row, Spoke
from harpia_formats.taking import Taken
from harpia_formats.targets import fitting, is_told_by_answers, targets_named


@dataclass(slots=True)
class Changed:
    """A field that differs in some records, and the first of them."""

    path: str
    count: int = 0
    example: Difference | None = None
    place: Place | None = None
    #: Why there is nothing to compare, if there is not.
    reason: str = ""


@dataclass(slots=True)
class DifferenceReport:
    """What differs between two data sets, or before and after a round trip."""

    records: int = 0
    #: Records that differ in something.
    differing: int = 0
    #: Records that only one side has.
    #: Fields around the records that differ.
    headers: int = 0
    only_left: int = 0
    only_right: int = 0
    fields: dict[str, Changed] = field(default_factory=dict)
    report: Report | None = None

    @property
    def ok(self) -> bool:
        """Whether all was read and nothing differs."""
        read = self.report is None or self.report.ok
        differs = self.differing or self.headers
        return read and not (differs or self.only_left or self.only_right)

    def compare(self, left: Record, right: Record, place: Any) -> None:
        """Count where two records differ."""
        found = list(differences(left, right))
        self.records += 1
        self.differing += bool(found)
        for each in found:
            line = self.fields.get(each.path)
            if line is None:
                line = self.fields[each.path] = Changed(each.path, 0, each, place())
            line.count += 1


class RoundTrip:
    """One run: iterate for the problems, then ask for the report.

    Raises `ConversionError`, `UnknownFormat` or `ValueError`.
    """

    def __init__(
        self, inputs: Iterable[Input], via: str, options: ConvertOptions
    ) -> None:
        self._options = options
        self._targets = targets_named(via)
        self._reading = Reading(
            inputs,
            options.from_,
            columns=options.columns,
            fail_fast=options.on_invalid is OnInvalid.FAIL,
            max_row_bytes=options.max_row_bytes,
            progress=options.progress,
        )
        self._filling = filling_of(options.score) if options.score else None
        self._there: Pairing | None = None
        self._back: Pairing | None = None
        #: The path, the way there and the way back of each file.
        self._legs: list[tuple[str, Spoke, Spoke]] = []
        self._found = DifferenceReport()
        #: The format that it goes through, once it is known.
        self.via = ""

    def __iter__(self) -> Iterator[Problem]:
        flow = self._reading.problems(self._receive, self._begin, lambda _: None)
        yield from flow
        for legs, headers in zip(self._legs, self._reading.headers, strict=False):
            for header in headers:
                self._compare_headers(header, *legs)

    def report(self) -> DifferenceReport:
        """Return what did not come back."""
        self._found.report = self._reading.tally.report()
        return self._found

    def _begin(self, variant: Variant, count: FileCount) -> None:
        source = spoke_of(variant.format)
        target = self._targets[0]
        if is_told_by_answers(self._targets):
            from harpia_formats.needs import holds_answers  # noqa: PLC0415 - for families only

            target = fitting(self._targets, answered=holds_answers(source))
        self.via = target.id
        spoke = spoke_of(target)
        constants = constants_for(spoke, self._options.constants)
        scored = self._filling is not None
        check_needs(variant.format, source, target, spoke, constants, scored=scored)
        self._there = Pairing(spoke, self._options.choices(constants), self._filling)
        # What came of one row is one row again, if its format holds a list.
        has_lists = source.holds.outputs is Many.OF_ONE_MODEL
        back = changed(
            self._options,
            constants={},
            model=None,
            keep_extra=False,
            responses=Responses.LIST if has_lists else Responses.EXPAND,
        )
        self._back = Pairing(source, back.choices({}))
        self._legs.append((count.path, spoke, source))

    def _compare_headers(
        self, header: Header, path: str, via: Spoke, own: Spoke
    ) -> None:
        after = _carried(_carried(header, via), own)
        for name in header.__struct_fields__:
            left, right = getattr(header, name), getattr(after, name)
            if not same(left, right):
                field_ = f"header.{name}"
                place = Place(path, 1, 1, 2, 0)
                lost = Difference(field_, left, right)
                line = self._found.fields.setdefault(
                    field_, Changed(field_, 0, lost, place)
                )
                line.count += 1
                self._found.headers += 1

    def _receive(self, taken: Taken) -> None:
        assert self._there is not None  # noqa: S101 - begun before the first record
        assert self._back is not None  # noqa: S101 - likewise
        record = taken.record

        def place() -> Place:
            return taken.row.place(0, 1, ())

        number = self._found.records + 1
        try:
            there = _with_id(record, self._there, number)
            rows = self._there.written(there).rows
            middle = _together([read_back(each, self._there.target) for each in rows])
            rows = self._back.written(_with_id(middle, self._back, number)).rows
            after = _together([read_back(each, self._back.target) for each in rows])
        except Unconvertible as error:
            self._found.records += 1
            self._found.differing += 1
            line = self._found.fields.setdefault(
                f"{error.path} ",
                Changed(error.path, 0, None, place(), error.reason),
            )
            line.count += 1
            return
        self._found.compare(record, after, place)


def _carried(header: Header, spoke: Spoke) -> Header:
    """Return what is left of a header behind a file of another format."""
    if spoke.write_header is None or spoke.read_header is None:
        return Header()
    return spoke.read_header(spoke.write_header(header, Notes()))


def _with_id(record: Record, pairing: Pairing, number: int) -> Record:
    if record.id is UNSET and pairing.needs_id:
        return replace(record, id=str(number))
    return record


def read_back(row: Row, spoke: Spoke) -> Record:
    """Return the record that a row written by `spoke` is."""
    bare, kept = taken_out(row, spoke)
    return restored(spoke.read(bare), kept)


def _together(records: list[Record]) -> Record:
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
