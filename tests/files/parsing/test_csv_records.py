import csv
import io
import tracemalloc
from collections.abc import Iterable, Iterator
from time import process_time
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT, WINDOW
from harpia_formats.files.parsing.csv_blocks import (
    FIELD_LIMIT,
    STEP,
    TableBlank,
    TableFault,
    TablePiece,
    TableRow,
)
from harpia_formats.files.parsing.csv_records import AROUND, table_rows
from harpia_formats.formats.rules.json_rules import CSV_RULES as RULES

_MEGABYTE = 1024 * 1024
_MANY = 32 * 1024
_TEXTS = st.text(st.sampled_from('ab,"\n\r é😀;'), max_size=6) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
)
_MORSELS = (
    *(b'"', b'""', b",", b',"x"', b'"y",', b"1,2\n", b"a", b"bc"),
    *(b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80"),
    *("é".encode(), "😀".encode()),
)
_SOUP = st.lists(st.sampled_from(_MORSELS), max_size=40).map(b"".join)
_SIZES = st.sampled_from([1, 2, 3, 7, 64, 1024])


def _pieces(
    data: bytes, *, size: int = 4096, limit: int = ROW_LIMIT
) -> list[TablePiece]:
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    return list(table_rows(ByteBuffer(blocks), Cursor(), limit))


def _small_pieces(data: bytes, size: int, limit: int, window: int) -> list[TablePiece]:
    """Cut `data` as if windows were so small that everything spans several."""
    step = max(1, window // 4)
    with (
        patch("harpia_formats.files.parsing.csv_records.WINDOW", window),
        patch("harpia_formats.files.parsing.csv_records.STEP", step),
        patch("harpia_formats.files.parsing.csv_blocks.STEP", step),
        patch("harpia_formats.files.parsing.csv_records.AROUND", 5),
    ):
        return _pieces(data, size=size, limit=limit)


def _texts(pieces: Iterable[TablePiece]) -> list[list[str]]:
    rows = [each for each in pieces if isinstance(each, TableRow)]
    return [[field.text for field in row.fields] for row in rows]


def _faults(pieces: Iterable[TablePiece]) -> list[TableFault]:
    return [each for each in pieces if isinstance(each, TableFault)]


def _codes(pieces: Iterable[TablePiece]) -> list[tuple[str, int, int]]:
    faults = _faults(pieces)
    return [(each.code, each.start.line, each.start.column) for each in faults]


def _read_by_python(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


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
    size=_SIZES,
    window=st.sampled_from([8, 64, WINDOW]),
)
def test_rows_are_those_of_python(
    table: list[list[str]], line_end: str, size: int, window: int
) -> None:
    """What Python's csv writes is read as its own reader does, in any blocks."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=line_end).writerows(table)
    pieces = _small_pieces(file.getvalue().encode(), size, ROW_LIMIT, window)

    assert _texts(pieces) == _read_by_python(file.getvalue())
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
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(table)
    data = file.getvalue().encode()
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


@for_each_case(
    "data, codes, rows",
    [
        (b"", [], []),
        (b"a,b", [], ["a|b"]),
        (b"a,b\n1,\n", [], ["a|b", "1|"]),
        (b'a"b,c""d\n', [], ['a"b|c""d']),
        (b' "a",b\n', [], [' "a"|b']),
        (b'""\n', [], [""]),
        (b'a,"b\n1,"x",2\n', [("J301", 1, 2)], ["1|x|2"]),
        (b'a,"b\n1,2\n3,4', [("J301", 1, 2)], ["1|2", "3|4"]),
        (b'a,"b', [("J301", 1, 2)], []),
        (b'"say "hi" now",1\n2,3\n', [("J301", 1, 6)], ["2|3"]),
        (b'"\xc3\xa9" ,1\n2,3\n', [("J301", 1, 3)], ["2|3"]),
        (b'"x\ny","z" "\n1,2\n', [("J301", 2, 6)], ["1|2"]),
        (b'"x\ny","z\n"1",2\n', [("J301", 2, 3)], ["1|2"]),
        (b"a\0\0b,c\n1,2\n", [("J302", 1, 1)], ["1|2"]),
        (b'"a\nb\0"\n1,2\n', [], ["a\nb\0", "1|2"]),
        (b'"a\0",\0\n1,2\n', [("J302", 1, 5)], ["1|2"]),
        (b"a,b\r1,2\r3,4\r", [("J303", 1, 3)], ["a|b", "1|2", "3|4"]),
        (b"a\rb\nc\rd\n", [("J303", 1, 1), ("J303", 2, 1)], ["a", "b", "c", "d"]),
        (b"a\r\r\n1\n", [("J303", 1, 1)], ["a", "1"]),
        (b'a\r"x" y\r1\r', [("J303", 1, 1), ("J301", 1, 5)], ["a", "1"]),
        (b'a\r"x\r"1"\r', [("J303", 1, 1), ("J301", 1, 2)], ["a", "1"]),
        (b'"a\rb"\n', [], ["a\rb"]),
        (b"caf\xe9,b\n1,2\n", [("J103", 1, 3)], ["1|2"]),
        (b'"a\nb\xed\xa0\x80"\n1,2\n', [("J103", 2, 1)], ["1|2"]),
    ],
)
def test_faults_and_rows(
    data: bytes, codes: list[tuple[str, int, int]], rows: list[str]
) -> None:
    """Each fault is reported where it began, and the rows around it are read."""
    pieces = _pieces(data)

    assert _codes(pieces) == codes
    assert ["|".join(each) for each in _texts(pieces)] == rows


def test_fault_names_the_lost_record() -> None:
    """A fault has its line, its bytes, and the record that is lost to it."""
    (fault,) = _faults(_pieces(b'x,y\n1,"2\n'))

    assert fault.data[fault.at :] == b'"2'
    assert fault.record
    assert fault.width == 1
    assert "the file ends" in fault.message


def test_a_quote_that_runs_on_names_the_line_of_the_next() -> None:
    """The message about an open quote says which quote seems to close it."""
    (fault,) = _faults(_pieces(b'x,"y\n1,2\n3,"z"\n'))

    assert "in line 3" in fault.message


def test_a_carriage_return_costs_no_record() -> None:
    """The rows on either side of a lone carriage return are both kept."""
    (fault,) = _faults(_pieces(b"a\rb\n"))

    assert not fault.record
    assert fault.passed == range(1, 2)


def test_blank_lines_are_pieces() -> None:
    """An empty line is yielded with its place."""
    pieces = _pieces(b"\na\n\r\n\nb\n")

    assert [each.start.line for each in pieces if isinstance(each, TableBlank)] == [
        1,
        3,
        4,
    ]
    assert _texts(pieces) == [["a"], ["b"]]


def test_places_continue_from_the_given_start() -> None:
    """Places of rows count from the given start, such as after a byte order mark."""
    rows = list(table_rows(ByteBuffer(iter([b"b\n"]), b"a,"), Cursor(3), ROW_LIMIT))

    assert [each.start for each in rows] == [Cursor(3)]
    assert _texts(rows) == [["a", "b"]]


@pytest.mark.parametrize("size", [1000, 64 * 1024])
@pytest.mark.parametrize("row", [b"x" * 30, b'"' + b"x\n" * 14 + b'"'])
def test_a_row_beyond_the_limit_is_passed_over(row: bytes, size: int) -> None:
    """A row of more bytes than the limit is one fault, and the next one is read."""
    pieces = _pieces(b"a,b\n" + row + b"\n1,2\n", size=size, limit=10)

    assert _codes(pieces) == [("J110", 2, 0)]
    assert _faults(pieces)[0].passed == range(4, 4 + len(row))
    assert _texts(pieces) == [["a", "b"], ["1", "2"]]


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


@pytest.mark.parametrize("data", _SLOW)
def test_no_input_is_slow(data: bytes) -> None:
    """Time grows linearly with the size of the file, whatever it holds."""
    _check_time(data[: len(data) // 4], 0.75)


@pytest.mark.long
@pytest.mark.parametrize("data", _SLOW)
def test_no_large_input_is_slow(data: bytes) -> None:
    """The same holds for four times as much."""
    _check_time(data, 3)


def _check_time(data: bytes, seconds: float) -> None:
    """Assert that a file is read in some seconds of this process."""
    begin = process_time()
    for _ in table_rows(ByteBuffer(iter([data])), Cursor(), ROW_LIMIT):
        pass

    assert process_time() - begin < seconds


@pytest.mark.parametrize("code", ["J301", "J302", "J303"])
def test_examples_show_their_rules(code: str) -> None:
    """The bad example of each rule breaks it, and the good one breaks none."""
    (rule,) = (each for each in RULES if each.code == code)

    assert [each.code for each in _faults(_pieces(rule.bad))] == [code]
    assert _faults(_pieces(rule.good)) == []


def test_a_step_cannot_hold_too_many_fields() -> None:
    """Whole records need no limit of fields, since a step cannot hold more."""
    assert STEP <= FIELD_LIMIT
