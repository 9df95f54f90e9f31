"""Compare the headers of data sets, and a header with its round trip."""

from collections.abc import Iterable
from itertools import zip_longest

from harpia_formats.conversion.comparison.common_fields import CommonFields
from harpia_formats.conversion.comparison.differences import Difference, same
from harpia_formats.conversion.comparison.report import (
    DifferenceReport,
    FieldDifferences,
)
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Header


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
    return Place(files[0].path if files else "", 1, 1, 2, 0)


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
    return adapter.read_header(adapter.write_header(header, FieldFates()))
