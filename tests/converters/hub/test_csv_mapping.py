"""The rows of a plain table as records, and records as rows of a table."""

import csv
import io
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

import harpia_formats
from cases import for_each_case
from effort import examples
from harpia_converters.hub import csv_mapping as mapping
from harpia_converters.hub.csv_mapping import TABLE, PandasCells, as_json
from harpia_formats import Output, Record, Score, convert, diff
from harpia_formats.api.testing.strategies import TEXTS, VALUES
from harpia_formats.conversion.comparison.differences import differences, same
from harpia_formats.files.parsing.locate import duplicates, repeats_key
from harpia_formats.model.column_map import FIELDS
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.record import FIELD_TYPES
from harpia_formats.plugins import DECLINED, FieldOutcomes
from table_steps import read_steps
from written_rows import row_and_losses

FIXTURES = sorted((Path(__file__).parents[3] / "fixtures/csv").glob("[nv]*/*.csv"))
NAMES = st.sampled_from([*TABLE.columns, "nota", "csv"]) | TEXTS
CELLS = TEXTS | st.sampled_from(
    ["0.10", "01", "true", "[]", '["a", "b"]', '[{"role": "user"}]', "{}", '{"a": {}}']
)
ROWS = st.dictionaries(NAMES, CELLS, min_size=1, max_size=5)


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


DATA = (
    b'{"id":"a","prompt":"True","references":["NaN"],"category":"1.0","outputs":'
    b'[{"model":"m","index":0,"text":"NaN","scores":[{"value":0.5,"is_correct":true}],'
    b'"token_usage":{"input_tokens":1}}]}\n'
    b'{"id":"b","prompt":"q","references":["r"],"category":"c","outputs":'
    b'[{"model":"m","text":"a","scores":[{"is_correct":false}]}]}\n'
)


def by_pandas(table: str, *, missing: str, index: str | None) -> str:
    """Return a table as `pandas.read_csv` and `to_csv` return it.

    Columns of true and false become `True` and `False`, whole numbers next to missing
    ones become floats, `missing` stands for these, and `index` names the first column.
    """
    rows = list(csv.reader(io.StringIO(table)))
    columns = list(zip(*rows[1:], strict=True))
    written = []
    for cells in columns:
        known = [cell for cell in cells if cell]
        new = list(cells)
        if set(known) <= {"true", "false"}:
            new = [cell.capitalize() for cell in cells]
        elif len(known) < len(cells) and all(cell.isdigit() for cell in known):
            new = [f"{cell}.0" if cell else "" for cell in cells]
        written.append([cell or missing for cell in new])
    text = io.StringIO()
    writer = csv.writer(text)
    numbered = [] if index is None else [index]
    writer.writerow([*numbered, *rows[0]])
    for number, cells in enumerate(zip(*written, strict=True)):
        writer.writerow([*([] if index is None else [number]), *cells])
    return text.getvalue()


@pytest.mark.parametrize("index", [None, "", "Unnamed: 0"])
def test_table_that_pandas_wrote_comes_back(index: str | None) -> None:
    """Nothing differs after pandas has read and written a table."""
    table = io.BytesIO()
    assert convert(DATA, to="csv", output=table, from_="record").written
    text = by_pandas(table.getvalue().decode(), missing="", index=index)
    report = diff(DATA, text.encode(), from_="record", to="csv")

    assert report.fields == {}
    assert report.ok


@given(
    extra=st.dictionaries(
        st.sampled_from(["", "Unnamed: 0", "score", "is_correct", "index", "x"]),
        st.sampled_from(["0", "1.0", "NaN", "True", "a", ""]),
        min_size=1,
    )
)
def test_extra_text_comes_back_whatever_it_looks_like(extra: dict[str, Any]) -> None:
    """Text of unknown columns is not lost, even if it looks like that of pandas."""
    score = Score(value=1, is_correct=True)
    record = Record(
        id="1",
        outputs=[Output(text="t", index=1, scores=[score])],
        extra={"csv": extra},
    )
    outcomes = FieldOutcomes()

    assert TABLE.read(TABLE.writer(record, outcomes)) == record
    assert outcomes.entries == []


OF_PANDAS = st.sampled_from(
    'True False true false NaN nan 1.0 -2.0 1 0.5 {} [] {"a":{}} text'.split()
)
COLUMNS_OF_PANDAS = st.sampled_from(
    [*TABLE.columns, "", "Unnamed: 0", "Unnamed: x", "nota", "NaN"]
)


@given(st.dictionaries(COLUMNS_OF_PANDAS, OF_PANDAS, min_size=1, max_size=6))
def test_cells_are_read_as_other_programs_write_them(row: dict[str, str]) -> None:
    """A row is read as the row with every cell of pandas in its usual form."""
    plain = PandasCells(TABLE.fields).read(row)

    assert encode(to_builtins(TABLE.read(row))) == encode(
        to_builtins(TABLE.read(plain))
    )


#: Pieces of objects in which keys are often repeated, and colons stand in texts.
PIECES = st.sampled_from(['"a"', '"b"', '"a:"', r'"a\u003a"', r'"\u0061"', '"模"'])
LEAVES = st.sampled_from(["1", "1e2", "null", '":"', r'"\":\""', r'"\u003A"', '""'])


def objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for the text of objects and lists of them."""
    member = st.tuples(PIECES, st.sampled_from([":", " :", ": "]), inner).map("".join)
    members = st.lists(member, max_size=3).map(",".join)
    return members.map("{{{}}}".format) | st.lists(inner, max_size=3).map(
        lambda items: f"[{','.join(items)}]"
    )


JSON_TEXTS = st.recursive(LEAVES, objects, max_leaves=6)


@examples(100)
@given(JSON_TEXTS)
def test_repeated_keys_are_found_by_colons(text: str) -> None:
    """The count of colons finds a repeated key where a parser finds one."""
    is_repeated = any(duplicates(text.encode()))
    value = decode(text)

    assert repeats_key(text, value) == is_repeated
    assert (as_json(text) is DECLINED) == is_repeated


@given(VALUES)
def test_encoded_values_are_read(value: object) -> None:
    """No value that was encoded has a key twice."""
    text = encode(value).decode()

    assert encode(as_json(text)).decode() == text
