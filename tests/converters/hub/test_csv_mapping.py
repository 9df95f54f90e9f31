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
from harpia_formats import Output, Record, Score
from harpia_formats.api.testing import filled, records
from harpia_formats.api.testing.strategies import EXTRA, TEXTS, VALUES
from harpia_formats.conversion.comparison.differences import differences, same
from harpia_formats.conversion.mapping.choices import Choices, Responses
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.model.column_map import FIELDS
from harpia_formats.model.record import FIELD_TYPES
from known_formats import FORMATS, row_validator
from table_steps import read_steps
from written_rows import row_and_losses

FIXTURES = sorted((Path(__file__).parents[3] / "fixtures/csv").glob("[nv]*/*.csv"))
SCHEMA_VALIDATOR = row_validator(FORMATS["csv"].dialects[0])
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
