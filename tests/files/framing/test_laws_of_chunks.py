"""Laws of chunks: their rows and places, and NaN and Infinity in these."""

import itertools
import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.files.framing.chunk import (
    Chunk,
    Cursor,
    code_points,
    constants_in,
    is_blank,
    masked,
    rows_with_nulls,
    with_nulls,
)
from harpia_formats.files.framing.container import frames

_TEXTS = st.text(st.sampled_from('ab,"\\[]{}é问😀\u2028\n'), max_size=6)
_ROWS = st.lists(
    st.tuples(_TEXTS | st.lists(_TEXTS, max_size=3), st.sampled_from([None, 1])).map(
        lambda pair: json.dumps(pair[0], indent=pair[1], ensure_ascii=False).encode()
    ),
    min_size=1,
    max_size=6,
)
_SEPARATORS = st.sampled_from([b",", b", ", b",\n", b" ,\r\n\t"])
_STARTS = st.builds(Cursor, st.integers(0, 99), st.integers(1, 9), st.integers(0, 9))


@given(rows=_ROWS, separator=_SEPARATORS, start=_STARTS, data=st.data())
def test_items_are_cut_when_they_are_asked_for(
    *, rows: list[bytes], separator: bytes, start: Cursor, data: st.DataObject
) -> None:
    """The inside of an array has the rows and places of a chunk of given rows."""
    text = separator.join(rows)
    chunk, given_rows = Chunk(text, start, items=len(rows)), Chunk(text, start, rows)
    begin = data.draw(st.integers(0, len(rows) - 1))
    end = data.draw(st.integers(begin + 1, len(rows)))
    some = chunk.between(begin, end)

    assert len(chunk) == len(rows)
    assert chunk.rows == rows
    assert some.rows == rows[begin:end]
    assert json.loads(b"[%b]" % some.data) == json.loads(b"[%b]" % text)[begin:end]
    for number in range(len(rows)):
        offset = len(separator.join([*rows[:number], b""]))
        expected = start.after(text[:offset])
        assert given_rows.start_of(number) == chunk.start_of(number) == expected
        if begin <= number < end:
            assert some.start_of(number - begin) == expected


@given(rows=_ROWS, start=_STARTS)
def test_the_end_of_valid_utf8_is_found_without_decoding(
    *, rows: list[bytes], start: Cursor
) -> None:
    """A chunk that is known to be UTF-8 ends where the slow way says."""
    chunk = Chunk(b", ".join(rows), start, rows)
    slow = chunk.end
    chunk.is_utf8 = True

    assert chunk.end == slow == start.after(chunk.data)


def test_another_number_of_items_is_an_error() -> None:
    """Rows are not taken from an array that has fewer items than was stated."""
    assert Chunk(b"1 , NaN", Cursor(), items=2).rows == [b"1", b"NaN"]
    with pytest.raises(ValueError, match="not cut as they were before"):
        _ = Chunk(b"1,2", Cursor(), items=3).rows


@pytest.mark.parametrize(
    ("data", "is_plain"),
    [
        (b"{}", True),
        (b"{}\n", True),
        (b'{"a": 1}\n{"a": 2}\n', True),
        (b'{"a": 1}\n{"a": 2}', True),
        (b'{"a": 1}\n\n{"a": 2}\n', False),
        (b'{"a": 1} \n{"a": 2}\n', False),
        (b'{"a": 1}\n[2]\n{"a": 2}\n', False),
        (b'{"a": 1}\n [2]\n', False),
        (b' {"a": 1}\n', False),
        (b"[1]\n", False),
    ],
)
def test_plain_lines(data: bytes, *, is_plain: bool) -> None:
    """Lines are plain where each is an object with nothing around it."""
    assert Chunk(data, Cursor()).is_plain() is is_plain
    assert not Chunk(data, Cursor(), [data]).is_plain()


#: Rows, what stands between them, before and behind them, and whether they are lines.
_SHAPES = [
    ([b"{}", b"", b'{"a": NaN}', b"\xc3\xa9"], b"\n", b"", b"\n"),
    ([b"{}", b"", b'{"a": NaN}', b"\xc3\xa9"], b"\n", b"", b""),
    ([b"NaN"], b"\n", b"", b"\n"),
    ([b"1", b"1", b"11", b'"\xc3\xa9"', b"NaN"], b" ,\n", b" \n", b" "),
    ([b"1", b"1", b"1"], b",", b"", b""),
    ([b'"NaN"', b"-Infinity", b"[\n1]"], b",", b"\n", b"\n"),
]


@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("with_null", [False, True])
def test_parts_of_chunks(
    shape: tuple[list[bytes], bytes, bytes, bytes], *, with_null: bool
) -> None:
    """Any rows of a chunk, in any order, have their bytes and their places."""
    rows, separator, before, behind = shape
    is_lines = separator == b"\n"
    data, start = before + separator.join(rows) + behind, Cursor(7, 3, 0)
    places = [
        start.after(before + separator.join([*rows[:number], b""][: number + 1]))
        for number in range(len(rows))
    ]
    values = list(map(with_nulls, rows)) if with_null else rows

    def made() -> Chunk:
        chunk = Chunk(data, start) if is_lines else Chunk(data, start, rows)
        return rows_with_nulls(chunk) if with_null else chunk

    for one, other in itertools.product(range(len(rows)), repeat=2):
        chunk = made()
        assert (chunk.start_of(one), chunk.start_of(other)) == (
            places[one],
            places[other],
        )
        if one <= other:
            part = made().between(one, other + 1)
            assert (part.rows, part.texts) == (
                values[one : other + 1],
                rows[one : other + 1],
            )
            assert part.start == places[one]
            assert [part.start_of(at) for at in range(len(part))] == places[
                one : other + 1
            ]
            last = places[other].offset - start.offset
            stop = last + len(rows[other]) + is_lines
            assert part.end == start.after(data[:stop])
    for count in range(len(rows) + 1):
        first = made().first(count)
        assert (first.rows, first.texts) == (values[:count], rows[:count])
        assert len(first) == count
    whole = made()
    assert (len(whole), whole.end) == (len(rows), start.after(data))
    assert (whole.lines, whole.start) == (is_lines, start)


def test_all_lines_are_the_chunk_itself() -> None:
    """Nothing is copied for lines of which none is left out."""
    chunk = Chunk(b"1\n2", Cursor())

    assert chunk.first(2) is chunk
    assert chunk.first(3) is chunk
    assert chunk.first(1).data == b"1\n"
    assert chunk.first(0).data == b""
    assert Chunk(b"1\n", Cursor()).first(1).data == b"1\n"
    assert len(Chunk(b"", Cursor())) == 0
    assert Chunk(b"", Cursor(), items=0).rows == []


def test_code_points_of_any_bytes() -> None:
    """Characters are counted, and each broken sequence as one."""
    found = list(map(code_points, (b"ab", "é😀a".encode(), b"\xff\xc3a", b"")))

    assert found == [2, 3, 3, 0]
    assert list(map(is_blank, (b"", b" \t\r\n", b"\x0b", b" a "))) == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "places", "mask", "nulls"),
    [
        (b"NaN", [(0, 3)], b"0.0", b"null"),
        (b"-NaN NaN", [(5, 8)], b"-NaN 0.0", b"-NaN null"),
        (b"[-Infinity,NaN]", [(1, 10), (11, 14)], b"[0.0000000,0.0]", b"[null,null]"),
        (b'"NaN" NaN', [(6, 9)], b'"NaN" 0.0', b'"NaN" null'),
        (b'" NaN \\" NaN " NaN', [(15, 18)], b'" NaN \\" NaN " 0.0', None),
        (b'"\\\\" NaN', [(5, 8)], b'"\\\\" 0.0', b'"\\\\" null'),
        (b'{"a":Infinity}', [(5, 13)], b'{"a":0.000000}', b'{"a":null}'),
        (b"nan Inf", [], b"nan Inf", b"nan Inf"),
        (b"NaNa xNaN aNaN NaNs", [], b"NaNa xNaN aNaN NaNs", None),
        (b"--Infinity, 1-Infinity", [], b"--Infinity, 1-Infinity", None),
        (b"+Infinity", [], b"+Infinity", None),
    ],
)
def test_constants_and_what_stands_for_them(
    text: bytes, places: list[tuple[int, int]], mask: bytes, nulls: bytes | None
) -> None:
    """Constants outside of strings are found with their signs, and nothing else."""
    assert constants_in(text) == places
    assert masked(text) == mask
    assert nulls is None or with_nulls(text) == nulls


WORDS = st.sampled_from(["NaN", ' NaN "', "\\", '\\"NaN', "-Infinity", "a", ""])
VALUES: st.SearchStrategy[Any] = st.recursive(
    WORDS | st.floats() | st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)
    ),
    max_leaves=8,
)


def without_constants(value: Any) -> Any:
    """Return a value with None for each NaN and Infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return list(map(without_constants, value))
    if isinstance(value, dict):
        return {key: without_constants(member) for key, member in value.items()}
    return value


@given(VALUES, st.sampled_from([(",", ":"), (", ", ": ")]), st.sampled_from([None, 1]))
def test_constants_become_null(
    value: Any, separators: tuple[str, str], indent: int | None
) -> None:
    """What Python writes is read with null for each constant, texts unchanged.

    With a mask it is JSON, too, and all of its other bytes are where they were.
    """
    text = json.dumps(value, separators=separators, indent=indent).encode()
    found = masked(text)
    places = {at for start, end in constants_in(text) for at in range(start, end)}

    assert msgspec.json.decode(with_nulls(text)) == without_constants(value)
    msgspec.json.decode(found)
    assert len(found) == len(text)
    assert all(found[at] == text[at] for at in range(len(text)) if at not in places)


def test_rows_without_constants_are_the_same_object() -> None:
    """Rows that have the word in a text only are not copied."""
    chunk = Chunk(b'{"a": "NaN"}\n', Cursor())

    assert rows_with_nulls(chunk) is chunk


@pytest.mark.parametrize("size", [40, 4096])
def test_an_array_with_constants_is_cut_into_its_rows(size: int) -> None:
    """A constant is no end of a row, and rows are cut as if it were a number."""
    rows = [
        json.dumps({"id": n, "x": "a]}" * (n % 7), "s": math.nan if n % 3 else 1})
        for n in range(400)
    ]
    data = ("[\n" + ",\n".join(rows) + "\n]\n").encode()
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    found = [
        (row.decode(), frame.start_of(number).line)
        for frame in frames(blocks)
        if isinstance(frame, Chunk)
        for number, row in enumerate(frame.rows)
    ]

    assert found == [(row, number + 2) for number, row in enumerate(rows)]
