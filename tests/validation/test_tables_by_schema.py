"""Tables are validated by a schema of the user as objects of their columns."""

import csv
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from harpia_formats import infer_schema, validate
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.plugins import Remark
from harpia_formats.validation.unit import selected_lints

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"pattern": "^[0-9]"}, "note": {"minLength": 2}},
}
#: One whose pattern has no bound of time, so that another process validates.
GUARDED: dict[str, Any] = {
    "required": ["id"],
    "properties": {"id": {"pattern": "^(?=([0-9]+)+$)"}, "note": {"minLength": 2}},
}
texts = st.sampled_from(["", "1", "ab", "a,b", 'a"b', "a\nb", "\u00e9"])


def table_of(rows: list[list[str]]) -> str:
    """Return a table with the columns `id` and `note`."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["id", "note"], *rows])
    return text.getvalue()


@pytest.mark.parametrize("schema", [SCHEMA, GUARDED])
def test_records_are_objects_without_blank_fields(
    schema: dict[str, Any], tmp_path: Any
) -> None:
    """A blank field is a key that is missing, and each problem is at its field."""
    path = tmp_path / "table.csv"
    path.write_text(table_of([["1", ""], ["", "ab"], ["x", "ab"], ["2", "a"]]))

    report = validate(path, schema=schema)

    places = [(one.code, one.place.line, one.place.pointer) for one in report.problems]
    assert places == [("S101", 3, ""), ("V104", 4, "/id"), ("V103", 5, "/note")]
    assert (report.files[0].records, report.files[0].invalid) == (4, 3)


def test_only_some_lints_take_a_record_that_the_schema_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lint that cannot take any value looks only at records that are valid."""

    def remarks(code: str, _: Any) -> Iterator[Remark]:
        yield Remark(code, ("note",), "a note")

    rows = tuple(
        RowLint((code,), partial(remarks, code), takes_refused=takes_refused)
        for code, takes_refused in (("J204", True), ("J206", False))
    )
    monkeypatch.setattr(selected_lints, "hub_lints", lambda *_: Lints(rows))
    path = tmp_path / "table.csv"
    path.write_text(table_of([["1", "ab"], ["x", "ab"]]))

    report = validate(path, schema=SCHEMA, select=("J2", "V"))

    found = [(one.code, one.place.line) for one in report.problems]
    assert sorted(found) == [("J204", 2), ("J204", 3), ("J206", 2), ("V104", 3)]


def test_a_schema_that_takes_too_long_leaves_no_verdict(tmp_path: Any) -> None:
    """A record on which the schema takes too long is undetermined, the next is not."""
    path = tmp_path / "table.csv"
    path.write_text("id,text\n1,a\n2,\n")
    doubled = {
        f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(60)
    }
    schema = {
        "properties": {"text": {"$ref": "#/definitions/d0"}},
        "definitions": {**doubled, "d60": {"type": "string"}},
    }

    report = validate(path, schema=schema, row_timeout=0.3)

    assert [group.code for group in report.groups] == ["V901"]
    count = report.files[0]
    assert (count.valid, count.invalid, count.undetermined) == (1, 0, 1)


@examples(20)
@given(st.lists(st.lists(texts, min_size=2, max_size=2).filter(any), min_size=1))
def test_every_table_has_the_schema_that_is_inferred(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    """Whatever a table holds, its rows are valid by the schema inferred from them."""
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    path.write_text(table_of(rows), encoding="utf-8")
    found = infer_schema(path)

    report = validate(path, schema=found.schema)

    assert found.ok
    assert report.ok
    assert report.files[0].valid == found.rows == len(rows)


def test_another_delimiter_is_reported(tmp_path: Any) -> None:
    """A table with semicolons has one problem, and is valid with the option."""
    path = tmp_path / "table.csv"
    path.write_text("id;note\n1;ab\n")

    report = validate(path, schema=SCHEMA)

    assert [one.code for one in report.problems] == ["J307"]
    assert validate(path, schema=SCHEMA, delimiter=";").ok


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rows.jsonl", b""),
        ("rows.json", b"[]"),
        ("rows.csv", b"prompt,response\n"),
        ("rows.tsv", b"prompt\tresponse\n"),
    ],
)
def test_no_records_are_an_error(name: str, data: bytes, tmp_path: Path) -> None:
    """A table with only a header holds no more records than an empty file."""
    path = tmp_path / name
    path.write_bytes(data)
    report = validate(path, schema={"type": "object"})

    assert [problem.code for problem in report.problems] == ["J111"]
    assert (report.ok, report.files[0].records) == (False, 0)
