"""The ends of windows and of rows in them, found byte by byte."""

import pytest

from harpia_formats.files.framing.array import (
    end_of_broken_row,
    end_of_characters,
    is_last_bracket,
    rows_one_by_one,
    start_of_row,
    verified_rows,
)
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import end_of_space

START = Cursor()


@pytest.mark.parametrize(
    "text", ["ab", "aéb", "é\u0080ÿ", "a€\u0800", "\u1000a", "😀a", "ab😀"]
)
def test_no_character_is_cut(text: str) -> None:
    """An end is moved back to the last character that may be cut, and no further."""
    data = text.encode()
    for end in range(len(data) + 1):
        found = end_of_characters(data, end)
        data[:found].decode()
        last = data[:end].decode(errors="ignore")[-1:]
        lost = len(last.encode()) if not last.isascii() else 0

        assert end - 3 - lost <= found <= end
        if end and data[end - 1] < 0x80:
            assert found == end


@pytest.mark.parametrize(
    ("row", "start"),
    [
        (b'{"a": 1}', b'{"a"'),
        (b'{ \t"a": 1}', b'{ \t"a"'),
        (b'{"a', b"{"),
        (b'{"a\\"": 1}', b"{"),
        (b"[1]", b"["),
        (b'"a"', b'"'),
        (b"{}", b"{"),
        (b"1", b""),
        (b"", b""),
    ],
)
def test_beginnings_of_rows(row: bytes, start: bytes) -> None:
    """A row begins with its bracket and its first key, or with its quotation mark."""
    assert start_of_row(row) == start


def test_white_space() -> None:
    """The four bytes of JSON are white space, and no others."""
    assert end_of_space(b"a \t\r\n\x0b", 1) == 5
    assert end_of_space(b"a", 1) == 1


@pytest.mark.parametrize(
    ("after", "is_last", "is_last_member"),
    [
        (b"", True, True),
        (b" \n", True, True),
        (b"1", True, False),
        (b" ,", False, False),
        (b"\t]", False, False),
        (b" }", False, True),
        (b', "a": 1', False, True),
        (b', "a\\"b" :', False, True),
        (b', "a", ', False, False),
        (b",[", False, False),
    ],
)
def test_the_bracket_that_ends_an_array(
    after: bytes, *, is_last: bool, is_last_member: bool
) -> None:
    """Behind it nothing goes on, or the next member of the object does."""
    assert is_last_bracket(b"[]" + after, 1, inner=False) is is_last
    assert is_last_bracket(b"[]" + after, 1, inner=True) is is_last_member


def row_objects(*numbers: int) -> bytes:
    """Return rows, one behind the other."""
    return b",".join(b'{"a":%d}' % number for number in numbers)


@pytest.mark.parametrize(
    ("limit", "is_there"), [(15, True), (14, True), (7, True), (6, False)]
)
@pytest.mark.parametrize("number", [b"1", b"NaN"])
def test_verified_rows(limit: int, number: bytes, *, is_there: bool) -> None:
    """The rows before the last separator are those of a window, if none is too long."""
    longer = len(number) - 1
    data = b'{"a":%b},%b,{"a' % (number, row_objects(2, 3))
    found = verified_rows(data, len(data), b',{"a"', START, limit + longer)
    if not is_there:
        assert found is None
        return

    assert found is not None
    assert list(found.rows) == [b'{"a":%b}' % number, b'{"a":2}']
    assert (found.start, found.data) == (START, data[: 15 + longer])


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (row_objects(1, 2) + b',{"a":x,{"a":3}', 2),
        (b'{"a":x},' + row_objects(1, 2), None),
        (b',{"a":1},{"a":2}', None),
        (row_objects(1), None),
        (b"[" * 5_000 + b',{"a":1}', None),
        # It is tried twice: behind the fault, and before a row inside of the row.
        (b'{"a":1},{"a":[{"a":2},{"a":x}],{"a":3}', None),
    ],
)
def test_rows_that_cannot_be_verified(data: bytes, rows: int | None) -> None:
    """What is behind a fault is left out, and nothing is verified where it is first."""
    found = verified_rows(data, len(data), b',{"a"', START, 100)

    assert (None if found is None else len(found.rows)) == rows


def test_a_fault_right_behind_a_separator() -> None:
    """The rows before a fault are verified by the second attempt."""
    found = verified_rows(b"1,2,,3,4", 8, b",", START, 100)

    assert found is not None
    assert found.rows == [b"1", b"2"]


ROWS = b'{"a":1} , {"b":22} ,\n{"c":3}]'


@pytest.mark.parametrize(
    ("most", "limit", "count", "end", "separator"),
    [
        (3, 8, 3, 28, b' ,\n{"c"'),
        (9, 8, 3, 28, b' ,\n{"c"'),
        (2, 8, 2, 18, b' , {"b"'),
        (1, 8, 1, 7, b""),
        (0, 8, 0, 0, b""),
        (3, 7, 1, 7, b""),
        (3, 6, 0, 0, b""),
    ],
)
def test_rows_one_by_one(
    most: int, limit: int, count: int, end: int, separator: bytes
) -> None:
    """The first whole rows are returned, with what stands between the last two."""
    rows = [b'{"a":1}', b'{"b":22}', b'{"c":3}'][:count]

    assert rows_one_by_one(ROWS, most, limit) == (rows, end, separator)


@pytest.mark.parametrize("data", [b"", b"]", b",", b'{"a":1', b"{1},2", b'{"a":1}x'])
def test_no_whole_row(data: bytes) -> None:
    """Nothing is returned where the array ends, or its first row is not whole."""
    assert rows_one_by_one(data, 3, 100) == ([], 0, b"")


@pytest.mark.parametrize(
    ("data", "starts", "end"),
    [
        # Its brackets are closed.
        (b'{"a":x},{"a":2}', [], 7),
        (b'{"a":[x]}]', [], 9),
        # A string or an object stays open, and another row begins.
        (b'{"a":"x},{"a":2}', [], 8),
        (b'{"a":{"b":x},{"a":2}', [], 12),
        (b'{"b":"x},{"a":2}', [b'{"a"'], 8),
        # A beginning that no row has is a part of the row.
        (b'{"b":"x},{"a":2}', [], 16),
        # An array that stays open may hold such objects.
        (b'{"a":[{"a":1},{"a":2}', [], 21),
        (b'x,{"a":2}', [], 1),
        (b"x,[2]", [], 1),
        (b"x,,", [], 1),
        (b"", [], 0),
    ],
)
def test_the_end_of_a_broken_row(data: bytes, starts: list[bytes], end: int) -> None:
    """It is where its brackets close, or where a row begins that looks like others."""
    assert end_of_broken_row(data, starts, inner=False) == end


@pytest.mark.parametrize(("levels", "is_known"), [(1022, True), (1023, False)])
def test_the_kind_of_a_bracket_is_known_to_some_depth(
    levels: int, *, is_known: bool
) -> None:
    """In an open object another row begins, if it is one of the first 1,024 levels."""
    data = b"[" * levels + b'{"b":[]'

    end = end_of_broken_row(data + b',{"a":1}', [b'{"a"'], inner=False)
    assert end == (len(data) if is_known else len(data) + 8)
