"""Columns with any names: those of CSV and of Haystack, read and written."""

import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import read, validate
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.formats.detection.mapped_format import detect_mapped_format
from harpia_formats.formats.registry import adapter_of, all_formats
from harpia_formats.model.column_map import (
    MapError,
    check_columns_exist,
    check_columns_unique,
    check_field_names,
    column_names,
    names_by_column,
    rename_columns,
)
from harpia_formats.model.problem import ConversionError
from unchecked import convert, converted, diff, roundtrip, score

HAYSTACK = adapter_of(all_formats()["haystack"])
COLUMNS = {"prompt": "queries", "response": "answers", "references": "gold"}
DOCUMENT = {
    "queries": ["q1", "q2"],
    "answers": ["a1", "a2"],
    "gold": ["r1", "r2"],
    "topic": ["t1", None],
}
OWN = {
    "questions": ["q1", "q2"],
    "predicted_answers": ["a1", "a2"],
    "ground_truth_answers": ["r1", "r2"],
    "topic": ["t1", None],
}


def text_of(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()


def written(*inputs: Any, to: str, **options: Any) -> bytes:
    """Return the bytes that a conversion writes."""
    data, report = converted(*inputs, to=to, **options)
    report.raise_for_errors()
    return data


@pytest.mark.parametrize("from_", [None, "haystack"])
def test_columns_of_haystack_that_are_read(from_: str | None) -> None:
    """Mapped columns are read as fields, whether the format is given or detected."""
    mapped = written(text_of(DOCUMENT), to="nemo", columns=COLUMNS, from_=from_)

    assert mapped == written(text_of(OWN), to="nemo")


@pytest.mark.parametrize("to", ["csv", "haystack"])
def test_keys_of_unknown_rows_are_read_for_a_table(to: str) -> None:
    """Where a table is written a map is that of JSON rows in no known format."""
    row = {"Frage": "q1", "Antwort": "a1", "Gold": "r1"}
    columns = {"prompt": "Frage", "response": "Antwort", "references": "Gold"}
    named = written(text_of(row), to=to, columns=columns, from_="json")

    assert b"q1" in named
    assert written(text_of(row), to=to, columns=columns) == named


def test_columns_of_components_are_read() -> None:
    """The columns of each component are mapped."""
    mapped = text_of({"one": DOCUMENT, "two": DOCUMENT})
    own = text_of({"one": OWN, "two": OWN})

    assert written(mapped, to="nemo", columns=COLUMNS) == written(own, to="nemo")


def test_columns_of_haystack_that_are_written() -> None:
    """Fields go into mapped columns, and what is read with the map is the same."""
    rows = written(text_of(OWN), to="record")
    document = written(rows, to="haystack", columns=COLUMNS)
    again = written(document, to="record", columns=COLUMNS)

    assert {"queries", "answers", "gold"} <= set(json.loads(document))
    assert again == rows


def test_a_table_is_read_with_a_map_into_haystack() -> None:
    """Where the input is seen to be a table the map is that of the table."""
    table = b"queries,gold\nq1,r1\n"
    columns = {"prompt": "queries", "references": "gold"}
    document = json.loads(written(table, to="haystack", columns=columns))

    assert document == {"questions": ["q1"], "ground_truth_answers": ["r1"]}


def test_missing_column_is_an_error_that_suggests_the_nearest() -> None:
    """Mapping a missing column is an error that suggests the nearest name."""
    with pytest.raises(MapError, match="did you mean queries"):
        written(text_of(DOCUMENT), to="nemo", columns={"prompt": "querys"})


def test_a_field_without_a_column_is_refused() -> None:
    """A field that Haystack has no column for is refused, to read and to write."""
    for to in ("nemo", "haystack"):
        with pytest.raises(MapError, match="haystack has no column for category"):
            written(
                text_of(DOCUMENT),
                to=to,
                from_="haystack",
                columns={"category": "topic"},
            )


def test_two_columns_never_become_one(tmp_path: Path) -> None:
    """Where a map gives two columns one name nothing is written, and nothing lost."""
    output = tmp_path / "out"
    table = b"question,prompt,gold\nx,y,r\n"
    given = {"prompt": "question", "references": "gold"}
    rows = written(text_of(OWN), to="record")
    level = b"prompt,level\nx,y\n"
    both = DOCUMENT | {"questions": ["o1", "o2"]}
    with pytest.raises(MapError, match="'prompt': two columns"):
        convert(table, from_="csv", to="nemo", columns=given, output=output)
    with pytest.raises(MapError, match="'level': two columns"):
        convert(level, to="csv", columns={"prompt": "level"}, output=output)
    with pytest.raises(MapError, match="'questions': two columns"):
        convert(text_of(both), to="nemo", columns=COLUMNS, output=output)
    with pytest.raises(MapError, match="'topic': two columns"):
        convert(rows, to="haystack", columns={"prompt": "topic"}, output=output)

    assert not output.exists()


def test_a_map_of_other_formats_is_refused() -> None:
    """A map for a document, whose keys are all known, is reported as an error."""
    with pytest.raises(ConversionError, match="is for csv and haystack"):
        convert(b"{}", from_="nemo-results", to="nemo", columns={"prompt": "x"})


def test_a_map_says_what_columns_of_any_text_table_hold() -> None:
    """Also where the header is one of Tencent's, in which answers are expected ones."""
    table = b"system,prompt,response\ns,p,r\n"
    columns = {"prompt": "prompt", "response": "response"}

    assert validate(table, columns=columns).ok
    assert [record.outputs[0].text for record in read(table, columns=columns)] == ["r"]


def test_round_trips_and_comparisons_take_the_map_too() -> None:
    """Haystack's columns may have any names there as well, on either side."""
    mapped, own = text_of(DOCUMENT), text_of(OWN)

    assert roundtrip(mapped, via="csv", from_="haystack", columns=COLUMNS).ok
    assert roundtrip(own, via="haystack", from_="record", columns=COLUMNS).records == 0
    assert diff(mapped, mapped, columns=COLUMNS).ok
    assert diff(mapped, own, from_="haystack", to="record").only_left == 0


def test_names_of_columns() -> None:
    """A field of two columns has both called so, and the first is read."""
    names = column_names(HAYSTACK, "haystack", {"response": "answers"})

    assert names == {"predicted_answers": "answers", "responses": "answers"}
    assert names_by_column(names) == {"answers": "predicted_answers"}
    assert rename_columns({"answers": 1, "b": 2}, names_by_column(names)) == {
        "predicted_answers": 1,
        "b": 2,
    }


def test_unknown_names_in_a_map_suggest_the_nearest() -> None:
    """An unknown field, column or format is reported with the nearest name."""
    with pytest.raises(MapError, match="did you mean prompt"):
        check_field_names({"promt": "a"})
    with pytest.raises(MapError, match="did you mean gold"):
        check_columns_exist(["golds"], ["gold", "x"], "f")
    with pytest.raises(MapError, match="'a': two columns"):
        check_columns_unique(["a", "b", "a"])
    with pytest.raises(ValueError, match="did you mean first"):
        ConvertOptions(references="frist")
    with pytest.raises(ConversionError, match="did you mean prompt"):
        convert(b"", to="nemo", group="promts")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"a,b\n1,2\n", "csv"),
        (text_of(DOCUMENT), "haystack"),
        (b'{"id": "1", "input": "q"}\n', None),
    ],
)
def test_format_of_any_columns_is_detected_in_files_only(
    data: bytes, found: str | None
) -> None:
    """The format is detected in a file, but not in a stream, which is read once."""
    assert detect_mapped_format([data]) == found
    assert detect_mapped_format([io.BytesIO(data), "-"]) is None


ROWS = text_of(
    {
        "prompt": "q",
        "references": ["r"],
        "outputs": [{"model": "m1", "text": "x"}, {"model": "m2", "text": "y"}],
    }
)


@pytest.mark.parametrize("to", ["csv", "haystack", "nemo-input"])
def test_absent_model_is_an_error_that_lists_the_models(
    tmp_path: Path, to: str
) -> None:
    """If no answer is of the model, the error lists the models; nothing is written."""
    output = tmp_path / "out"
    with pytest.raises(ConversionError) as caught:
        convert(ROWS, to=to, model="m3", output=output)

    assert str(caught.value) == (
        "no answer is of the model 'm3' (there are: 'm1', 'm2')"
    )
    assert not output.exists()


def test_error_for_a_missing_model_lists_the_models() -> None:
    """The error for a row without an answer of the model lists the row's models."""
    report = convert(ROWS, to="nemo-output", model="m3", output=io.BytesIO())
    (problem,) = report.report.problems

    assert problem.message == (
        "no answer of the record is of the model 'm3' (there are: 'm1', 'm2')"
    )


def test_errors_of_convert_name_python_parameters(tmp_path: Path) -> None:
    """Errors of the function name options as Python parameters."""
    output = tmp_path / "out"
    output.write_bytes(b"mine")
    row = {"prompt": "q", "outputs": []}
    with pytest.raises(Exception, match="overwrite=True replaces it"):
        convert(ROWS, to="nemo", output=output)
    report = convert(text_of(row), to="nemo-input", from_="record", output=io.BytesIO())
    (problem,) = report.report.problems

    assert problem.help == 'give it with constants={"ideal_response": VALUE}'


#: Errors for a map to a key that no row has: diff takes a map of columns only.
NO_KEY = (MapError, ConversionError)


@for_each_case(
    "given, error, command",
    [
        (*one, two)
        for one, two in itertools.product(
            [
                (b"id,prompt\n1,q\n", MapError),
                (b"id,prompt\n", MapError),
                (b'{"questions": ["q"], "responses": ["a"]}', MapError),
                (b'{"id": "1", "prompt": "q", "outputs": []}\n', NO_KEY),
                (b'{"id": "1", "input": "q", "actual-output": "a"}\n', NO_KEY),
            ],
            [convert, diff, roundtrip, score],
        )
    ],
)
def test_missing_column_is_an_error_in_every_format(
    command: Any, given: bytes, error: Any, tmp_path: Path
) -> None:
    """A map to a column that no row has ends every command, and nothing is written."""
    file = tmp_path / ("in.csv" if given.startswith(b"id") else "in.json")
    file.write_bytes(given)
    output = tmp_path / "out.jsonl"
    of_command: dict[Any, dict[str, Any]] = {
        convert: {"to": "record", "output": output, "on_invalid": "skip"},
        roundtrip: {"via": "record"},
        score: {"metrics": ("em",)},
    }
    options = of_command.get(command, {})
    inputs = [file, file] if command is diff else [file]
    with pytest.raises(error):
        command(*inputs, columns={"prompt": "nosuch"}, **options)

    assert not output.exists()
