"""Writers of files of rows: lines, arrays, columns and tables."""

import csv
import io
import json
from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.conversion.containers import row_writer
from harpia_formats.conversion.containers.array import ArrayWriter, WrappedArrayWriter
from harpia_formats.conversion.containers.columns import ColumnWriter
from harpia_formats.conversion.containers.csv_table import CsvWriter
from harpia_formats.conversion.containers.lines import LineWriter
from harpia_formats.conversion.containers.row_writer import (
    RowWriter,
    WriteBytes,
    separated_rows,
    terminated_rows,
)
from harpia_formats.model.adapter import Row

Make = Callable[[WriteBytes], RowWriter]
HEADER: Row = {"metrics": ["em"]}


def written(
    make: Make, blocks: list[list[Row]], header: Row | None = None, size: int = 1000
) -> bytes:
    """Return the file that a writer makes of blocks, each in pieces of `size` bytes."""
    parts: list[bytes] = []
    writer = make(parts.append)
    for block in blocks:
        rows = separated_rows(block, writer.separator)
        writer.block(rows[at : at + size] for at in range(0, len(rows), size))
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


@pytest.mark.parametrize("make", [LineWriter, ArrayWriter, ColumnWriter])
@given(size=st.integers(1, 40), sizes=CUTS)
def test_pieces_do_not_change_the_file(make: Make, size: int, sizes: list[int]) -> None:
    """A file has the same bytes however a block is cut into pieces."""
    blocks = cut(ROWS, sizes)

    assert written(make, blocks, size=size) == written(make, blocks)


@pytest.mark.parametrize("make", [headed_lines, headed_array, wrapped])
@given(size=st.integers(1, 40), sizes=CUTS)
def test_pieces_do_not_change_a_file_with_a_header(
    make: Make, size: int, sizes: list[int]
) -> None:
    """A file with a header has the same bytes however a block is cut into pieces."""
    blocks = cut(ROWS, sizes)

    assert written(make, blocks, HEADER, size) == written(make, blocks, HEADER)


@given(sizes=CUTS, count=st.integers(0, 4))
def test_blocks_do_not_change_the_file(sizes: list[int], count: int) -> None:
    """A file has the same bytes however its rows are cut into blocks."""
    rows = ROWS[:count]
    blocks = cut(rows, sizes)
    lines = written(LineWriter, blocks)
    waiting = written(headed_lines, blocks)

    assert [json.loads(each) for each in lines.splitlines()] == rows
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


def table(write: WriteBytes, **options: Any) -> RowWriter:
    """Return a writer of a table in which nothing and an empty text differ."""
    return CsvWriter(write, quotes_empty=True, **options)


CELLS = st.text(alphabet='a,"\r\n \0é雨', max_size=6)


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), CELLS, min_size=1), max_size=5))
def test_cells_are_read_as_they_were(rows: list[dict[str, str]]) -> None:
    """The CSV reader of Python returns each text that was written."""
    text = written(table, [rows] if rows else []).decode()
    read = list(csv.DictReader(io.StringIO(text, newline="")))

    assert read == [
        {key: each.get(key, "") for key in dict.fromkeys(k for r in rows for k in r)}
        for each in rows
    ]


def test_an_empty_text_has_quotes() -> None:
    """An empty text is quoted, and an absent one is not."""
    rows: list[Row] = [{"x": "", "y": "b"}, {"y": ""}]

    assert written(table, [rows]) == b'x,y\n"",b\n,""\n'


def test_columns_have_their_order_and_their_names() -> None:
    """Known columns come first in their order, and may have other names."""

    def make(write: WriteBytes) -> RowWriter:
        return table(write, order="cab", required="c", names={"a": "A,"})

    assert written(make, [[{"z": "1", "b": "2"}, {"a": "3"}]]) == (
        b'c,"A,",b,z\n,,2,1\n,3,,\n'
    )


@pytest.mark.parametrize(
    "make",
    [LineWriter, headed_lines, ArrayWriter, headed_array, wrapped, ColumnWriter, table],
)
def test_discarded_writers_close_their_files(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that is discarded has closed every file that it opened."""
    files: list[IO[bytes]] = []

    def opened(held: int) -> IO[bytes]:
        files.append(SpooledTemporaryFile(held))  # noqa: SIM115 - closed by `discard`
        return files[-1]

    monkeypatch.setattr(row_writer, "SpooledTemporaryFile", opened)
    for blocks in ([], [b'{"a":"1"}', b'{"a":"2"}']):
        writer = make(lambda _: None)
        for each in blocks:
            writer.block([each])
        writer.discard()

    assert all(each.closed for each in files)
    assert (files != []) == (make in {headed_lines, ColumnWriter, table, headed_array})


@given(st.integers(0, 4), st.sampled_from([LineWriter, ArrayWriter]))
def test_terminated_rows_are_separated_rows_with_a_last_separator(
    count: int, make: Callable[[WriteBytes], LineWriter | ArrayWriter]
) -> None:
    """Terminated rows are separated rows with one separator behind the last."""
    rows, separator = ROWS[:count], make(lambda _: None).separator
    behind = separator if rows else b""

    assert terminated_rows(rows, separator) == separated_rows(rows, separator) + behind
