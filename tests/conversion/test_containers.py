"""Rows put together to files."""

import csv
import io
import json
from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.conversion import containers as writers
from harpia_formats.conversion.containers import (
    Array,
    Columns,
    Lines,
    Table,
    Wrapped,
    Write,
    Writer,
    ended,
    joined,
)
from harpia_formats.model.adapter import Row

Make = Callable[[Write], Writer]
HEADER: Row = {"metrics": ["em"]}


def written(
    make: Make, blocks: list[list[Row]], header: Row | None = None, size: int = 1000
) -> bytes:
    """Return what a writer makes of some blocks of rows, in pieces of some bytes."""
    parts: list[bytes] = []
    writer = make(parts.append)
    for each in blocks:
        rows = joined(each, writer.separator)
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


def headed_lines(write: Write) -> Writer:
    """Return a writer of lines whose first may get a header."""
    return Lines(write, headed=True)


def headed_array(write: Write) -> Writer:
    """Return a writer of an array whose first item may get a header."""
    return Array(write, headed=True)


def wrapped(write: Write) -> Writer:
    """Return a writer of an object around rows."""
    return Wrapped(write, "rows")


@pytest.mark.parametrize("make", [Lines, Array, Columns])
@given(size=st.integers(1, 40), sizes=CUTS)
def test_pieces_do_not_show(make: Make, size: int, sizes: list[int]) -> None:
    """A file is the same however the bytes of a block come in pieces."""
    blocks = cut(ROWS, sizes)

    assert written(make, blocks, size=size) == written(make, blocks)


@pytest.mark.parametrize("make", [headed_lines, headed_array, wrapped])
@given(size=st.integers(1, 40), sizes=CUTS)
def test_pieces_do_not_show_with_a_header(
    make: Make, size: int, sizes: list[int]
) -> None:
    """The same holds of a file that gets a header."""
    blocks = cut(ROWS, sizes)

    assert written(make, blocks, HEADER, size) == written(make, blocks, HEADER)


@given(sizes=CUTS, count=st.integers(0, 4))
def test_blocks_do_not_show(sizes: list[int], count: int) -> None:
    """A file is the same however its rows come in blocks."""
    rows = ROWS[:count]
    blocks = cut(rows, sizes)
    lines = written(Lines, blocks)
    waiting = written(headed_lines, blocks)

    assert [json.loads(each) for each in lines.splitlines()] == rows
    assert waiting == lines
    assert json.loads(written(Array, blocks)) == rows
    assert written(headed_array, blocks) == written(Array, blocks)
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
    text = written(Columns, [rows[:2], rows[2:]])

    assert json.loads(text) == {
        "a": [1, None, None, 3],
        "b": [None, 2, None, None],
        "c": [None, None, None, None],
    }
    assert json.loads(written(Columns, [])) == {}
    assert json.loads(written(Columns, [[{"a": 1}]], {"component": "x"})) == {
        "x": {"a": [1]}
    }


def test_many_missing_items_are_filled() -> None:
    """A column that comes after a great many rows is as long as the others."""
    rows: list[Row] = [*[{"a": 1}] * 25_000, {"b": 2}]
    columns = json.loads(written(Columns, [rows]))

    assert [len(each) for each in columns.values()] == [25_001, 25_001]
    assert columns["b"][-1] == 2


def table(write: Write, **options: Any) -> Writer:
    """Return a writer of a table in which nothing and an empty text differ."""
    return Table(write, quotes_empty=True, **options)


CELLS = st.text(alphabet='a,"\r\n \0é雨', max_size=6)


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), CELLS, min_size=1), max_size=5))
def test_cells_are_read_as_they_were(rows: list[dict[str, str]]) -> None:
    """Python's own reader finds each text that was written."""
    text = written(table, [rows] if rows else []).decode()
    read = list(csv.DictReader(io.StringIO(text, newline="")))

    assert read == [
        {key: each.get(key, "") for key in dict.fromkeys(k for r in rows for k in r)}
        for each in rows
    ]


def test_an_empty_text_has_quotes() -> None:
    """An empty text is told from none by its quotes."""
    rows: list[Row] = [{"x": "", "y": "b"}, {"y": ""}]

    assert written(table, [rows]) == b'x,y\n"",b\n,""\n'


def test_columns_have_their_order_and_their_names() -> None:
    """Known columns come first in their order, and may have other names."""

    def make(write: Write) -> Writer:
        return table(write, order="cab", always="c", names={"a": "A,"})

    assert written(make, [[{"z": "1", "b": "2"}, {"a": "3"}]]) == (
        b'c,"A,",b,z\n,,2,1\n,3,,\n'
    )


@pytest.mark.parametrize(
    "make", [Lines, headed_lines, Array, headed_array, wrapped, Columns, table]
)
def test_what_is_given_up_holds_no_file(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that is dropped before its end has closed every file that it opened."""
    files: list[IO[bytes]] = []

    def opened(held: int) -> IO[bytes]:
        files.append(SpooledTemporaryFile(held))  # noqa: SIM115 - closed by `drop`
        return files[-1]

    monkeypatch.setattr(writers, "SpooledTemporaryFile", opened)
    for blocks in ([], [b'{"a":"1"}', b'{"a":"2"}']):
        writer = make(lambda _: None)
        for each in blocks:
            writer.block([each])
        writer.drop()

    assert all(each.closed for each in files)
    assert (files != []) == (make in {headed_lines, Columns, table, headed_array})


@given(st.integers(0, 4), st.sampled_from([Lines, Array]))
def test_rows_that_are_ended_are_joined_but_for_the_last_end(
    count: int, make: Callable[[Write], Lines | Array]
) -> None:
    """Rows with a separator behind each are those with one between them, and one."""
    rows, separator = ROWS[:count], make(lambda _: None).separator
    behind = separator if rows else b""

    assert ended(rows, separator) == joined(rows, separator) + behind
