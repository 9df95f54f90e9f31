import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cut_rows import blocks_of
from harpia_formats.files.framing.chunk import BOM, Chunk, Cursor, FramingFault
from harpia_formats.files.framing.container import (
    Layout,
    OpenedContainer,
    document_rows,
    frames,
    frames_of,
    open_container,
)
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import WINDOW

SIZES = pytest.mark.parametrize("size", [1, 5, 1024])
#: A beginning of each kind, by what it is.
BEGINNINGS = [
    ("", Layout.EMPTY),
    (" \r\n\t", Layout.EMPTY),
    ('{"a": 1}\n{"a": 2}\n', Layout.LINES),
    ('{"a": 1}\n\n{"a": 2}', Layout.LINES),
    ('{"a": \n{"a": 2}\n', Layout.LINES),
    ('{"a": 1\n{"a": 2}\n', Layout.LINES),
    ("[1]\n[2]\n", Layout.LINES),
    ('[1]\n{"a": 1}\n', Layout.LINES),
    ('{"a": 1}', Layout.ONE_LINE),
    ('\n {"a": 1}\r\n\n', Layout.ONE_LINE),
    ('{"a": 1', Layout.ONE_LINE),
    ('{"a" 1}', Layout.ONE_LINE),
    ('{\n"a": 1}', Layout.OBJECT),
    ('{"a": 1,\n"b": 2}', Layout.OBJECT),
    ('{"a": [\n{"b": 1}\n]}', Layout.OBJECT),
    ('{"a": NaN, "b": [\n{"c": 1}\n]}', Layout.OBJECT),
    ('{"a": NaN}\n{"a": -Infinity}\n', Layout.LINES),
    ("[NaN]\n[1]\n", Layout.LINES),
    ('{\n"a": 1\n}\n{\n"a": 2\n}', Layout.OBJECT),
    ("[]", Layout.ARRAY),
    ("[1]", Layout.ARRAY),
    ('[\n{"a": 1},\n{"a": 2}]', Layout.ARRAY),
    ("[[1],\n[2]]", Layout.ARRAY),
    ("[1, 2\n", Layout.ARRAY),
    ("a,b\n1,2\n", Layout.TEXT),
    ('"a","b"\n', Layout.TEXT),
    ("3", Layout.TEXT),
    ("null\n", Layout.TEXT),
]


def left_in(opened: OpenedContainer) -> bytes:
    """Return all bytes that are still to be cut."""
    return opened.buffer.data + b"".join(opened.buffer.blocks)


@pytest.mark.parametrize(("text", "layout"), BEGINNINGS)
@SIZES
def test_layout_is_recognized_from_the_beginning(
    text: str, layout: Layout, size: int
) -> None:
    """The layout is recognized in blocks of any size, with or without a BOM."""
    for mark in (b"", BOM):
        data = mark + text.encode()

        assert open_container(blocks_of(data, size)).layout is layout


@pytest.mark.parametrize("ending", ["", "\n", '\n{"b": 1}\n'])
def test_first_line_longer_than_a_window_is_a_long_line(ending: str) -> None:
    """A first line longer than a window is a long line, and no more of it is read."""
    text = json.dumps({"a": "x" * 3 * WINDOW}) + ending
    opened = open_container(blocks_of(text.encode(), 64 * 1024))

    assert opened.layout is Layout.LONG_LINE
    assert len(opened.buffer.data) < 2 * WINDOW + 64 * 1024


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"a": "%s"}', 1),
        ('{"a": "%s"}\n{"a": 1}\n', 2),
        ('{"a": "%s",\n"b": 1}', 1),
        ('{"a": "%s",\n"b": 1}\n{\n"a": 2}', 2),
    ],
)
def test_long_line_is_a_row_or_the_beginning_of_a_document(
    text: str, rows: int
) -> None:
    """A long first line is cut as a line, unless what follows continues its object."""
    data = (text % ("x" * 2 * WINDOW)).encode()
    found = [each for each in frames([data]) if isinstance(each, Chunk)]

    assert [json.loads(row)["a"] for each in found for row in each.rows]
    assert sum(map(len, found)) == rows


@given(
    st.binary(max_size=40) | st.text('[]{}",:a1 \r\n', max_size=40).map(str.encode),
    st.sampled_from([1, 7, 1024]),
)
@example(BOM + b" \n", 1)
@example(b"\xef\xbb", 1)
def test_nothing_is_lost_by_looking(data: bytes, size: int) -> None:
    """For any file, the bytes still to be cut are all of it, from its start."""
    opened = open_container(blocks_of(data, size))
    left = left_in(opened)

    assert data[opened.start.offset :] == left
    assert not data[: opened.start.offset].removeprefix(BOM).strip(b" \t\r\n")
    assert [each.kind for each in opened.faults] == ["bom"] * data.startswith(BOM) + [
        "empty"
    ] * (opened.layout is Layout.EMPTY)


@given(
    st.lists(
        st.sampled_from(
            [b"{", b"}", b"[", b"]", b",", b'"a"', b":", b"1", b"\n", b" ", b"\xff"]
        ),
        max_size=20,
    ).map(b"".join),
    st.sampled_from([1, 7, 1024]),
    st.sampled_from([4, 1024]),
)
@example(b"[" * 20_000, 1024, 1 << 20)
@example(b'{"a":\n' * 2_000, 1024, 1 << 20)
def test_any_bytes_are_cut_to_the_end(data: bytes, size: int, limit: int) -> None:
    """For any file, rows are bytes of it in order, and faults are inside of it."""
    at = 0
    for each in frames(blocks_of(data, size), limit=limit):
        if isinstance(each, FramingFault):
            assert 0 <= each.start.offset <= len(data)
            continue
        for number, row in enumerate(each.rows):
            start = each.start_of(number).offset

            assert start >= at
            assert data[start : start + len(row)] == row
            at = start + len(row)


def test_white_space_before_a_mark_is_no_mark() -> None:
    """Only at the very beginning of a file is a byte order mark one."""
    opened = open_container([b"\n" + BOM + b"{}"])

    assert (opened.faults, opened.layout) == ([], Layout.TEXT)


def test_nothing_is_cut_from_an_empty_file() -> None:
    """An empty file has no rows, which is a fault when it is opened."""
    opened = open_container([b"", b"\n"])

    assert list(frames_of(opened, 100)) == []
    assert opened.faults == [FramingFault("empty", Cursor())]


@SIZES
def test_a_document_that_is_too_long(size: int) -> None:
    """Its fault has all of its bytes, of which few are held."""
    data = b'{"a": "' + b"x" * 3_000 + b'"}'
    found = [*document_rows(_filled(data, size), Cursor(), 100)]

    assert found == [FramingFault("oversize", Cursor(), len(data), record=True)]


def _filled(data: bytes, size: int) -> ByteBuffer:
    """Return a buffer with blocks of some size, of which one was read."""
    buffer = ByteBuffer(data[at : at + size] for at in range(0, len(data), size))
    buffer.fill(1)
    return buffer


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize("data", [b"", b" ", b"\n \t\r\n "])
def test_white_space_is_no_document(data: bytes, size: int) -> None:
    """Data of nothing but white space has no rows and no faults."""
    assert [*document_rows(_filled(data, size), Cursor(), 100)] == []
