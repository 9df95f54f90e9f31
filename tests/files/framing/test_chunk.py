"""Chunks of rows: the rows of lines and arrays, and their places in the file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.files.framing.chunk import Chunk, Cursor

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
    """Rows are not taken from an array that has fewer items than was said."""
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
