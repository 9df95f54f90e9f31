from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import Problem, Report, validate
from problem_codes import codes_of

#: A row by its fields: right, wrong for the header, or nothing at all.
FIELDS = st.lists(st.sampled_from(["a", "é", "", "x,y", "two\nlines", 'a "b"']))


def table(*rows: list[str]) -> bytes:
    """Return rows of fields as a table, every field in quotes."""
    quoted = ([each.replace('"', '""') for each in row] for row in rows)
    return "".join(
        ",".join(f'"{each}"' for each in row) + "\n" for row in quoted
    ).encode()


def report_of(data: bytes, format_: str = "csv", **options: Any) -> Report:
    """Return the report on a table, with all problems."""
    uncapped = {"examples": 0, "max_problems": 0}
    return validate(data, format=format_, **uncapped | options)


def where(problem: Problem) -> tuple[int, int, int, int, int | None]:
    """Return where a problem is: line, columns, byte and record."""
    place = problem.place
    columns = place.column, place.end_column
    return place.line, *columns, place.byte_offset, place.record


@given(st.lists(FIELDS.filter(bool), max_size=6))
def test_every_row_has_as_many_fields_as_the_header(rows: list[list[str]]) -> None:
    """Exactly the rows with more or fewer fields are wrong, each in its line."""
    data = table(["prompt", "response"], ["a", "b"], *rows)
    report = report_of(data)
    (count,) = report.files
    wrong = [number for number, row in enumerate(rows, 2) if len(row) != 2]
    found = [each for each in report.problems if each.code == "J304"]

    assert [each.place.record for each in found] == wrong
    assert (count.records, count.invalid) == (len(rows) + 1, len(wrong))
    for each in found:
        assert each.place.record is not None
        before = table(["prompt", "response"], ["a", "b"], *rows)[
            : each.place.byte_offset
        ]
        assert before.decode().count("\n") + 1 == each.place.line
        assert table(*rows[each.place.record - 2 :]) == data[each.place.byte_offset :]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a,b\n1\n", "the record has 1 field, the header 2"),
        (b"a\n1,2,3\n", "the record has 3 fields, the header 1"),
    ],
)
def test_field_count_names_both_numbers(data: bytes, expected: str) -> None:
    """The message on a row says how many fields it has, and how many the header."""
    assert [each.message for each in report_of(data).problems] == [expected]


def test_header_is_validated_by_its_columns() -> None:
    """A missing or misspelt column is reported at the header, once for the file."""
    report = report_of(b"promt,response\na,b\nc,d\n", "tencent-csv", select=("S",))

    assert codes_of(report) == ["S103"]
    assert where(report.problems[0]) == (1, 1, 6, 0, None)


def test_rows_below_a_wrong_header_are_undetermined() -> None:
    """Rows are not validated if the columns are not those of the format."""
    report = report_of(
        b"promt,response\na,b\nc,d,e\n", "tencent-csv", select=("S", "J")
    )
    (count,) = report.files

    assert codes_of(report) == ["S103"]
    assert (count.records, count.valid, count.undetermined) == (2, 0, 2)


def test_rows_below_a_header_that_cannot_be_read_are_undetermined() -> None:
    """A broken header is one error, and is never taken for a row."""
    report = report_of(b'a,"b\n1,2\n3,4\n')
    (count,) = report.files

    assert codes_of(report) == ["J301"]
    assert where(report.problems[0]) == (1, 3, 4, 2, None)
    assert (count.records, count.undetermined) == (2, 2)


def test_column_that_is_there_twice_is_marked() -> None:
    """Each repeated name of the header is reported, at the last of its columns."""
    report = report_of("é,b,é,é,b\n1,2,3,4,5\n".encode())
    places = [where(each) for each in report.problems]

    assert codes_of(report) == ["J305", "J305"]
    assert places == [(1, 7, 8, 8, None), (1, 9, 10, 11, None)]
    assert report.problems[0].message == 'the column "é" is there 3 times'


def test_row_that_breaks_off_is_a_record_of_its_own() -> None:
    """A row with an open quote is one invalid record; those below it are validated."""
    report = report_of(b'a,b\n1,2\n3,"4\n5,6,7\n8,9\n')
    (count,) = report.files

    assert codes_of(report) == ["J301", "J304"]
    assert [where(each) for each in report.problems] == [
        (3, 3, 4, 10, 2),
        (4, 1, 2, 13, 3),
    ]
    assert (count.records, count.invalid, count.valid) == (4, 2, 2)


@pytest.mark.parametrize(
    "data", [b'a,b\n1,2\n3,"4\n', b"a,b\n1,2\n3,4,5\n", b"a,b\n1,2\n3,\0\n"]
)
def test_row_without_a_verdict_is_undetermined(data: bytes) -> None:
    """A row that is lost to a rule that is not asked for is undetermined."""
    report = report_of(data, select=("S",))
    (count,) = report.files

    assert codes_of(report) == []
    assert (count.records, count.valid, count.undetermined) == (2, 1, 1)


def test_blank_lines_are_reported_once_and_are_no_records() -> None:
    """Lines with nothing on them are counted together, at the first of them."""
    report = report_of(b"a,b\n\n1,2\n\r\n3,4,5\n")

    assert codes_of(report) == ["J304", "J202"]
    assert [where(each)[0] for each in report.problems] == [5, 2]
    assert report.problems[1].message == "2 blank lines are passed over"
    assert report.files[0].records == 2


@pytest.mark.parametrize("data", [b"", b"\n", b"a,b\n", b"a,b\n\n"])
def test_table_without_rows_is_an_error(data: bytes) -> None:
    """A table holds at least one record below its header."""
    report = report_of(data, ignore=("J202",))

    assert codes_of(report) == ["J111"]
    assert report.files[0].records == 0


@pytest.mark.parametrize(
    ("limit", "records", "complete"), [(1, 1, False), (2, 2, False), (3, 3, True)]
)
def test_limit_is_exact(limit: int, records: int, complete: bool) -> None:
    """So many rows are looked at, neither the header nor blank lines counted."""
    report = report_of(b"a\n1\n\n2,3\n4,5\n", limit=limit, ignore=("J202",))
    (count,) = report.files

    assert (count.records, count.complete) == (records, complete)
    assert count.invalid == records - 1


@pytest.mark.parametrize(
    "data",
    [
        b"question,solution\na,b\n",
        b"prompt,response,prompt,response\na,b,c,d\n",
        b"prompt,response\na\nb\n",
        b'prompt,response\na,"b"c\na,"b"c\n',
    ],
)
def test_first_error_is_the_only_one_if_asked_for(data: bytes) -> None:
    """With `fail_fast` reading ends at the first error, also of several in a row."""
    report = report_of(data, "tencent-csv", fail_fast=True, select=("J", "S"))
    first = report_of(data, "tencent-csv", select=("J", "S")).problems[0]

    assert list(report.problems) == [first]
    assert report.errors == 1
    assert not report.files[0].complete


def test_places_count_lines_in_quotes_and_the_mark() -> None:
    """A field over several lines moves all below it, a byte order mark only bytes."""
    data = b'a,"b\nc",d\n1,"2\n","3"\n4,5\n'
    report = report_of(b"\xef\xbb\xbf" + data)

    assert codes_of(report) == ["J201", "J304"]
    assert where(report.problems[1]) == (5, 1, 2, data.index(b"4,5") + 3, 2)


def test_reference_engine_is_asked_about_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row on which the reference engine differs is an internal error."""

    def contrary(*_: Any, **__: Any) -> Any:
        return lambda *_: False

    monkeypatch.setattr(
        "harpia_formats.validation.unit.cross_check.second_opinion_of", contrary
    )

    report = validate(b"a,b\n1,2\n", format="csv", cross_check=True)
    (problem,) = report.problems

    assert (problem.code, problem.place.record) == ("V902", 1)
    assert "we say valid, the reference engine says invalid" in problem.message
    assert report.files[0].undetermined == 1


@pytest.mark.parametrize(
    ("data", "complete"),
    [(b"a,b\n1,2\n3\n", True), (b"a,b\n1\n", True), (b"a,b\n1\n2,3\n", False)],
)
def test_table_is_complete_if_the_first_error_is_in_its_last_record(
    data: bytes, complete: bool
) -> None:
    """With `fail_fast`, a table that was read to its end is complete."""
    report = report_of(data, fail_fast=True)

    assert codes_of(report) == ["J304"]
    assert report.files[0].complete is complete
