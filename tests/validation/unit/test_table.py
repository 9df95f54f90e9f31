import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import Problem, Report, convert, validate
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
    ("data", "found", "expected", "help_"),
    [
        ("a,b\n1\n", "1 field", 2, "add the fields that are missing, blank if need be"),
        (
            "a\n1,2,3\n",
            "3 fields",
            1,
            "put a field with a comma or a line end in quotes",
        ),
        ("a,b\n1，2\n", "1 field", 2, "write a comma for each full-width comma"),
        ("a,b,c\n1，2；3\n", "1 field", 3, "add the fields that are missing"),
    ],
)
def test_field_count_names_both_numbers(
    data: str, found: str, expected: int, help_: str
) -> None:
    """The message on a row has its number of fields and the header's, and a remedy."""
    (problem,) = report_of(data.encode()).problems

    assert problem.message == f"the record has {found}, the header {expected}"
    assert problem.help.startswith(help_)


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


def test_rule_that_leaves_rows_without_a_verdict_is_named() -> None:
    """The rule on a wrong header is named if it is not asked for."""
    data = b"promt,response\na,b\n"

    for select, named in (("J", ("S103",)), ("S", ())):
        (count,) = report_of(data, "tencent-csv", select=(select,)).files
        assert (count.undetermined, count.unreported) == (1, named)


def test_problems_of_a_header_come_in_the_order_of_their_places() -> None:
    """What any table, and what the format asks of columns, is reported together."""
    report = report_of(b"answer,prompt,response,answer\na,b,c,d\n", "tencent-csv")

    assert [(each.code, each.place.column) for each in report.problems] == [
        ("T104", 1),
        ("J305", 24),
        ("T105", 24),
    ]


def test_a_column_of_a_map_that_is_missing_may_be_wrong_in_the_map() -> None:
    """The remedy names the map where a column is missing, and nowhere else."""
    report = report_of(b"question,a,a\n1,2,3\n", map={"prompt": "qestion"})

    assert [each.help for each in report.problems] == [
        'rename "question" to "qestion", or correct columns if the name is wrong there',
        "keep one of them",
    ]


@pytest.mark.parametrize("last", ["", "3\n"], ids=["even", "a field is missing"])
def test_rows_of_any_table_are_compared(last: str) -> None:
    """A row that says what another one says is found, whatever else is wrong."""
    prompt = "What is seven plus four?"
    data = f"id,prompt\n1,{prompt}\n2,{prompt}\n{last}".encode()
    report = report_of(data, select=("X102",))

    assert [(each.code, each.place.record) for each in report.problems] == [("X102", 2)]


def test_rows_are_handed_on_in_their_order(tmp_path: Path) -> None:
    """Valid rows are converted and the others put aside, each in the order they had."""
    wrong = ['1,"2"x\n', "3\n", "4\n", '5,"6"x\n']
    data = f"prompt,response\na,b\n{wrong[0]}{wrong[1]}c,d\n{wrong[2]}{wrong[3]}e,f\n"
    output = tmp_path / "out.jsonl"
    convert(
        data.encode(), to="record", from_="csv", output=output, on_invalid="quarantine"
    )
    rows = [json.loads(line) for line in output.read_text().splitlines()]

    assert [row["prompt"] for row in rows] == ["a", "c", "e"]
    assert (tmp_path / "out.invalid.jsonl").read_text() == "".join(wrong)


def test_rows_below_a_header_that_cannot_be_read_are_undetermined() -> None:
    """A broken header is one error, and is never taken for a row."""
    report = report_of(b'a,"b\n1,2\n3,4\n')
    (count,) = report.files

    assert codes_of(report) == ["J301"]
    assert where(report.problems[0]) == (1, 3, 4, 2, None)
    assert (count.records, count.undetermined) == (2, 2)


@pytest.mark.parametrize("begin", ["", "["])
def test_json_that_is_read_as_a_table_is_named(begin: str) -> None:
    """A header that is JSON has the remedy to name the format, as in a stream."""
    (problem,) = report_of(f'{begin}{{"id":1,"a":"b"}}\n'.encode()).problems

    assert problem.code == "J301"
    assert "if the file is JSON, name its format with" in problem.help
    assert "json" in problem.help.partition("name its format")[2]


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
