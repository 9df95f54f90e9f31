"""Rows as a table in CSV, written in blocks."""

import csv
import io
import tracemalloc
from collections.abc import Iterable, Mapping
from pickle import dumps, loads

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.conversion.containers.csv_writers import (
    CsvWriter,
    TableEncoder,
)
from harpia_formats.conversion.containers.row_writer import SPOOL_BYTES
from harpia_formats.conversion.parallel.converted_rows import RowBlocks
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.parsing.csv_blocks import TableRow
from harpia_formats.files.parsing.csv_records import table_rows
from harpia_formats.model.adapter import Row
from harpia_formats.model.column_map import MapError

TEXTS = st.text(alphabet='a,"\r\n \0é雨😀\u2028\ufeff', max_size=5)
CELLS = st.none() | st.sampled_from(["", "x", "long " * 9]) | TEXTS
KEYS = st.sampled_from(["x", "y", "z", "", 'q"', "é,\n"])
TABLE_ROWS = st.lists(st.dictionaries(KEYS, CELLS), max_size=9)
#: Sizes of blocks, and whether another process encodes each of them.
CUTS = st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=5)


@st.composite
def encoders(draw: st.DrawFn) -> TableEncoder:
    """Return an encoder for some order of columns."""
    keys = st.lists(KEYS, unique=True, max_size=4)
    order = draw(keys)
    required = draw(st.lists(st.sampled_from(order), unique=True)) if order else []
    implied = draw(st.dictionaries(KEYS, KEYS, max_size=2))
    return TableEncoder(order, required, implied, quotes_empty=draw(st.booleans()))


def specified(
    rows: list[Row], encoder: TableEncoder, names: Mapping[str, str]
) -> bytes:
    """Return the table of some rows, written cell by cell."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    present = {*keys, *encoder.required}
    for _ in encoder.implied:
        present |= {new for key, new in encoder.implied.items() if key in present}
    known = [column for column in encoder.order if column in present]
    columns = [*known, *(key for key in keys if key not in known)]
    lines: list[list[str | None]] = [[names.get(each, each) for each in columns]]
    lines += [[row.get(column) for column in columns] for row in rows]

    def cell(text: str | None) -> str:
        if text is None:
            return ""
        if text == "":
            return '""' if encoder.quotes_empty else ""
        if any(character in text for character in ',"\r\n\0'):
            return '"' + text.replace('"', '""') + '"'
        return text

    return "".join(
        (",".join(map(cell, each)) or '""') + "\n" for each in lines
    ).encode()


def written(
    rows: list[Row],
    cuts: Iterable[tuple[int, bool]] = (),
    encoder: TableEncoder | None = None,
    names: Mapping[str, str] | None = None,
) -> bytes:
    """Return the table that is written of rows in blocks.

    Other processes know the columns of the first block only.
    """
    parts: list[bytes] = []
    writer = CsvWriter(parts.append, encoder or TableEncoder(), names or {})
    other = writer.encoder
    rest = rows
    for number, (size, is_elsewhere) in enumerate((*cuts, (len(rows), False))):
        block, rest = rest[:size], rest[size:]
        if not block:
            continue
        if is_elsewhere:
            writer.add(loads(dumps(loads(dumps(other))(block))))  # noqa: S301 - made here
        else:
            writer.add(writer.encoder(block))
        if number == 0:
            other = writer.encoder
    try:
        writer.close({})
    finally:
        writer.discard()
    return b"".join(parts)


@given(
    TABLE_ROWS, CUTS, encoders(), st.dictionaries(KEYS, st.just("other"), max_size=1)
)
def test_blocks_are_written_as_cell_by_cell(
    rows: list[Row],
    cuts: list[tuple[int, bool]],
    encoder: TableEncoder,
    names: dict[str, str],
) -> None:
    """A table has the bytes of its cells however its rows are cut into blocks."""
    assert written(rows, cuts, encoder, names) == specified(rows, encoder, names)


@given(TABLE_ROWS, CUTS, st.booleans())
def test_cells_are_read_as_they_were(
    rows: list[Row], cuts: list[tuple[int, bool]], quotes_empty: bool
) -> None:
    """Python and the reader of tables return each text that was written."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = written(rows, cuts, TableEncoder(quotes_empty=quotes_empty))
    expected = [columns, *([row.get(each) or "" for each in columns] for row in rows)]
    found = table_rows(ByteBuffer(iter([text])), Cursor(), ROW_LIMIT)
    read = [
        [cell.text for cell in each.fields]
        for each in found
        if isinstance(each, TableRow)
    ]

    assert read == [each or [""] for each in expected]
    assert list(csv.reader(io.StringIO(text.decode(), newline=""))) == read


def test_an_empty_text_has_quotes() -> None:
    """An empty text is quoted, and an absent one is not."""
    rows: list[Row] = [{"x": "", "y": "b"}, {"y": ""}]

    assert written(rows, encoder=TableEncoder(quotes_empty=True)) == (
        b'x,y\n"",b\n,""\n'
    )


def test_columns_have_their_order_and_their_names() -> None:
    """Known columns come first in their order, and may have other names."""
    encoder = TableEncoder(order="cab", required="c", implied={"z": "b"})

    assert written([{"z": "1"}, {"a": "3"}], encoder=encoder, names={"a": "A,"}) == (
        b'c,"A,",b,z\n,,,1\n,3,,\n'
    )


def test_columns_of_one_name_are_refused() -> None:
    """A table with two columns of one name is not written."""
    with pytest.raises(MapError, match="two columns would have this name"):
        written([{"a": "1", "b": "2"}], names={"a": "b"})


@pytest.mark.parametrize("text", ['"' * 300_000, "é" * 300_000, ",\n" * 300_000])
def test_late_column_is_added_to_large_cells(text: str) -> None:
    """A column that comes late is added to rows with cells of any size."""
    rows: list[Row] = [{"a": text, "b": "1"}, {"c": "2"}]
    cuts = [(1, False), (1, False)]

    assert written(rows, cuts) == specified(rows, TableEncoder(), {})


def test_what_is_known_of_runs_is_not_kept_in_memory() -> None:
    """A table whose rows change their columns takes no memory for each change."""
    held = []
    for count in (3_000, 30_000):
        writer = CsvWriter(lambda _: None)
        first, second = writer.encoder([{"a": "1"}]), writer.encoder([{"b": "2"}])
        tracemalloc.start()
        for _ in range(count):
            writer.add([*first, *second])
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        writer.discard()

    # Some lines and numbers are held before they go to the files.
    assert held[1] < held[0] + SPOOL_BYTES + 50_000


def test_a_table_whose_columns_change_often_is_written() -> None:
    """Runs that are not in memory are written in their order."""
    rows: list[Row] = [{"ab"[number % 2]: str(number)} for number in range(3_000)]

    assert written(rows, [(1, False)] * len(rows)) == specified(
        rows, TableEncoder(), {}
    )


def test_columns_that_are_known_keep_blocks_alike() -> None:
    """A block without a column of earlier rows has its cells, too."""
    encoder = TableEncoder(known=("a", "b"))
    (block,) = encoder([{"b": "1"}])

    assert (block.columns, block.texts, block.count) == (("a", "b"), (b",1\n",), 1)


def test_worker_keeps_the_columns_that_have_a_place() -> None:
    """A worker's later blocks have known columns of earlier ones, and no others."""
    output = RowBlocks(TableEncoder(order=("a", "b", "c")))
    output.write(output.encoder()([{"c": "1", "z": "2"}]))
    output.keep_columns()
    output.clear()
    output.write(output.encoder()([{"a": "3"}]))

    assert [block.columns for block in output.blocks] == [("a", "c")]
