"""The report of a comparison: which fields of how many records and headers differ."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, ClassVar

from msgspec import UNSET

from harpia_formats.conversion.comparison.differences import (
    CommonFields,
    Difference,
    differences,
    same,
)
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.describe import hidden_value
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.problem import ConversionError, Place
from harpia_formats.model.record import Header, Record
from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result
from harpia_formats.validation.redaction.redacted_reports import Redaction

#: What a comparison says where an input has an error.
_UNREAD = "not all of the input could be read"


@dataclass(slots=True)
class FieldDifferences:
    """A field that differs in some records, with the first of them as an example."""

    path: str
    #: Records in which it differs.
    count: int = 0
    example: Difference | None = None
    place: Place | None = None
    #: Why there is nothing to compare; "" if there is.
    reason: str = ""


@dataclass(slots=True, repr=False)
class DifferenceReport(Result):
    """What differs between two data sets, or before and after a round trip."""

    columns: ClassVar = tuple("field records left right path line reason".split())

    records: int = 0
    #: Records in which some field differs.
    differing: int = 0
    #: Fields of headers that differ.
    headers: int = 0
    #: Ids that several rows of a round trip would have, which a conversion refuses.
    repeated: int = 0
    #: Records that only one side has.
    only_left: int = 0
    only_right: int = 0
    #: Invalid records that were left out, as the options ask.
    skipped: int = 0
    fields: dict[str, FieldDifferences] = field(default_factory=dict)
    #: The validation of the inputs: of an invalid or unreadable one of two, if any is.
    report: Report | None = None
    #: The validations of both inputs of `diff`, of which `report` is one.
    reports: tuple[Report, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything was read and compared, and nothing differs."""
        compared = self.records or not self.skipped
        differs = self.differing or self.headers or self.repeated
        same = not (differs or self.only_left or self.only_right)
        return self.is_read and bool(compared) and same

    @property
    def is_read(self) -> bool:
        """Whether everything was read but for records that the options leave out."""
        return all(
            report.ok or (self.skipped > 0 and report.ok_without_invalid)
            for report in self.reports or (self.report,)
            if report is not None
        )

    def summary(self, counts: Iterable[str]) -> str:
        """Return counts of what was compared on one line, which says if that is all."""
        if self.is_read:
            return ", ".join(counts)
        if not self.records:
            return f"nothing is compared: {_UNREAD}"
        return f"{', '.join(counts)}; {_UNREAD}"

    def headline(self) -> str:
        """Return how many records differ in one line."""
        records = "1 record" if self.records == 1 else f"{self.records:,} records"
        counts = f"{records} compared, {self.differing:,} differ"
        alone = f"{self.only_left:,} and {self.only_right:,} are on one side only"
        return self.summary((counts, alone))

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each field that differs, with the first example of it."""
        return [
            {
                "field": line.path,
                "records": line.count,
                "left": None if line.example is None else line.example.shown_left,
                "right": None if line.example is None else line.example.shown_right,
                "path": line.place and line.place.full_path,
                "line": line.place and line.place.line,
                "reason": line.reason,
            }
            for line in self.fields.values()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data that can be written as JSON."""
        kept = "records differing headers repeated only_left only_right skipped"
        return {
            "ok": self.ok,
            **{name: getattr(self, name) for name in kept.split()},
            "fields": self.table(),
            "report": None if self.report is None else self.report.to_dict(),
        }

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed`, with this report as its result, unless all is read.

        Differences are no error.
        """
        if self.report is not None and not self.is_read:
            raise validation_failed(self.report, self)

    def compare(self, left: Record, right: Record, place: Callable[[], Place]) -> None:
        """Count the fields in which two records differ; `place` is called if needed."""
        found = first_by_path(differences(left, right))
        self.records += 1
        self.differing += bool(found)
        for difference in found:
            path = difference.path
            line = self.fields.get(path)
            if line is None:
                line = self.fields[path] = FieldDifferences(
                    path, 0, difference, place()
                )
            line.count += 1

    def fail(self, path: str, reason: str, place: Callable[[], Place]) -> None:
        """Count a record that cannot be converted; `place` is called if needed."""
        self.records += 1
        self.differing += 1
        key = f"{path} "
        line = self.fields.get(key)
        if line is None:
            line = FieldDifferences(path, 0, None, place(), reason)
            self.fields[key] = line
        line.count += 1


def first_by_path(differing: Iterable[Difference]) -> list[Difference]:
    """Return the first difference at each path, where several outputs may differ."""
    found: dict[str, Difference] = {}
    for difference in differing:
        found.setdefault(difference.path, difference)
    return list(found.values())


def refuse_quarantine(options: ConvertOptions) -> None:
    """Raise `ConversionError` if rows are to be put aside: a comparison writes none."""
    if options.on_invalid is OnInvalid.QUARANTINE:
        raise ConversionError("rows are put aside by conversions only: fail or skip")


def compare_headers(
    left: Reading, right: Reading, common: CommonFields, report: DifferenceReport
) -> None:
    """Add to `report` how the headers of two data sets differ.

    Fields that one of the formats has no place for are added to what `common` leaves
    out.
    """
    pairs = zip_longest(_headers_of(left), _headers_of(right), fillvalue=Header())
    place = _place_of(left)
    for ours, theirs in pairs:
        add_differences(
            common.reduce_header(ours), common.reduce_header(theirs), place, report
        )


def _headers_of(reading: Reading) -> Iterable[Header]:
    return (header for headers in reading.headers for header in headers)


def _place_of(reading: Reading) -> Place:
    files = reading.tally.files
    return Place.at_start(files[0].path if files else "")


def add_differences(
    left: Header, right: Header, place: Place, report: DifferenceReport
) -> None:
    """Add the fields to `report` in which two headers differ."""
    for name in Header.__struct_fields__:
        one, other = getattr(left, name), getattr(right, name)
        if same(one, other):
            continue
        path = f"header.{name}"
        line = report.fields.get(path)
        if line is None:
            example = Difference(path, one, other)
            line = report.fields[path] = FieldDifferences(path, 0, example, place)
        line.count += 1
        report.headers += 1


def converted_header(header: Header, adapter: FormatAdapter) -> Header:
    """Return what is left of a header that a format wrote and read."""
    if adapter.write_header is None or adapter.read_header is None:
        return Header()
    return adapter.read_header(adapter.write_header(header, FieldOutcomes()))


_REASON = "cannot be converted"


def differences_shown(
    found: DifferenceReport, redaction: Redaction | None
) -> DifferenceReport:
    """Return differences as they may be shown; all if `redaction` is None.

    Of values it is the types and lengths, and keys that no schema names are `*`. Fields
    that then have the same path share their counts, and why a record cannot be
    converted is not told.
    """
    if redaction is None:
        return found
    fields: dict[str, FieldDifferences] = {}
    for key, line in found.fields.items():
        path = shown_path(line.path, redaction)
        kind = f"{path} {bool(line.reason)}" if line.reason else path
        known = fields.get(kind)
        if known is not None:
            known.count += line.count
            continue
        example = line.example
        if example is not None:
            inner = path if example.path == line.path else example.path
            left, right = _shown(example.left), _shown(example.right)
            example = Difference(inner, left, right)
        fields[kind] = replace(
            line,
            path=path,
            example=example,
            place=line.place and redaction.place(line.place),
            reason=_REASON if line.reason else "",
        )
        # An id that several rows would have is no record that cannot be converted.
        if line.reason and key.startswith("id ") and line.reason in key:
            fields[kind].reason = "is not the id of one row"
    report = found.report
    if report is not None:
        report = redaction.report(report)
    reports = tuple(map(redaction.report, found.reports))
    return replace(found, fields=fields, report=report, reports=reports)


def shown_path(path: str, redaction: Redaction) -> str:
    """Return the path of a field with `*` for keys that no schema names."""
    alone = ("only in the first", "only in the second")
    return path if path in alone else redaction.words.field(path)


def _shown(value: Any) -> Any:
    if value is UNSET:
        return UNSET
    if isinstance(value, (tuple, list)):
        return hidden_value(list(value))
    return hidden_value(value)
