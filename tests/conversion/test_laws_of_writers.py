"""Writers make one file of rows however these are cut into blocks."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pickle import dumps, loads

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import MapError
from harpia_formats.conversion.containers.csv_writers import (
    CsvWriter,
    TableEncoder,
)
from harpia_formats.conversion.containers.json_writers import (
    ArrayWriter,
    ColumnWriter,
    LineWriter,
    WrappedArrayWriter,
)
from harpia_formats.conversion.containers.row_writer import (
    RowWriter,
    WriteBytes,
)
from harpia_formats.conversion.mapping.extra_fields import COMPONENT_KEY
from harpia_formats.conversion.parallel.converted_rows import RowBlocks
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.parsing.csv_blocks import TableRow
from harpia_formats.files.parsing.csv_records import table_rows
from harpia_formats.model.exact_json import encode
from harpia_formats.plugins import Row

# Lines, arrays and columns


Make = Callable[[WriteBytes], RowWriter]
HEADER: Row = {"metrics": ["em"]}


def written(make: Make, blocks: list[list[Row]], header: Row | None = None) -> bytes:
    """Return the file that a writer makes of blocks."""
    parts: list[bytes] = []
    writer = make(parts.append)
    for block in blocks:
        writer.add(writer.encoder(block))
    writer.close(header or {})
    return b"".join(parts)


ROWS: list[Row] = [{"a": 1}, {"b": [1, {"c": ",\n"}]}, {}, {"a": "x\ny"}]
CUTS = st.lists(st.integers(1, 3), max_size=4)


def cut(rows: list[Row], sizes: list[int]) -> list[list[Row]]:
    """Return rows in blocks."""
    blocks, rest = [], rows
    for size in sizes:
        if rest:
            blocks.append(rest[:size])
            rest = rest[size:]
    return [*blocks, rest] if rest else blocks


def headed_lines(write: WriteBytes) -> RowWriter:
    """Return a writer of lines whose first may get a header."""
    return LineWriter(write, headed=True)


def headed_array(write: WriteBytes) -> RowWriter:
    """Return a writer of an array whose first item may get a header."""
    return ArrayWriter(write, headed=True)


def wrapped(write: WriteBytes) -> RowWriter:
    """Return a writer of an object around rows."""
    return WrappedArrayWriter(write, "rows")


@given(sizes=CUTS, count=st.integers(0, 4))
def test_blocks_do_not_change_the_file(sizes: list[int], count: int) -> None:
    """A file has the same bytes however its rows are cut into blocks."""
    rows = ROWS[:count]
    blocks = cut(rows, sizes)
    lines = written(LineWriter, blocks)
    waiting = written(headed_lines, blocks)

    assert lines == b"".join(encode(row) + b"\n" for row in rows)
    assert waiting == lines
    assert json.loads(written(ArrayWriter, blocks)) == rows
    assert written(headed_array, blocks) == written(ArrayWriter, blocks)
    assert json.loads(written(wrapped, blocks)) == {"rows": rows}


@given(sizes=CUTS, count=st.integers(1, 4))
def test_a_header_is_in_the_first_row(sizes: list[int], count: int) -> None:
    """A header that comes at the end is a member of the first row."""
    rows = [{"id": 0} | each for each in ROWS[:count]]
    blocks = cut(rows, sizes)
    wanted = [rows[0] | {"header": HEADER}, *rows[1:]]
    lines = written(headed_lines, blocks, HEADER).splitlines()

    assert [json.loads(each) for each in lines] == wanted
    assert json.loads(written(headed_array, blocks, HEADER)) == wanted


def test_a_header_stands_behind_rows_in_an_object() -> None:
    """Around an array the header's members follow it."""
    assert json.loads(written(wrapped, [[{"a": 1}]], HEADER)) == {
        "rows": [{"a": 1}],
        **HEADER,
    }
    assert json.loads(written(wrapped, [], HEADER)) == {"rows": [], **HEADER}


JSON = st.none() | st.integers() | st.text(alphabet='a\n", \u2028', max_size=3)
COLUMN_ROWS = st.lists(
    st.dictionaries(st.sampled_from(["x", "y", "\n", COMPONENT_KEY]), JSON), max_size=9
)


def specified_columns(rows: list[Row], header: Row) -> bytes:
    """Return some rows as columns, written item by item."""
    components: dict[str | None, list[Row]] = {}
    for row in rows:
        name = row.get(COMPONENT_KEY)
        is_named = isinstance(name, str)
        rest = {key: row[key] for key in row if not (is_named and key == COMPONENT_KEY)}
        components.setdefault(name if is_named else None, []).append(rest)

    def columns(members: list[Row]) -> bytes:
        keys = dict.fromkeys(key for row in members for key in row)
        lines = [
            encode(key)
            + b": ["
            + b", ".join(encode(row.get(key)) for row in members)
            + b"]"
            for key in keys
        ]
        return b"{" + b",".join(b"\n" + line for line in lines) + b"\n}"

    if "component" not in header and not any(key is not None for key in components):
        return columns(components.get(None, [])) + b"\n"
    own = header.get("component", "component")
    named = {own if key is None else key: each for key, each in components.items()}
    parts = [
        encode(key) + b": " + columns(each)
        for key, each in (named or {own: []}).items()
    ]
    return b"{" + b",\n".join(parts) + b"}\n"


@given(COLUMN_ROWS, CUTS, st.sampled_from([{}, {"component": "own"}]))
def test_columns_are_written_as_item_by_item(
    rows: list[Row], sizes: list[int], header: Row
) -> None:
    """Columns have the bytes of their items however rows are cut into blocks."""
    blocks = cut(rows, sizes)

    assert written(ColumnWriter, blocks, header) == specified_columns(rows, header)


def test_columns_have_an_item_for_each_row() -> None:
    """A column that a row lacks has null there, however late the column comes."""
    rows: list[Row] = [{"a": 1}, {"b": 2}, {}, {"a": 3, "c": None}]
    text = written(ColumnWriter, [rows[:2], rows[2:]])

    assert json.loads(text) == {
        "a": [1, None, None, 3],
        "b": [None, 2, None, None],
        "c": [None, None, None, None],
    }
    assert json.loads(written(ColumnWriter, [])) == {}
    assert json.loads(written(ColumnWriter, [[{"a": 1}]], {"component": "x"})) == {
        "x": {"a": [1]}
    }


def test_late_column_is_padded() -> None:
    """A column that begins after many rows is padded to the length of the others."""
    rows: list[Row] = [*[{"a": 1}] * 25_000, {"b": 2}]
    columns = json.loads(written(ColumnWriter, [rows]))

    assert [len(each) for each in columns.values()] == [25_001, 25_001]
    assert columns["b"][-1] == 2


# Tables


TEXTS = st.text(alphabet='a,"\r\n \0é雨😀\u2028\ufeff', max_size=5)
CELLS = st.none() | st.sampled_from(["", "x", "long " * 9]) | TEXTS
KEYS = st.sampled_from(["x", "y", "z", "", 'q"', "é,\n"])
TABLE_ROWS = st.lists(st.dictionaries(KEYS, CELLS), max_size=9)
#: Sizes of blocks, and whether another process encodes each of them.
TABLE_CUTS = st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=5)


@st.composite
def encoders(draw: st.DrawFn) -> TableEncoder:
    """Return an encoder for some order of columns."""
    keys = st.lists(KEYS, unique=True, max_size=4)
    order = draw(keys)
    required = draw(st.lists(st.sampled_from(order), unique=True)) if order else []
    implied = draw(st.dictionaries(KEYS, KEYS, max_size=2))
    return TableEncoder(order, required, implied, quotes_empty=draw(st.booleans()))


def specified_table(
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


def written_table(
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
    TABLE_ROWS,
    TABLE_CUTS,
    encoders(),
    st.dictionaries(KEYS, st.just("other"), max_size=1),
)
def test_blocks_are_written_as_cell_by_cell(
    rows: list[Row],
    cuts: list[tuple[int, bool]],
    encoder: TableEncoder,
    names: dict[str, str],
) -> None:
    """A table has the bytes of its cells however its rows are cut into blocks."""
    assert written_table(rows, cuts, encoder, names) == specified_table(
        rows, encoder, names
    )


@given(TABLE_ROWS, TABLE_CUTS, st.booleans())
def test_cells_are_read_as_they_were(
    rows: list[Row], cuts: list[tuple[int, bool]], quotes_empty: bool
) -> None:
    """Python and the reader of tables return each text that was written."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = written_table(rows, cuts, TableEncoder(quotes_empty=quotes_empty))
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

    assert written_table(rows, encoder=TableEncoder(quotes_empty=True)) == (
        b'x,y\n"",b\n,""\n'
    )


def test_columns_have_their_order_and_their_names() -> None:
    """Known columns come first in their order, and may have other names."""
    encoder = TableEncoder(order="cab", required="c", implied={"z": "b"})

    assert written_table(
        [{"z": "1"}, {"a": "3"}], encoder=encoder, names={"a": "A,"}
    ) == (b'c,"A,",b,z\n,,,1\n,3,,\n')


def test_columns_of_one_name_are_refused() -> None:
    """A table with two columns of one name is not written."""
    with pytest.raises(MapError, match="two columns would have this name"):
        written_table([{"a": "1", "b": "2"}], names={"a": "b"})


@pytest.mark.parametrize("text", ['"' * 300_000, "é" * 300_000, ",\n" * 300_000])
def test_late_column_is_added_to_large_cells(text: str) -> None:
    """A column that comes late is added to rows with cells of any size."""
    rows: list[Row] = [{"a": text, "b": "1"}, {"c": "2"}]
    cuts = [(1, False), (1, False)]

    assert written_table(rows, cuts) == specified_table(rows, TableEncoder(), {})


def test_a_table_whose_columns_change_often_is_written() -> None:
    """Runs that are not in memory are written in their order."""
    rows: list[Row] = [{"ab"[number % 2]: str(number)} for number in range(3_000)]

    assert written_table(rows, [(1, False)] * len(rows)) == specified_table(
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
