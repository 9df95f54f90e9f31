"""The rows of a plain table as records, and records as rows of a table."""

import csv
import io
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

import harpia_formats
from cases import for_each_case
from effort import examples
from field_paths import unrelated
from harpia_converters.hub import csv_mapping as mapping
from harpia_converters.hub.csv_mapping import TABLE
from harpia_converters.hub.formats import CSV_FORMAT
from harpia_formats.api.testing import filled
from harpia_formats.api.testing.strategies import EXTRA, TEXTS, VALUES, records
from harpia_formats.conversion.comparison.differences import differences, same
from harpia_formats.conversion.mapping.choices import Choices, Responses
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.schema.bundled_schemas import (
    record_schema,
    schema_validator_of,
)
from harpia_formats.model.column_map import FIELDS
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.record import FIELD_TYPES, Output, Record, Score
from table_steps import read_steps
from written_rows import row_and_losses

FIXTURES = sorted((Path(__file__).parents[3] / "fixtures/csv").glob("[nv]*/*.csv"))
SCHEMA_VALIDATOR = schema_validator_of(record_schema(CSV_FORMAT.dialects[0]))
#: An answer of which it is known that there is none.
NOTHING = Output(model="m", text=None, reasoning=None, error=None)
ONE_ROW = Choices(responses=Responses.FIRST)
NAMES = st.sampled_from([*TABLE.columns, "nota", "csv"]) | TEXTS
CELLS = TEXTS | st.sampled_from(
    ["0.10", "01", "true", "[]", '["a", "b"]', '[{"role": "user"}]', "{}", '{"a": {}}']
)
ROWS = st.dictionaries(NAMES, CELLS, min_size=1, max_size=5)
#: Extra fields that a table may have had, and some that no table ever had.
KEPT = st.dictionaries(NAMES, CELLS | VALUES, max_size=3)


def rows_in(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table without their blank cells."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {column: cell for column, cell in row.items() if cell}
            for row in csv.DictReader(file)
        ]


#: Returns the row that a record becomes, and the recorded losses of each path.
written = partial(row_and_losses, TABLE)


@for_each_case("path", FIXTURES, ids=lambda path: path.stem)
def test_rows_come_back(path: Path) -> None:
    """Every row of a valid table is the same again."""
    rows = rows_in(path)

    assert [written(TABLE.read(each)) for each in rows] == [(each, {}) for each in rows]


def test_every_field_has_a_column() -> None:
    """Each field of a record has one column, and --map knows those that it names."""
    paths = [each.record_path for each in TABLE.fields]

    assert sorted(paths) == sorted(FIELD_TYPES)
    assert len(set(TABLE.columns)) == len(TABLE.columns)
    assert set(FIELDS) - set(TABLE.columns) == set()


def test_fields_of_a_row() -> None:
    """Text is taken as it is, and what is not text is read as JSON."""
    row = {
        "id": "7",
        "prompt": "",
        "references": '["a", "b"]',
        "params": '{"temperature": 0.0}',
        "response": "[1]",
        "score": "0.5",
        "is_correct": "true",
        "level": "2",
    }

    assert TABLE.read(row) == Record(
        id="7",
        prompt="",
        references=["a", "b"],
        params={"temperature": 0.0},
        outputs=[Output(text="[1]", scores=[Score(value=0.5, is_correct=True)])],
        extra={"csv": {"level": "2"}},
    )


@for_each_case("cell", ["Paris", "", "[a]", "[1]", '{"a": 1}', '"a"', "null"])
def test_other_text_is_a_list_of_one(cell: str) -> None:
    """A cell of a list that is not a list of texts in JSON is one text."""
    assert TABLE.read({"references": cell}).references == [cell]


@for_each_case("reference", ["Paris", "", '["a"]', "[]", '"a"'])
def test_references_come_back(reference: str) -> None:
    """A reference that looks like a list is still one reference."""
    row, noted = written(Record(references=[reference]))

    assert TABLE.read(row).references == [reference]
    assert noted == {}


@for_each_case(
    "row",
    [
        {"score": "n/a"},
        {"score": ""},
        {"score": "1.50"},
        {"score": "0.30000000000000000001"},
        {"score": "null"},
        {"score": '"1"'},
        {"is_correct": "yes"},
        {"index": "1.5", "turns": "[1]", "params": "[]", "metadata": "{"},
        {"params": '{"a":1,"a":2}'},
        {"params": "[" * 5000},
        {"extra": "more", "nota": "1"},
        {"extra": '{"nemo":1}'},
        {"extra": '{"nemo":{"a":1}}', "nota": "1"},
        {"extra": "{}"},
        {"output_extra": '{"eee":{"a":null}}'},
        {"output_extra": '{"eee":1}'},
        {"": "a", "csv": "b"},
    ],
)
def test_odd_cells_come_back(row: dict[str, str]) -> None:
    """A cell that is not what its column holds is the same again."""
    again, noted = written(TABLE.read(row))

    assert again == row
    assert noted == {}


@for_each_case("text", ["n/a", "{}", "[1]", '"1"', "", ".5"])
def test_non_numeric_score_is_kept_as_text(text: str) -> None:
    """A score that is no number, true, false or null is kept as text."""
    assert TABLE.read({"score": text}) == Record(extra={"csv": {"score": text}})


@for_each_case(
    "record, row, noted",
    [
        (Record(id=10**30), {"id": "1" + "0" * 30}, {"id"}),
        (Record(prompt="a\0b"), {"prompt": "a\0b"}, set()),
        (Record(references=["\0"]), {"references": '["\\u0000"]'}, set()),
        (
            Record(
                id="1",
                outputs=[NOTHING],
            ),
            {"id": "1", "model": "m"},
            {"outputs.text", "outputs.reasoning", "outputs.error"},
        ),
        (Record(id="1", outputs=[Output()]), {"id": "1"}, {"outputs"}),
        (
            Record(outputs=[Output(text="", scores=[Score(value=None)])]),
            {"response": "", "score": "null"},
            set(),
        ),
        (Record(extra={}), {"extra": "{}"}, set()),
        (Record(extra={"csv": {}}), {"extra": '{"csv":{}}'}, set()),
        (
            Record(extra={"csv": {"a": "x", "b": 1, "id": "y", "c": "\0"}}),
            {"extra": '{"csv":{"b":1,"id":"y"}}', "a": "x", "c": "\0"},
            set(),
        ),
        (
            Record(extra={"nemo": {"a": 1}, "csv": {"b": "x"}}),
            {"extra": '{"nemo":{"a":1}}', "b": "x"},
            set(),
        ),
    ],
)
def test_changed_cells_are_recorded_as_losses(
    record: Record, row: dict[str, str], noted: set[str]
) -> None:
    """Null, numbers for text and values that no cell can hold are losses."""
    found, outcomes = written(record)

    assert found == row
    assert outcomes.keys() == noted


@pytest.mark.parametrize("record", [Record(), Record(outputs=[Output(text=None)])])
def test_empty_row_cannot_be_written(record: Record) -> None:
    """A record without anything for a column is no row."""
    with pytest.raises(Unconvertible, match="--set prompt=VALUE"):
        written(record)


def test_a_column_and_its_name_in_the_rest() -> None:
    """Where the rest names a column that is there as well, nothing gets lost."""
    record = TABLE.read({"extra": '{"csv":{"a":"x"}}', "a": "y"})
    row, noted = written(record)

    assert record.extra == {"csv": {"a": "y", "extra": '{"csv":{"a":"x"}}'}}
    assert TABLE.read(row) == record
    assert noted == {}


@given(ROWS)
def test_any_row_comes_back(row: dict[str, str]) -> None:
    """Any row is read as a record from which the same record is read again."""
    record = TABLE.read(row)
    if record != Record():
        again, noted = written(record)

        assert list(differences(record, TABLE.read(again))) == []
        assert noted == {}
        assert set(again) - set(row) - {"extra"} == set()


@examples(10)
@given(record=records(), kept=KEPT, others=EXTRA)
def test_every_difference_is_recorded_as_a_loss(
    record: Record, kept: dict[str, Any], others: dict[str, Any]
) -> None:
    """A field differs if and only if its loss is recorded, with any extra fields."""
    # A score that says nothing is no difference, however many of them there are.
    assume(not any(Score() in (each.scores or []) for each in record.outputs))
    # Several scores of the answer that is kept are several rows.
    assume(all(len(each.scores or []) < 2 for each in record.outputs[:1]))
    record = replace(filled(record), extra={**others, "csv": kept})
    found = RecordMapper(TABLE, ONE_ROW).map(record)
    (row,) = found.rows
    noted = {each.path for each in found.outcomes}
    differing = {each.path for each in differences(record, TABLE.read(row))}

    assert SCHEMA_VALIDATOR.is_valid(row)
    assert unrelated(differing, noted) == set()
    assert unrelated(noted, differing) == set()


@given(VALUES)
def test_numbers_are_exact(value: Any) -> None:
    """What is JSON in a cell comes back to the spelling of each number."""
    row, _ = written(Record(metadata={"a": value}))

    assert same(TABLE.read(row).metadata, {"a": value})


@pytest.mark.parametrize("most", [0, 3, 256])
@given(rows=st.lists(ROWS, min_size=1, max_size=8))
def test_rows_are_read_alone(most: int, rows: list[dict[str, str]]) -> None:
    """A row is read as if no other row had been read before it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapping, "_most_columns", most)
        patch.setattr(mapping, "_read_columns", mapping._ColumnReader())  # noqa: SLF001 - one that has read no row
        together = [TABLE.read(row) for row in rows]
    for row, record in zip(rows, together, strict=True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mapping, "_read_columns", partial(read_steps, mapping._table))  # noqa: SLF001 - the specification
            assert TABLE.read(row) == record


def test_written_answers_are_read_without_the_name_of_the_format() -> None:
    """An empty column of models tells answers from references."""
    given, written = b"prompt,response\nq,a\n", io.BytesIO()
    harpia_formats.convert(given, from_="csv", to="csv", output=written)

    assert written.getvalue() == b"prompt,model,response\nq,,a\n"
    (record,) = harpia_formats.read(written.getvalue())
    assert record.outputs == [Output(text="a")]
    with pytest.raises(harpia_formats.HarpiaFormatsError):
        list(harpia_formats.read(given))
