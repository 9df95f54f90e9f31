"""Files of wrong rows: what is only counted is what would be described."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from fixture_files import valid_rows
from harpia_formats import Report, validate
from harpia_formats.plugins import Container
from known_formats import FORMATS

Row = dict[str, Any]


#: Valid rows of each format of rows.
ROWS = {
    format_.id: rows
    for format_ in FORMATS.values()
    if format_.dialects[0].container is Container.ROWS
    and (rows := valid_rows(format_.id))
}


def lacks(row: Row, at: int) -> Row:
    """Return a row without one of its keys."""
    gone = list(row)[at % len(row)]
    return {key: row[key] for key in row if key != gone}


def misspells(row: Row, at: int) -> Row:
    """Return a row with a key of which the last letter is repeated."""
    wrong = list(row)[at % len(row)]
    return {key + key[-1:] if key == wrong else key: row[key] for key in row}


def is_of_wrong_type(row: Row, at: int) -> Row:
    """Return a row with another value at one of its keys."""
    values: list[Any] = [None, 7, "x", [], {}, [[]], True, {"a": None}]
    return row | {list(row)[at % len(row)]: values[at % len(values)]}


def has_unknown_key(row: Row, at: int) -> Row:
    """Return a row with a key more, inside of one of its objects if it has one."""
    inner = [key for key in row if isinstance(row[key], dict)]
    if not inner:
        return row | {"unknown": at}
    key = inner[at % len(inner)]
    return row | {key: row[key] | {"unknown": at}}


def has_another_text(row: Row, at: int) -> Row:
    """Return a row with another text at one of its keys, which may list its values."""
    texts = [key for key in row if isinstance(row[key], str)]
    return row | ({texts[at % len(texts)]: "other"} if texts else {})


FAULTS: Mapping[str, Callable[[Row, int], Row]] = {
    "lacks": lacks,
    "misspells": misspells,
    "is_of_wrong_type": is_of_wrong_type,
    "has_unknown_key": has_unknown_key,
    "has_another_text": has_another_text,
    "is_empty": lambda _row, _at: {},
}
#: What is wrong with the text of a row.
TEXTS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "broken": lambda text: text[:-1],
    "comma": lambda text: text[:-1] + ",}",
    "again": lambda text: text[:-1] + ', "id": 1, "id": [{"a": 1, "a": 2}]}',
}


def counts_in(report: Report) -> tuple[Any, ...]:
    """Return what a report counts, without the examples."""
    (file,) = report.files
    groups = Counter(
        (group.code, group.pointer, group.cause, group.line, group.column, group.record)
        for group in report.groups
        for _ in range(group.count)
    )
    return groups, file.records, file.invalid, file.undetermined, file.errors


@pytest.mark.parametrize("format_", ROWS)
@examples(5)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(FAULTS)),
            st.sampled_from(sorted(TEXTS)),
            st.integers(0, 20),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 30),
    st.booleans(),
)
def test_findings_that_are_counted_are_those_that_would_be_described(
    format_: str, faults: list[tuple[str, str, int]], times: int, is_named: bool
) -> None:
    """Groups, places and counts do not depend on how many findings are described."""
    lines = []
    for number in range(times * len(faults)):
        fault, wrong, at = faults[number % len(faults)]
        row = ROWS[format_][number % len(ROWS[format_])]
        lines.append(TEXTS[wrong](json.dumps(FAULTS[fault](row, at))))
    data = "\n".join(lines).encode()
    named: dict[str, Any] = {"format": format_} if is_named else {}
    described = counts_in(validate(data, examples=0, max_problems=0, **named))

    assert counts_in(validate(data, examples=1, **named)) == described
    assert counts_in(validate(data, examples=5, max_problems=3, **named)) == described


@for_each_case("format_", ROWS)
def test_no_format_is_recognised_in_an_empty_object(format_: str) -> None:
    """No format has a sign in an empty object, which is not looked for."""
    for dialect in FORMATS[format_].dialects:
        assert not dialect.sniff({})


_TEXT = 'a "quoted" \\term\\ on\ttwo\nlines, größer 数据 😺 ' * 4


@pytest.mark.parametrize("wrong", [None, 7, [_TEXT], {"a": _TEXT}, "\ud800"])
def test_findings_do_not_depend_on_escapes(wrong: Any) -> None:
    """Rows of ASCII with escapes get the verdicts of the same rows in UTF-8.

    Among many good rows, texts are of another type, and ids are repeated.
    """
    rows = [
        {
            **row,
            "input": row["input"] | {"raw": _TEXT},
            "sample_id": f"{number} {_TEXT}",
        }
        for number in range(40)
        for row in ROWS["eee@0.2.0"]
        if row["interaction_type"] == "single_turn"
    ]
    rows[-1] = rows[-1] | {"input": rows[-1]["input"] | {"raw": wrong}}
    rows[-2] = rows[-2] | {"output": {"raw": wrong}}
    rows[-3] = rows[-4]
    found = []
    for ascii_ in (True, False):
        text = "".join(json.dumps(row, ensure_ascii=ascii_) + "\n" for row in rows)
        report = validate(text.encode("utf-8", "surrogatepass"))
        assert report.files[0].records == len(rows)
        found.append({(each.code, each.place.line) for each in report.problems})

    lines, same = ({line for _, line in each} for each in found)
    assert lines == same == {len(rows) - lag for lag in (0, 1, 2)}
    # A lone surrogate that is not written as an escape is not UTF-8.
    assert wrong == "\ud800" or found[0] == found[1]
