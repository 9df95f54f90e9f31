"""Blocks of a table that are cut at once, against its records cut one by one."""

import csv
import io
from typing import Any, Literal
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.parsing.csv_blocks import (
    TableBlock,
    TablePiece,
    TableRow,
    cut_block,
)
from harpia_formats.files.parsing.csv_records import (
    rows_of_block,
    table_pieces,
    table_rows,
)
from table_pieces import joined_blanks

_MORSELS = (
    *(b'"', b'""', b'"""', b'""""', b",", b',"x"', b'"y",', b'"",', b',""', b"1,2\n"),
    *(b'"a","b"\n', b'1,""\r\n', b'"""q""",2\n', b'"x\ny",3\n', b'"\r\n",\n'),
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b";",
        b"\x1f",
        b"\x1e\x1d",
    ),
    *("é".encode(), "\u2028".encode(), "😀".encode(), b"\xef\xbb\xbf"),
)
_SOUP = st.lists(st.sampled_from(_MORSELS), max_size=60).map(b"".join)
_TEXTS = st.text(st.sampled_from('ab,"\n\r é😀;\x1f'), max_size=5)


def _cut(data: bytes, block: int, limit: int, *, in_blocks: bool) -> list[Any]:
    """Cut `data` as if windows were so small that it has several blocks."""
    cut = table_pieces if in_blocks else table_rows
    with (
        patch("harpia_formats.files.parsing.csv_records.BLOCK", block),
        patch("harpia_formats.files.parsing.csv_records.WINDOW", 2 * block),
        patch("harpia_formats.files.parsing.csv_records.STEP", block),
        patch("harpia_formats.files.parsing.csv_blocks.STEP", block),
    ):
        return list(cut(ByteBuffer(iter([data])), Cursor(), limit))


def _given(row: TableRow, *, drops_blank: bool) -> dict[str, str]:
    """Return the fields of a record by the numbers of their columns."""
    return {
        str(number): field.text
        for number, field in enumerate(row.fields)
        if not (drops_blank and field.start == field.end)
    }


@given(
    data=_SOUP,
    block=st.sampled_from([4, 16, 64, 1024]),
    limit=st.sampled_from([5, 30, ROW_LIMIT]),
    drops_blank=st.booleans(),
)
def test_blocks_hold_the_records_that_are_cut_one_by_one(
    data: bytes, block: int, limit: int, *, drops_blank: bool
) -> None:
    """With blocks, a table has the same records, places, bytes and faults."""
    pieces: list[TablePiece] = []
    for piece in _cut(data, block, limit, in_blocks=True):
        if not isinstance(piece, TableBlock):
            pieces.append(piece)
            continue
        rows = list(rows_of_block(piece))
        names = list(map(str, range(piece.width)))
        pieces += rows

        assert piece.rows(names, drops_blank=drops_blank) == [
            _given(row, drops_blank=drops_blank) for row in rows
        ]
        assert piece.count == len(rows)
        for number, row in enumerate(rows):
            assert piece.start_of(number) == row.start
            assert piece.data_of(number) == row.data

    singly = _cut(data, block, limit, in_blocks=False)
    assert joined_blanks(pieces) == joined_blanks(singly)


@given(
    table=st.lists(st.lists(_TEXTS, min_size=2, max_size=2), min_size=1),
    line_end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    delimiter=st.sampled_from([",", ";", "\t", "\x1f", "|"]),
)
def test_whatever_python_writes_is_cut_as_a_block(
    table: list[list[str]],
    line_end: str,
    quoting: Literal[0, 1],
    delimiter: str,
) -> None:
    """A table that Python's csv has written is a block with its fields, if no CR is."""
    file = io.StringIO(newline="")
    table = [[text.replace("\r", "") for text in row] for row in table]
    writer = csv.writer(
        file, lineterminator=line_end, delimiter=delimiter, quoting=quoting
    )
    writer.writerows(table)
    data = file.getvalue().encode()
    block = cut_block(data + b'1,"2\n', Cursor(), delimiter.encode(), 2)

    assert block is not None
    assert block.data == data
    assert [list(row.values()) for row in block.rows("ab", drops_blank=False)] == table


@for_each_case(
    "data",
    [
        *(b"1\n", b"1,2,3\n", b"1,2\n\n", b"1,2\r3,4\n", b'1,2"\n', b'1,"2"x\n'),
        *(b'1,""x\n', b'1,x""\n', b'1,"2', b"1,\xff\n", b"1,\0\n", b'1,"\0"\n', b""),
        *(b'1,"""\n', b'1,"2" \n', b'"1"2,3\n'),
    ],
)
def test_block_with_something_unusual_is_not_cut(data: bytes) -> None:
    """Where a record is not certainly whole and right, the block is refused."""
    assert cut_block(data, Cursor(), b",", 2) is None


def test_single_column_has_no_blank_lines() -> None:
    """In a table of one column `""` is a record, and a blank line is none."""
    block = cut_block(b'1\n""\n2\n', Cursor(), b",", 1)

    assert block is not None
    assert block.rows("a", drops_blank=True) == [{"a": "1"}, {"a": ""}, {"a": "2"}]
    assert cut_block(b"1\n\n2\n", Cursor(), b",", 1) is None


def test_rows_of_a_large_table_come_in_blocks() -> None:
    """Of a table without faults only the header is cut singly."""
    data = b"a,b\n" + b'1,"x\n""y"""\n' * 50_000
    pieces = list(table_pieces(ByteBuffer(iter([data])), Cursor(), ROW_LIMIT))
    blocks = [piece for piece in pieces if isinstance(piece, TableBlock)]

    assert len(pieces) == 1 + len(blocks)
    assert sum(block.count for block in blocks) == 50_000
    assert blocks[-1].start_of(blocks[-1].count - 1).line == 2 * 50_000


@for_each_case("size, is_block", [(64 * 1024, True), (64 * 1024 + 1, False)])
def test_a_block_has_64_kib_at_most(size: int, is_block: bool) -> None:
    """A record of as many bytes is a block, a longer one is cut singly."""
    data = b"a\n" + b"x" * (size - 1) + b"\n"
    _, piece = table_pieces(ByteBuffer(iter([data])), Cursor(), ROW_LIMIT)

    assert isinstance(piece, TableBlock) is is_block
