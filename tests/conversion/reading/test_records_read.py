"""Records are read from files of any container, in order and with their places."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from harpia_formats import Record, ValidationFailed, read, validate
from json_lines import jsonl, jsonl_rows
from sample_rows import harpia_instance
from unchecked import converted

GOOD = harpia_instance(1)


def test_records_come_in_order_with_their_places() -> None:
    """Each valid row is a record, whose losses have its line."""
    rows = [GOOD | {"id": str(each), f"key{each}": 1} for each in range(5)]
    data = jsonl(*rows).replace(b"\n", b"\n\n", 1)
    _, report = converted(data, to="nemo", from_="harpia")

    assert [each.id for each in read(data)] == ["0", "1", "2", "3", "4"]
    assert [
        (row["field"], row["line"])
        for row in report.table()
        if row["field"].startswith("key")
    ] == [("key0", 1), ("key1", 3), ("key2", 4), ("key3", 5), ("key4", 6)]


def test_reading_ends_at_the_first_error() -> None:
    """By default no record is read after an invalid row."""
    found: list[Any] = []
    data = jsonl(GOOD, {"id": "2", "input": 7}, GOOD | {"id": "3"})
    with pytest.raises(ValidationFailed) as failed:
        found.extend(each.id for each in read(data, format="harpia"))

    assert found == ["1"]
    assert len(failed.value.report.problems) == 1
    assert failed.value.report.problems[0].place.line == 2


def test_document_around_records_is_the_header() -> None:
    """HarpIA's metrics and unknown members are the header of the file."""
    metrics = [{"id": "em", "enable": True, "parameters": {}}]
    data = json.dumps({"instances": [GOOD], "metrics": metrics, "x": 1}).encode()
    (row,) = jsonl_rows(converted(data, to="record")[0])

    assert row["header"] == {"metrics": metrics, "extra": {"harpia": {"x": 1}}}
    assert "header" not in json.loads(converted(jsonl(GOOD), to="record")[0])


@pytest.mark.parametrize(
    "written", [lambda rows: jsonl(*rows), lambda rows: json.dumps(rows).encode()]
)
def test_a_header_in_a_row_is_taken_out_of_it(written: Callable[[Any], bytes]) -> None:
    """Our own records have the header in the first row, and others are seen too."""
    rows: list[dict[str, Any]] = [
        {"prompt": "a", "outputs": [], "header": {"metrics": [1]}},
        {"prompt": "b", "outputs": []},
        {"prompt": "c", "outputs": [], "header": {"metrics": [1]}},
        {"prompt": "d", "outputs": [], "header": {"task": {"name": "t"}}},
    ]
    data = written(rows)
    output, report = converted(data, to="record", from_="record")

    assert list(read(data, format="record")) == [Record(prompt=each) for each in "abcd"]
    first, *others = (row.get("header") for row in jsonl_rows(output))
    assert (first, others) == ({"metrics": [1]}, [None, None, None])
    assert not report.lossless


def test_a_header_that_is_nested_too_deep_is_left_out() -> None:
    """Its rows are read, and the depth is reported."""
    deep = b"[" * 5_000 + b"]" * 5_000
    data = b'{"instances": [%b], "x": %b}' % (json.dumps(GOOD).encode(), deep)
    output, report = converted(data, to="record", on_invalid="skip", from_="harpia")
    (row,) = jsonl_rows(output)

    assert "header" not in row
    assert [each.code for each in report.report.problems] == ["J108"]


def test_no_number_of_records_is_asked_by_default() -> None:
    """Columns without items, which Haystack takes, are read as no record."""
    data = b'{"questions": [], "predicted_answers": []}'

    assert list(read(data, format="haystack")) == []
    with pytest.raises(ValidationFailed, match="fewer than 1"):
        list(read(data, format="haystack", min_records=1))


def test_columns_become_rows() -> None:
    """Item n of each column is a field of record n; a shorter column lacks some."""
    columns = {"questions": ["a", "b"], "predicted_answers": ["x", None]}
    found = list(read(json.dumps(columns).encode(), format="haystack"))

    assert [each.prompt for each in found] == ["a", "b"]
    assert [len(each.outputs) for each in found] == [1, 0]


def test_cells_become_rows() -> None:
    """A blank cell is not there, and one of empty quotes is an empty text."""
    found = read(b'prompt,category\na,\nb,""\n', format="csv")

    assert [each.category for each in found] == [UNSET, ""]


def test_mapped_columns_are_the_fields_that_they_are_mapped_to() -> None:
    """A map gives fields the columns that they are in."""
    (record,) = read(b"Frage,x\na,b\n", columns={"prompt": "Frage"})

    assert record.prompt == "a"
    assert record.extra == {"csv": {"x": "b"}}


def test_records_of_several_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    """`read` yields the records of inputs in several formats."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(GOOD))
    (tmp_path / "b.csv").write_bytes(b"system,prompt,response\n,q2,r\n")

    found = read(tmp_path / "a.jsonl", tmp_path / "b.csv")
    assert [each.prompt for each in found] == ["q1", "q2"]


def test_items_behind_one_that_is_too_long_keep_their_records() -> None:
    """An item over the limit costs its record, and moves no item to another one."""
    columns = {
        "questions": ["a", "b" * 200, "c", "d" * 200],
        "predicted_answers": ["1", "2", "3", "4"],
    }
    data, options = jsonl(columns), {"max_row_bytes": 100, "on_invalid": "skip"}
    output, report = converted(data, to="record", from_="haystack", **options)
    rows = [(row["prompt"], row["outputs"][0]["text"]) for row in jsonl_rows(output)]
    problems = [(each.code, each.place.record) for each in report.report.problems]

    assert rows == [("a", "1"), ("c", "3")]
    assert problems == [("J110", 2), ("J110", 4)]


def test_records_of_a_table_are_limited_within_a_block(tmp_path: Path) -> None:
    """Of a block no more records are validated than the limit allows."""
    file = tmp_path / "t.csv"
    file.write_bytes(b"id,prompt\n" + b"1,q\n" * 100)
    report = validate(file, format="csv", limit=70)

    assert [(count.records, count.valid) for count in report.files] == [(70, 70)]
