"""Rows in memory are inputs like files."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from cases import for_each_case
from harpia_formats import OptionError, UnknownFormat

ROW = {"prompt": "q", "ideal_response": "r", "category": "", "source": ""}
ANSWER = {"input": ROW, "response": "r", "llm_name": "m"}


def test_a_list_of_rows_is_an_input_of_every_function() -> None:
    """Each function takes a list of dictionaries in the place of a file."""
    output = io.BytesIO()
    rows = [ANSWER, {**ANSWER, "input": {**ROW, "prompt": "p"}}]

    assert harpia_formats.validate(rows).files[0].records == 2
    assert harpia_formats.detect(rows)[0].format == "nemo-output"
    assert harpia_formats.convert(rows, to="tencent-csv", output=output).rows == 2
    assert [record.prompt for record in harpia_formats.read(rows)] == ["q", "p"]
    assert harpia_formats.score(rows, metrics=("em",))["em"].value == 1
    assert harpia_formats.diff(rows, rows).ok
    assert harpia_formats.roundtrip(rows, via="record").ok


def test_a_finding_names_its_row() -> None:
    """The line of a problem is the number of the row in the list."""
    report = harpia_formats.validate([ROW, {**ROW, "prompt": 5}], format="nemo-input")

    assert [problem.place.line for problem in report.problems] == [2]
    assert report.files[0].path == "<rows>"


def test_one_dictionary_is_one_document() -> None:
    """A dictionary is a file with one object."""
    document = {"questions": ["q"], "predicted_answers": ["a"]}

    assert harpia_formats.validate(document).files[0].format == "haystack"


@given(
    st.lists(
        st.dictionaries(
            st.text(max_size=3),
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            max_size=3,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_rows_are_written_as_they_are(rows: list[dict[str, Any]]) -> None:
    """The lines of the file are the rows."""
    if any("\ud800" <= char <= "\udfff" for char in str(rows)):
        return
    output = io.BytesIO()
    harpia_formats.head(rows, rows=len(rows), output=output)

    assert [json.loads(line) for line in output.getvalue().split(b"\n")[:-1]] == rows


@for_each_case(
    "rows, message",
    [
        ([{"a": float("nan")}], "row 1 of the list cannot be written as JSON"),
        ([{}, {"a": {1: 2}}], "row 2 of the list .*the key 1 is not text"),
        ([{"a": b"x"}], "bytes"),
        ([{"a": "\ud800"}], "surrogates"),
        ([{}, 5], "row 2 of the list is 5, not an object"),
        (["a.jsonl"], "row 1 of the list is 'a.jsonl', not an object; pass files one"),
    ],
)
def test_rows_that_are_no_json_are_refused(rows: Any, message: str) -> None:
    """A value that JSON would lose or change is an error that names the row."""
    with pytest.raises(OptionError, match=message):
        harpia_formats.validate(rows)


def test_an_unknown_format_has_the_common_base() -> None:
    """Errors of options have one base."""
    with pytest.raises(harpia_formats.HarpiaFormatsError) as raised:
        harpia_formats.validate([ROW], format="nmeo")

    assert isinstance(raised.value, UnknownFormat)


@for_each_case(
    "fields, reason",
    [
        ({"prompt": "\ud800"}, "surrogates not allowed"),
        ({"prompt": "a", "metadata": {"x": [0.5, float("nan")]}}, "x[1] is nan"),
        ({"prompt": "a", "metadata": {"x": object()}}, "object is not JSON"),
    ],
)
def test_records_that_are_no_json_are_refused(
    fields: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    """The error has the number of the record, and there is no output."""
    records = [harpia_formats.Record(prompt="q"), harpia_formats.Record(**fields)]
    output = tmp_path / "out"

    for to in ("record", "csv", "nemo-input"):
        with pytest.raises(OptionError, match=r"^record 2 cannot be written") as seen:
            harpia_formats.write(records, to=to, output=output)
        assert reason in str(seen.value)
        assert not output.exists()


def test_tables_of_records_that_are_no_json_are_refused() -> None:
    """The number of the record is counted over all batches of the table."""
    pytest.importorskip("pyarrow")
    for wrong in ({"prompt": "\ud800"}, {"metadata": {"x": object()}}):
        records = [harpia_formats.Record(prompt="q")] * 700
        records.append(harpia_formats.Record(**wrong))

        with pytest.raises(OptionError, match=r"^record 701 cannot be written"):
            harpia_formats.to_table(records)
