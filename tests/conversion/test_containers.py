"""Writers of files of rows: lines, arrays, columns and tables."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.conversion.containers import row_writer
from harpia_formats.conversion.containers.csv_writers import CsvWriter
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
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode

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


@pytest.mark.parametrize(
    "make",
    [
        LineWriter,
        headed_lines,
        ArrayWriter,
        headed_array,
        wrapped,
        ColumnWriter,
        CsvWriter,
    ],
)
def test_discarded_writers_close_their_files(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A writer that is discarded has closed every file that it opened."""
    files: list[IO[bytes]] = []

    def opened() -> IO[bytes]:
        files.append((tmp_path / f"{len(files)}").open("w+b"))
        return files[-1]

    monkeypatch.setattr(row_writer, "SPOOL_BYTES", 1)
    monkeypatch.setattr("tempfile.TemporaryFile", opened)
    for rows in ([], [{"a": "1"}, {"a": "2"}]):
        writer = make(lambda _: None)
        writer.add(writer.encoder(rows) if rows else [])
        writer.discard()

    assert all(each.closed for each in files)
    assert (files != []) == (
        make in {headed_lines, ColumnWriter, CsvWriter, headed_array}
    )
