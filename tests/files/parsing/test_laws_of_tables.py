"""Laws of tables: what is cut of any text into records, fields, blocks and ranges.

What is cut of a text, piece by piece, is in `answers.jsonl`.
"""

import csv
import io
import tracemalloc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, Literal
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing import byte_ranges
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT, WINDOW
from harpia_formats.files.parsing.csv_blocks import (
    FIELD_LIMIT,
    STEP,
    TableBlank,
    TableBlock,
    TableFault,
    TablePiece,
    TableRow,
    cut_block,
    last_character,
)
from harpia_formats.files.parsing.csv_records import (
    AROUND,
    rows_of_block,
    table_pieces,
    table_rows,
)

_MEGABYTE = 1024 * 1024
_MANY = 32 * 1024
_TEXTS = st.text(st.sampled_from('ab,"\n\r é😀;\x1f'), max_size=6) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
)
_MORSELS = (
    *(b'"', b'""', b'"""', b'""""', b",", b',"x"', b'"y",', b'"",', b',""', b"1,2\n"),
    *(b'"a","b"\n', b'1,""\r\n', b'"""q""",2\n', b'"x\ny",3\n', b'"\r\n",\n'),
    *(b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"a", b"bc"),
    *(b";", b"\x1f", b"\x1e\x1d", b"\xe2\x80\xa8", b"\xef\xbb\xbf"),
    *("é".encode(), "😀".encode()),
)
_SOUP = st.lists(st.sampled_from(_MORSELS), max_size=50).map(b"".join)
_SIZES = st.sampled_from([1, 2, 3, 7, 64, 1024])
#: All characters that can be delimiters.
_DELIMITERS = st.sampled_from(
    [mark for mark in map(chr, range(1, 128)) if mark not in '"\r\n']
)
_QUOTING: st.SearchStrategy[Literal[0, 1]] = st.sampled_from(
    [csv.QUOTE_MINIMAL, csv.QUOTE_ALL]
)


def _pieces(
    data: bytes, *, size: int = 4096, limit: int = ROW_LIMIT, delimiter: str = ","
) -> list[TablePiece]:
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    return list(table_rows(ByteBuffer(blocks), Cursor(), limit, delimiter))


def _small_pieces(
    data: bytes, size: int, limit: int, window: int, delimiter: str = ","
) -> list[TablePiece]:
    """Cut `data` as if windows were so small that everything spans several."""
    step = max(1, window // 4)
    with (
        patch("harpia_formats.files.parsing.csv_records.WINDOW", window),
        patch("harpia_formats.files.parsing.csv_records.STEP", step),
        patch("harpia_formats.files.parsing.csv_blocks.STEP", step),
        patch("harpia_formats.files.parsing.csv_records.AROUND", 5),
    ):
        return _pieces(data, size=size, limit=limit, delimiter=delimiter)


def _texts(pieces: Iterable[TablePiece]) -> list[list[str]]:
    rows = [each for each in pieces if isinstance(each, TableRow)]
    return [[field.text for field in row.fields] for row in rows]


def _faults(pieces: Iterable[TablePiece]) -> list[TableFault]:
    return [each for each in pieces if isinstance(each, TableFault)]


def _codes(pieces: Iterable[TablePiece]) -> list[tuple[str, int, int]]:
    faults = _faults(pieces)
    return [(each.code, each.start.line, each.start.column) for each in faults]


def _written(table: list[list[str]], line_end: str, **how: Any) -> str:
    """Return a table as Python's csv writes it."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=line_end, **how).writerows(table)
    return file.getvalue()


def _read_by_python(text: str, delimiter: str = ",") -> list[list[str]]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [row for row in rows if row]


def _cursor(data: bytes, offset: int) -> Cursor:
    """Count a position the plain way."""
    before = data[:offset].decode("utf-8", "replace")
    column = len(before.rpartition("\n")[2])
    return Cursor(offset, before.count("\n") + 1, column)


def _span(piece: TablePiece) -> range:
    """Return the bytes that a piece stands for."""
    if isinstance(piece, TableFault):
        return piece.passed
    size = len(piece.data) if isinstance(piece, TableRow) else 0
    return range(piece.start.offset, piece.start.offset + size)


@given(
    table=st.lists(st.lists(_TEXTS, max_size=4)),
    line_end=st.sampled_from(["\n", "\r\n"]),
    how=st.tuples(_DELIMITERS | st.sampled_from(",;\t|"), _QUOTING),
    size=_SIZES,
    window=st.sampled_from([8, 64, WINDOW]),
)
def test_rows_are_those_of_python(
    table: list[list[str]],
    line_end: str,
    how: tuple[str, Literal[0, 1]],
    size: int,
    window: int,
) -> None:
    """What Python's csv writes with any delimiter is read as its own reader does."""
    delimiter, quoting = how
    text = _written(table, line_end, delimiter=delimiter, quoting=quoting)
    pieces = _small_pieces(text.encode(), size, ROW_LIMIT, window, delimiter)

    assert _texts(pieces) == _read_by_python(text, delimiter)
    assert {each.code for each in _faults(pieces)} <= {"J303"}


@given(
    table=st.lists(st.lists(_TEXTS, min_size=1, max_size=4)),
    line_end=st.sampled_from(["\n", "\r\n"]),
    size=_SIZES,
)
def test_fields_are_at_their_places(
    table: list[list[str]], line_end: str, size: int
) -> None:
    """Every row and field is found in the file where it says that it is."""
    data = _written(table, line_end, quoting=csv.QUOTE_ALL).encode()
    pieces = _pieces(data, size=size)
    rows = [each for each in pieces if isinstance(each, TableRow)]

    assert pieces == rows
    assert _texts(rows) == table
    for row in rows:
        assert row.start == _cursor(data, row.start.offset)
        assert data[row.start.offset :].startswith(row.data + line_end.encode())
        for field in row.fields:
            quoted = field.text.replace('"', '""')
            assert row.data[field.start : field.end].decode() == f'"{quoted}"'


@given(
    data=_SOUP,
    sizes=st.tuples(_SIZES, _SIZES),
    limit=st.sampled_from([0, 1, 5, 20, 1000]),
    window=st.sampled_from([8, 16, 64, WINDOW]),
)
def test_nothing_is_swallowed(
    data: bytes, sizes: tuple[int, int], limit: int, window: int
) -> None:
    """Of any bytes, only line ends are in no piece; blocks make no difference."""
    pieces = _small_pieces(data, sizes[0], limit, window)
    covered = bytearray(len(data))
    end = 0
    for each in pieces:
        span = _span(each)
        assert span.start >= end
        end = span.stop
        covered[span.start : span.stop] = b"x" * len(span)
    left = {byte for byte, mark in zip(data, covered, strict=True) if not mark}

    assert left <= set(b"\r\n")
    assert pieces == _small_pieces(data, sizes[1], limit, window)


@given(data=_SOUP, limit=st.sampled_from([5, 1000]), window=st.sampled_from([16, 64]))
def test_pieces_are_at_their_places(data: bytes, limit: int, window: int) -> None:
    """The cursor of any piece is right, and a fault shows the bytes that are there."""
    for each in _small_pieces(data, 3, limit, window):
        assert each.start == _cursor(data, each.start.offset)
        if isinstance(each, TableFault):
            shown = each.start.offset - each.at
            assert data[shown:].startswith(each.data)
            assert b"\n" not in each.data
            assert 0 <= each.at < len(each.data)


@given(data=_SOUP)
def test_valid_file_is_read_as_by_python(data: bytes) -> None:
    """A file without faults has the rows and fields of Python's csv."""
    pieces = _pieces(data)
    if {each.code for each in _faults(pieces)} <= {"J303"}:
        assert _texts(pieces) == _read_by_python(data.decode())


@given(
    table=st.lists(
        st.lists(st.text("abé", min_size=1), min_size=2, max_size=2), min_size=1
    ),
    which=st.tuples(st.integers(min_value=0), st.booleans()),
    line_end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_an_unclosed_quote_costs_its_row_only(
    table: list[list[str]], which: tuple[int, bool], line_end: bytes
) -> None:
    """Where one closing quote is lost, that row is a fault and all others are read."""
    number, last = which[0] % len(table), which[1]
    rows = [f'"{first}","{second}"'.encode() for first, second in table]
    broken = rows[number]
    rows[number] = broken[:-1] if last else broken.replace(b'",', b",")
    pieces = _pieces(line_end.join(rows) + line_end)
    (fault,) = [each for each in _faults(pieces) if each.code != "J303"]
    before = len(line_end.join([*rows[:number], b""]))

    assert _texts(pieces) == [*table[:number], *table[number + 1 :]]
    assert fault.code == "J301"
    assert fault.passed == range(before, before + len(rows[number]))


@pytest.mark.parametrize("quote", [b"", b'"'])
def test_row_longer_than_the_buffer_is_skipped(quote: bytes) -> None:
    """A fault in a line longer than the buffer ends where the line ends."""
    row = b"a," + quote + b"x" * (3 * WINDOW) + quote + b",b"
    pieces = _pieces(row + b"\r\n1,2\n", limit=WINDOW)

    assert _codes(pieces) == [("J110", 1, 0)]
    assert _faults(pieces)[0].passed == range(len(row))
    assert len(_faults(pieces)[0].data) == AROUND
    assert _texts(pieces) == [["1", "2"]]


def test_a_quote_open_beyond_the_limit_swallows_nothing() -> None:
    """Where an open quote runs on beyond the limit, all rows behind it are read."""
    rows = WINDOW // 2
    pieces = _pieces(b'a,"b\n' + b"1,2\n" * rows, limit=WINDOW)

    assert _codes(pieces) == [("J301", 1, 2)]
    assert "still open" in _faults(pieces)[0].message
    assert _texts(pieces) == [["1", "2"]] * rows


def test_too_many_fields_are_too_long() -> None:
    """A row of commas does not become as many fields as it has bytes."""
    pieces = _pieces(b"," * (FIELD_LIMIT - 1) + b"\n" + b"," * FIELD_LIMIT + b"\n1\n")

    assert _codes(pieces) == [("J110", 2, 0)]
    assert [len(each) for each in _texts(pieces)] == [FIELD_LIMIT, 1]
    # Whole records need no limit of fields, since a step cannot hold more.
    assert STEP <= FIELD_LIMIT == 65_536


def _peak(blocks: Iterator[bytes], limit: int) -> int:
    """Return the most bytes that were held while `blocks` were read."""
    tracemalloc.start()
    for _ in table_rows(ByteBuffer(blocks), Cursor(), limit):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    "row",
    [
        b'1,"' + b'some ""text"", ' * 30 + b'"\n',
        b'1,"never closed, ' + b"x" * 100 + b"\n",
        b"x" * 997,
        b'"' + b"x" * 1000,
        b"1," + b"x" * 200 + b"\r",
    ],
)
def test_memory_is_flat(row: bytes) -> None:
    """A file of any length is read in the memory of some windows and records."""
    window = 16 * 1024
    count = 24 * window // len(row)

    with (
        patch("harpia_formats.files.parsing.csv_records.WINDOW", window),
        patch("harpia_formats.files.parsing.csv_records.STEP", window // 4),
        patch("harpia_formats.files.parsing.csv_blocks.STEP", window // 4),
    ):
        assert _peak((row for _ in range(count)), window) < 8 * window


#: Files of each kind that could take a time that grows faster than their size.
_SLOW = [
    b'"' * _MEGABYTE,
    b'"' * (_MEGABYTE + 1),
    b'"\n' * _MANY,
    b'"a\n' * _MANY,
    b'"""\n' * _MANY,
    b'""a\n' * _MANY,
    b'a,"b\n' + b'1,""\n' * _MANY,
    b"\r" * _MANY,
    b"\0" * _MEGABYTE,
    b'x\n"' + b"\n" * _MANY,
    b'x\r"' + b"\r" * _MANY,
]


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("data", _SLOW)
def test_no_input_is_slow(data: bytes, share: int) -> None:
    """Time grows linearly with the size of the file, whatever it holds."""
    data = data[: len(data) // share]
    begin = process_time()
    for _ in table_rows(ByteBuffer(iter([data])), Cursor(), ROW_LIMIT):
        pass

    assert process_time() - begin < 3 / share


def _cut(data: bytes, block: int, limit: int, *, in_blocks: bool) -> list[Any]:
    """Cut `data` as if windows were so small that it has several blocks."""
    cut = table_pieces if in_blocks else table_rows
    with (
        patch.multiple(
            "harpia_formats.files.parsing.csv_records",
            BLOCK=block,
            WINDOW=2 * block,
            STEP=block,
        ),
        patch("harpia_formats.files.parsing.csv_blocks.STEP", block),
    ):
        return list(cut(ByteBuffer(iter([data])), Cursor(), limit))


def _joined_blanks(pieces: Iterable[TablePiece]) -> list[TablePiece]:
    """Return pieces with one for all empty lines that follow each other.

    How many of them are one piece depends on where a file is cut.
    """
    joined: list[TablePiece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, TableBlank) and isinstance(last, TableBlank):
            joined[-1] = replace(last, lines=last.lines + piece.lines)
        elif isinstance(piece, TableBlank):
            joined.append(replace(piece, size=1))
        else:
            joined.append(piece)
    return joined


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
    assert _joined_blanks(pieces) == _joined_blanks(singly)


@given(
    table=st.lists(st.lists(_TEXTS, min_size=2, max_size=2), min_size=1),
    line_end=st.sampled_from(["\n", "\r\n"]),
    quoting=_QUOTING,
    delimiter=_DELIMITERS,
)
def test_whatever_python_writes_is_cut_as_a_block(
    table: list[list[str]], line_end: str, quoting: Literal[0, 1], delimiter: str
) -> None:
    """A table that Python's csv has written is a block with its fields, if no CR is."""
    table = [[text.replace("\r", "") for text in row] for row in table]
    text = _written(table, line_end, delimiter=delimiter, quoting=quoting)
    data = text.encode()
    open_row = f'1{delimiter}"2\n'.encode()
    block = cut_block(data + open_row, Cursor(), delimiter.encode(), 2)

    assert block is not None
    assert block.data == data
    assert [list(row.values()) for row in block.rows("ab", drops_blank=False)] == table


def test_rows_of_a_large_table_come_in_blocks() -> None:
    """Of a table without faults only the header is cut singly."""
    data = b"a,b\n" + b'1,"x\n""y"""\n' * 50_000
    pieces = list(table_pieces(ByteBuffer(iter([data])), Cursor(), ROW_LIMIT))
    blocks = [piece for piece in pieces if isinstance(piece, TableBlock)]

    assert len(pieces) == 1 + len(blocks)
    assert sum(block.count for block in blocks) == 50_000
    assert blocks[-1].start_of(blocks[-1].count - 1).line == 2 * 50_000


@for_each_case("size, is_block", [(128 * 1024, True), (128 * 1024 + 1, False)])
def test_a_block_has_128_kib_at_most(size: int, is_block: bool) -> None:
    """A record of as many bytes is a block, a longer one is cut singly."""
    data = b"a\n" + b"x" * (size - 1) + b"\n"
    _, piece = table_pieces(ByteBuffer(iter([data])), Cursor(), ROW_LIMIT)

    assert isinstance(piece, TableBlock) is is_block


_plain = st.text("ab,é\n", max_size=4).map(
    lambda text: '"' + text.replace('"', '""') + '"' if set(",\n") & set(text) else text
)


_quoted = st.text('a"\n,\r', max_size=5).map(
    lambda text: '"' + text.replace('"', '""') + '"'
)


_rows = st.lists(
    st.lists(_plain | _quoted, min_size=1, max_size=3).map(",".join), max_size=12
)


def ranges_of(folder: Path, data: bytes, size: int, block: int) -> list[bytes]:
    """Return the bytes of the ranges of a file, which is read in small blocks."""
    path = folder / "table"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_ranges, "COPIED", block)
        found = list(byte_ranges.csv_ranges(path, 0, size))

    assert [begin for begin, _ in found] == [0, *(end for _, end in found)][
        : len(found)
    ]
    assert (found[-1][1] if found else 0) == len(data)
    return [data[begin:end] for begin, end in found]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=_rows,
    size=st.integers(1, 40),
    block=st.integers(1, 30),
    end=st.sampled_from(["", "\n"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_ranges_are_whole_records(  # noqa: PLR0913, PLR0917 - all that may differ
    tmp_path: Path, rows: list[str], size: int, block: int, end: str, line_end: str
) -> None:
    """The records of all ranges are those of the file, and no range is too short."""
    data = (line_end.join(rows) + end).encode()
    parts = ranges_of(tmp_path, data, size, block)
    found: list[TablePiece] = []
    start = Cursor()
    for part in parts:
        found += table_rows(ByteBuffer(iter([part])), start, 1000)
        start = Cursor(start.offset + len(part), start.line + part.count(b"\n"))

    whole = table_rows(ByteBuffer(iter([data])), Cursor(), 1000)
    assert _joined_blanks(found) == _joined_blanks(whole)
    assert all(len(part) >= size for part in parts[:-1])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.text('a",\n\r', max_size=40), size=st.integers(1, 12))
def test_wrong_end_of_a_range_is_a_fault_in_it(
    tmp_path: Path, data: str, size: int
) -> None:
    """The ranges before the first one with a fault are cut at ends of records."""
    text = data.encode()
    starts = {
        piece.start.offset
        for piece in table_rows(ByteBuffer(iter([text])), Cursor(), 1000)
        if isinstance(piece, TableRow)
    }
    offset = 0
    for part in ranges_of(tmp_path, text, size, 1000):
        pieces = list(table_rows(ByteBuffer(iter([part])), Cursor(offset), 1000))
        if any(isinstance(piece, TableFault) for piece in pieces):
            break
        rows = {each.start.offset for each in pieces if isinstance(each, TableRow)}

        assert rows <= starts
        offset += len(part)


@given(st.text(st.sampled_from("aé€😀"), min_size=1), st.integers(0, 3))
def test_the_last_character_is_not_torn(text: str, lost: int) -> None:
    """The bytes before the last character are whole, however much of it is missing."""
    data = text.encode()
    data = data[: max(1, len(data) - lost)]
    end = last_character(data, 0)

    assert data[:end].decode() == text[: len(data[:end].decode())]
    assert end < len(data)


def test_bytes_that_continue_nothing_are_all_taken() -> None:
    """If no character begins near the end, none is cut off."""
    assert last_character(b"a" + b"\x80" * 9, 0) == 10
    assert last_character(b"ab", 2) == 2
