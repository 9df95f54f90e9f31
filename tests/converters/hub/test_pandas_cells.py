"""Tables that pandas has read and written, here by the rules that it writes by."""

import csv
import io
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from cases import for_each_case
from harpia_converters.hub.csv_mapping import TABLE, PandasCells
from harpia_formats import Output, Record, Score, convert, diff
from harpia_formats.model.exact_json import encode
from harpia_formats.plugins import FieldOutcomes

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


@for_each_case(
    "name, cell",
    itertools.product(["score", "is_correct", "index", "token_usage"], ["NaN", "nan"]),
)
def test_missing_number_is_no_value(name: str, cell: str) -> None:
    """`NaN` in a column without text is an absent value."""
    assert TABLE.read({"id": "1", name: cell}) == Record(id="1")


@for_each_case(
    "name, cell",
    itertools.product(
        ["prompt", "response", "category", "id", "own"], ["NaN", "True", "1.0"]
    ),
)
def test_text_is_not_changed(name: str, cell: str) -> None:
    """In a column of text these words stay what they are."""
    record = TABLE.read({"id": "1", name: cell})

    assert TABLE.writer(record, FieldOutcomes())[name] == cell


def test_column_of_other_text_is_no_index() -> None:
    """A column without a name that holds words is kept."""
    record = TABLE.read({"": "a", "Unnamed: 3": "b", "id": "1"})

    assert record.extra == {"csv": {"": "a", "Unnamed: 3": "b"}}


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


CELLS = st.sampled_from(
    'True False true false NaN nan 1.0 -2.0 1 0.5 {} [] {"a":{}} text'.split()
)
COLUMNS = st.sampled_from(
    [*TABLE.columns, "", "Unnamed: 0", "Unnamed: x", "nota", "NaN"]
)


@given(st.dictionaries(COLUMNS, CELLS, min_size=1, max_size=6))
def test_cells_are_read_as_other_programs_write_them(row: dict[str, str]) -> None:
    """A row is read as the row with every cell of pandas in its usual form."""
    plain = PandasCells(TABLE.fields).read(row)

    assert encode(to_builtins(TABLE.read(row))) == encode(
        to_builtins(TABLE.read(plain))
    )
