"""What validate says of the rows in and around documents with faults."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import iter_problems, validate

ROW = b'{"id": "%d", "input": "q", "actual-output": "x"}'


@pytest.mark.parametrize("space", [b"\n", b"  ", b"\r\n\t"])
def test_white_space_in_front_is_passed_over(space: bytes) -> None:
    """A document that does not begin in the first byte is cut like any other."""
    report = validate(
        space + b'{"instances": [{"id": "1", "input": "q", "actual-output": "x"}]}'
    )
    (count,) = report.files

    assert (count.format, count.records, count.valid) == ("harpia", 1, 1)


def test_records_after_a_broken_member_are_validated() -> None:
    """The records after a syntax error in the header are all validated."""
    data = (
        b'{"metrics": [{"id": nope}], "instances": [{"id": "1", "input": 2, '
        b'"actual-output": "x"}]}'
    )
    report = validate(data)

    assert [(each.code, each.place.record) for each in report.problems] == [
        ("S102", 1),
        ("J101", None),
    ]
    assert report.files[0].records == 1


def test_limit_counts_records_across_columns() -> None:
    """`limit` counts records, and each record has a value in every column."""
    data = b'{"questions": ["a", "b", "c"], "predicted_answers": ["x", 3, 4]}'
    limited = validate(data, strict=True, limit=2)
    longer = validate(data.replace(b', "c"', b""), strict=True, limit=2)

    assert [each.place.record for each in limited.problems] == [2]
    assert limited.files[0].records == 2
    assert "K101" in [each.code for each in longer.problems]


@pytest.mark.parametrize("header", [b"", b'"metrics": [], '])
def test_rows_after_an_extra_bracket_are_validated(header: bytes) -> None:
    """An extra closing bracket among rows is one fault; later rows are validated."""
    rows = [ROW % each for each in range(4)]
    data = b"{" + header + b'"instances": [' + rows[0] + b"], " + b", ".join(rows[1:])
    report = validate(data + b"]}")

    assert [(each.code, each.place.byte_offset) for each in report.problems][:1] == [
        ("J101", data.index(b"],", data.index(b"instances")))
    ]
    assert report.files[0].valid == 4


@for_each_case(
    "before, behind",
    [(b"[", b"]"), (b'{"instances": [', b'], "metrics": []}'), (b"", b"")],
)
def test_rows_over_the_limit_have_numbers(before: bytes, behind: bytes) -> None:
    """A row over the limit is a fault with its place, and counted as a record."""
    rows = [ROW % 1, ROW % 2 + b" " * 2000 + b"x", b'{"id": 3}']
    data = before + (b"," if before else b"\n").join(rows) + behind
    report = validate(data, format="harpia", max_row_bytes=1000)
    places = [
        (each.code, each.place.byte_offset, each.place.record)
        for each in report.problems
        if each.code != "S202"
    ]

    assert report.files[0].records == 3
    assert places == [
        ("J110", data.index(rows[1]), 2),
        ("S101", data.index(rows[2]), 3),
    ]


ROWS = st.lists(
    st.sampled_from([b"{}", b'{"id": 1}', b"", b" \t", b"{", b"[1]", b'"\xff"'])
)


@given(ROWS)
def test_records_are_the_lines_that_are_not_blank(rows: list[bytes]) -> None:
    """Every line that is not blank is a record, numbered from 1, whatever it holds."""
    lines = [b'{"first": 0}', *rows, b"{}"]
    full = [number for number, line in enumerate(lines, 1) if line.strip()]
    found = [
        (each.place.record, each.place.line)
        for each in iter_problems(b"\n".join(lines), schema={"type": "string"})
        if each.code != "J202"
    ]

    assert found == list(enumerate(full, 1))
