"""Prove what comes back: there into another format and back again, record by record."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Any

from harpia_formats.comparison.back_conversion import (
    BackConversion,
    constants_of_both,
    lack_of,
    read_back,
    together,
    with_id,
)
from harpia_formats.comparison.differences import Difference, differences, same
from harpia_formats.conversion.fill_scores import ScoreFiller, score_filler
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.io.inputs import Input
from harpia_formats.mapping.choices import Responses
from harpia_formats.mapping.columns import (
    column_names,
    names_by_column,
    rename_columns,
)
from harpia_formats.mapping.mapped_format import maps_output_columns
from harpia_formats.mapping.requirements import ConversionError, check_requirements
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.mapping.targets import (
    choose_target,
    depends_on_answers,
    targets_named,
)
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.adapter import Cardinality, FormatAdapter, Row
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Place, Problem
from harpia_formats.model.record import Header, Record
from harpia_formats.model.report import FileCount, Report
from harpia_formats.reading.reader import Reading
from harpia_formats.reading.record_stream import PlacedRecord
from harpia_formats.registry import adapter_of


@dataclass(slots=True)
class FieldDifferences:
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
    #: Fields around the records that differ.
    headers: int = 0
    #: Records that only one side has.
    only_left: int = 0
    only_right: int = 0
    #: Records that were left out as asked for, because they are not valid.
    skipped: int = 0
    fields: dict[str, FieldDifferences] = field(default_factory=dict)
    report: Report | None = None

    @property
    def ok(self) -> bool:
        """Whether all was read, or left out as asked for, and nothing differs."""
        compared = self.records or not self.skipped
        differs = self.differing or self.headers
        same = not (differs or self.only_left or self.only_right)
        return self._is_read and bool(compared) and same

    @property
    def _is_read(self) -> bool:
        """Whether all was read, but for what was to be left out."""
        report = self.report
        return report is None or report.ok or bool(self.skipped and not report.failures)

    def compare(self, left: Record, right: Record, place: Any) -> None:
        """Count where two records differ."""
        found = first_by_path(left, right)
        self.records += 1
        self.differing += bool(found)
        for each in found:
            line = self.fields.get(each.path)
            if line is None:
                line = self.fields[each.path] = FieldDifferences(
                    each.path, 0, each, place()
                )
            line.count += 1


def first_by_path(left: Record, right: Record) -> list[Difference]:
    """Return the first difference of each field, of which a record may have several."""
    found: dict[str, Difference] = {}
    for each in differences(left, right):
        found.setdefault(each.path, each)
    return list(found.values())


class RoundTrip:
    """One run: iterate for the problems, then ask for the report.

    Raises `ConversionError`, `UnknownFormat` or `ValueError`.
    """

    def __init__(
        self, inputs: Iterable[Input], via: str, options: ConvertOptions
    ) -> None:
        check_skipping(options)
        self._options = options
        self._targets = targets_named(via)
        #: What columns of the other format are called, by their own names.
        self._names: dict[str, str] = {}
        inputs, columns = list(inputs), options.columns
        self._names_other = bool(options.columns) and maps_output_columns(
            inputs, via, options.from_
        )
        if self._names_other:
            columns = None
        self._reading = Reading(
            inputs,
            options.from_,
            columns=columns,
            fail_fast=options.on_invalid is OnInvalid.FAIL,
            max_row_bytes=options.max_row_bytes,
            progress=options.progress,
        )
        self._filling = score_filler(options.score) if options.score else None
        self._models = ModelSelection(options.model)
        self._there: RecordMapper | None = None
        self._back: BackConversion | None = None
        #: The path, the way there and the way back of each file.
        self._legs: list[tuple[str, FormatAdapter, FormatAdapter]] = []
        self._found = DifferenceReport()
        #: The format that it goes through, once it is known.
        self.via = ""

    def __iter__(self) -> Generator[Problem, None, None]:
        flow = self._reading.problems(self._receive, self._begin, lambda _: None)
        yield from flow
        report = self._reading.tally.report()
        if self._found.records and (report.ok or self._skips):
            self._models.check()
        for legs, headers in zip(self._legs, self._reading.headers, strict=False):
            for header in headers:
                self._compare_headers(header, *legs)

    def report(self) -> DifferenceReport:
        """Return what did not come back."""
        report = self._found.report = self._reading.tally.report()
        if self._skips:
            self._found.skipped = sum(each.invalid for each in report.files)
        return self._found

    @property
    def _skips(self) -> bool:
        """Whether what is not valid is left out."""
        return self._options.on_invalid is OnInvalid.SKIP

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        if variant.format.read_only:
            raise ConversionError(
                f"{variant.format.id} can be read but not written, so nothing can be "
                "converted back"
            )
        source = adapter_of(variant.format)
        target = self._targets[0]
        if depends_on_answers(self._targets):
            from harpia_formats.mapping.requirements import holds_answers  # noqa: PLC0415 - for families only

            target = choose_target(self._targets, answered=holds_answers(source))
        self.via = target.id
        adapter = adapter_of(target)
        if self._names_other:
            columns = self._options.columns or {}
            self._names = column_names(adapter, target.id, columns)
        constants = constants_of_both(adapter, source, self._options.constants)
        way_there, way_back = self._fillings(variant.format, source, target, adapter)
        check_requirements(
            variant.format,
            source,
            target,
            adapter,
            constants,
            scored=way_there is not None,
        )
        self._there = RecordMapper(adapter, self._options.choices(constants), way_there)
        # What came of one row is one row again, if its format holds a list.
        has_lists = source.capacity.outputs is Cardinality.MANY_OF_ONE_MODEL
        back = changed(
            self._options,
            model=None,
            keep_extra=False,
            responses=Responses.LIST if has_lists else Responses.EXPAND,
        )
        lacking = lack_of(
            target,
            adapter,
            variant.format,
            source,
            constants,
            scored=way_back is not None,
        )
        self._back = BackConversion(source, back, constants, way_back, lacking)
        self._legs.append((count.path, adapter, source))

    def _fillings(
        self,
        given: Format,
        source: FormatAdapter,
        target: Format,
        adapter: FormatAdapter,
    ) -> tuple[ScoreFiller | None, ScoreFiller | None]:
        """Return what scores answers on the way there and on the way back.

        Scores that the other format has come back with it.
        """
        filling = self._filling
        if filling is None or adapter.capacity.scores is not Cardinality.NONE:
            return filling, None
        if source.capacity.scores is Cardinality.NONE:
            message = f"neither {given.id} nor {target.id} has a place for a score"
            raise ConversionError(message)
        return None, filling

    def _compare_headers(
        self, header: Header, path: str, via: FormatAdapter, own: FormatAdapter
    ) -> None:
        after = _carried(_carried(header, via), own)
        for name in header.__struct_fields__:
            left, right = getattr(header, name), getattr(after, name)
            if not same(left, right):
                field_ = f"header.{name}"
                place = Place(path, 1, 1, 2, 0)
                lost = Difference(field_, left, right)
                line = self._found.fields.setdefault(
                    field_, FieldDifferences(field_, 0, lost, place)
                )
                line.count += 1
                self._found.headers += 1

    def _receive(self, taken: PlacedRecord) -> None:
        assert self._there is not None  # noqa: S101 - begun before the first record
        assert self._back is not None  # noqa: S101 - likewise
        record = self._models.select(taken.record)

        def place() -> Place:
            return taken.row.place(0, 1, ())

        try:
            middle = self._middle(record)
        except Unconvertible as error:
            self._note_end(error.path, self._why_not(error, taken.record), place)
            return
        try:
            after = self._back.of(middle, record, self._found.records + 1)
        except Unconvertible as error:
            self._note_end(error.path, self._back.why_not(error), place)
            return
        self._found.compare(record, after, place)

    def _middle(self, record: Record) -> Record:
        """Return what `record` is in the other format; raises `Unconvertible`."""
        assert self._there is not None  # noqa: S101 - the caller looked
        there = with_id(record, self._there, self._found.records + 1)
        rows = [self._in_columns(each) for each in self._there.map(there).rows]
        return together([read_back(each, self._there.target) for each in rows])

    def _in_columns(self, row: Row) -> Row:
        """Return what comes of `row` in a file whose columns have other names."""
        if not self._names:
            return row
        return rename_columns(
            rename_columns(row, self._names), names_by_column(self._names)
        )

    def _why_not(self, error: Unconvertible, record: Record) -> str:
        """Return why a record does not go there."""
        of_answer = error.path.startswith("outputs")
        return (of_answer and self._models.missing_in(record)) or str(error)

    def _note_end(self, path: str, reason: str, place: Callable[[], Place]) -> None:
        """Count a record that does not come back at all."""
        self._found.records += 1
        self._found.differing += 1
        line = self._found.fields.setdefault(
            f"{path} ", FieldDifferences(path, 0, None, place(), reason)
        )
        line.count += 1


def check_skipping(options: ConvertOptions) -> None:
    """Raise `ConversionError` where rows are to be put aside: nothing is written."""
    if options.on_invalid is OnInvalid.QUARANTINE:
        raise ConversionError("rows are put aside by conversions only: fail or skip")


def _carried(header: Header, adapter: FormatAdapter) -> Header:
    """Return what is left of a header behind a file of another format."""
    if adapter.write_header is None or adapter.read_header is None:
        return Header()
    return adapter.read_header(adapter.write_header(header, FieldFates()))
