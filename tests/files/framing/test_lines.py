import itertools
import json
import tracemalloc
from time import perf_counter
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from cut_rows import blocks_of, counted_cursor, faults_in, placed_rows, rows_in
from harpia_formats.files.framing.chunk import (
    BOM,
    Chunk,
    Cursor,
    FramingFault,
    is_blank,
)
from harpia_formats.files.framing.container import document_rows, frames
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT, WINDOW

_MEGABYTE = 1024 * 1024
_LINES = st.lists(
    st.text(st.sampled_from('ab"{}[], \\é😀\u2028\x85\t'), max_size=12).map(str.encode)
)


def _frames(
    data: bytes, *, size: int = 64 * 1024, **options: int
) -> list[Chunk | FramingFault]:
    return list(frames(blocks_of(data, size), **options))


@given(
    lines=_LINES,
    end=st.sampled_from([b"\n", b"\r\n"]),
    closed=st.booleans(),
    bom=st.sampled_from([b"", BOM]),
    size=st.sampled_from([1, 2, 3, 7, 64, 1024]),
)
def test_lines_are_cut_at_newlines_and_placed(
    *, lines: list[bytes], end: bytes, closed: bool, bom: bytes, size: int
) -> None:
    """Lines come out byte for byte with their places, in blocks of any size."""
    data = bom + b"{}" + end + end.join(lines) + (end if closed else b"")
    expected = data.removeprefix(bom).split(b"\n")
    if not expected[-1]:
        expected.pop()

    placed = placed_rows(_frames(data, size=size))

    assert [row for _, row in placed] == expected
    assert b"\n".join(row for _, row in placed) == data.removeprefix(bom).removesuffix(
        b"\n"
    )
    for start, row in placed:
        assert data[start.offset :].startswith(row)
        assert start == counted_cursor(data, start.offset)


@given(
    lengths=st.lists(st.integers(min_value=0, max_value=40), min_size=1),
    size=st.sampled_from([1, 5, 16, 1024]),
    closed=st.booleans(),
)
def test_each_line_over_the_limit_is_one_fault(
    *, lengths: list[int], size: int, closed: bool
) -> None:
    """Each line over the limit is one fault with its place, and no other is lost."""
    lines = [b"x", *(b"y" * each for each in lengths), b"z"]
    data = b"\n".join(lines) + (b"\n" if closed else b"")

    found = _frames(data, size=size, limit=20)

    assert rows_in(found) == [each for each in lines if len(each) <= 20]
    faults = [each for each in found if isinstance(each, FramingFault)]
    assert [each.size for each in faults] == [len(x) for x in lines if len(x) > 20]
    for each in faults:
        assert (each.kind, each.record) == ("oversize", True)
        assert data[each.start.offset :].startswith(b"y" * each.size)
        assert each.start == counted_cursor(data, each.start.offset)


def test_a_long_line_takes_linear_time() -> None:
    """A line of 5 MB among small ones takes linear time."""
    lines = [b'{"a":1}', b'{"a":"%b"}' % (b"x" * 5_000_000), b'{"a":2}']
    began = perf_counter()

    found = _frames(b"\n".join(lines))

    assert rows_in(found) == lines
    assert perf_counter() - began < 1


def test_a_line_beyond_the_limit_is_not_held() -> None:
    """A line of 50 MB is skipped in less than 6 MB of memory."""
    block = b"x" * 65_536
    blocks = [b'{"a":1}\n', *[block] * 800, b'\n{"a":2}\n']
    tracemalloc.start()
    try:
        found = list(frames(blocks, limit=_MEGABYTE))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert rows_in(found) == [b'{"a":1}', b'{"a":2}']
    assert FramingFault("oversize", Cursor(8, 2, 0), 800 * 65_536, record=True) in found
    assert peak < 6 * _MEGABYTE


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'{\n "a": 1,\n "b": [\n  2\n ]\n}', id="indented"),
        pytest.param(b'{"a":\n1}', id="behind a colon"),
        pytest.param(b'{"a": 1\n, "b": 2}', id="comma first"),
        pytest.param(b'{"data": [\n{"a": 1},\n{"a": 2}\n]}', id="objects in it"),
        pytest.param(b'{"data":\n[\n1]}', id="array in it"),
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1024])
def test_an_object_over_several_lines_is_one_row(data: bytes, size: int) -> None:
    """A document is one row, without the white space around it."""
    found = _frames(b"\r\n " + data + b"\n\n", size=size)

    assert placed_rows(found) == [(Cursor(3, 2, 1), data)]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([b'{"a": 1}'], id="one line"),
        pytest.param([b'{"a": 1'], id="one line cut off"),
        pytest.param([b'{"a": 1}', b'{"a": 2}'], id="two lines"),
        pytest.param([b'{"a": [1, ', b'{"a": 2}'], id="first cut off"),
        pytest.param([b'{"a": {', b'{"a": 2}'], id="first cut off at a brace"),
        pytest.param([b'{"a": 1', b'{"a": 2'], id="both cut off"),
        pytest.param([b'{"a": "two', b'lines"}', b'{"a": 2}'], id="raw newline"),
        pytest.param([b'{"a" 1}', b'"b"'], id="first broken"),
        pytest.param([b"[1, 2]", b"[3, 4]"], id="arrays"),
        pytest.param([b"[]", b"", b'{"a": 1}'], id="array, blank, object"),
        pytest.param([b"nonsense", b"{"], id="nonsense"),
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1024])
def test_lines_stay_lines(lines: list[bytes], size: int) -> None:
    """JSON Lines are recognized whatever is wrong with the first line."""
    assert rows_in(_frames(b"\n".join(lines), size=size)) == lines


def test_blank_lines_are_rows() -> None:
    """Blank lines are rows, so that the lines behind keep their numbers."""
    found = _frames(b'\n  \r\n{"a":1}\n\n{"a":2}\n')

    kept = [(start.line, row) for start, row in placed_rows(found) if not is_blank(row)]
    assert kept == [(3, b'{"a":1}'), (5, b'{"a":2}')]


def test_much_leading_space_is_not_held() -> None:
    """White space larger than a window is skipped, and places stay exact."""
    space = b"\n " * WINDOW

    [(start, row)] = [
        each
        for each in placed_rows(_frames(space + b'{"a":1}'))
        if not is_blank(each[1])
    ]

    assert row == b'{"a":1}'
    assert start == Cursor(len(space), WINDOW + 1, 1)


@pytest.mark.parametrize("data", [b"", b" ", b"\n\r\n\t", b"\n" * (3 * WINDOW)])
def test_a_file_of_white_space_is_empty(data: bytes) -> None:
    """A file without a record has one fault, at its beginning."""
    assert _frames(data) == [FramingFault("empty", Cursor())]


@for_each_case("size, rest", itertools.product([1, 2, 1024], [b"", b"\n"]))
def test_byte_order_mark_is_a_fault_and_dropped(size: int, rest: bytes) -> None:
    """A byte order mark is a fault, is part of no row, and takes no column."""
    assert _frames(BOM + rest, size=size) == [
        FramingFault("bom", Cursor(), 3),
        FramingFault("empty", Cursor(3)),
    ]
    assert placed_rows(_frames(BOM + b"{}" + rest, size=size)) == [(Cursor(3), b"{}")]


_KEYS = st.sampled_from(["a", "é", '"{', "}\n{", "\u2028"])
_OBJECTS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.dictionaries(_KEYS, st.none() | st.integers() | _KEYS, max_size=3),
    lambda inner: st.dictionaries(_KEYS, inner | st.lists(inner), max_size=3),
    max_leaves=5,
)


def _documents(
    data: bytes, size: int, limit: int = ROW_LIMIT
) -> list[Chunk | FramingFault]:
    return list(document_rows(ByteBuffer(blocks_of(data, size)), Cursor(), limit))


@given(
    objects=st.lists(_OBJECTS, min_size=1, max_size=5),
    indent=st.sampled_from([None, 0, 2]),
    between=st.sampled_from([b"", b"\n", b" \r\n\n", b"\t"]),
    size=st.sampled_from([1, 3, 16, 1024]),
)
def test_several_objects_over_several_lines_are_rows(
    *, objects: list[dict[str, Any]], indent: int | None, between: bytes, size: int
) -> None:
    """Objects printed one behind the other in any way are each a row in its place."""
    rows = [
        json.dumps(each, indent=indent, ensure_ascii=False).encode() for each in objects
    ]
    data = between + between.join(rows) + between

    found = _documents(data, size)

    placed = placed_rows(found)
    assert [row for _, row in placed] == rows
    assert faults_in(found) == [("spread", len(between))] * (len(rows) > 1)
    for start, row in placed:
        assert data[start.offset :].startswith(row)
        assert start == counted_cursor(data, start.offset)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b'{\n "a": }', id="value missing"),
        pytest.param(b'{\n "a": tru\n}', id="word"),
        pytest.param(b'{\n "a": 1,\n}', id="comma too many"),
        pytest.param(b'{\n "a": [1, 2\n}', id="bracket missing"),
        pytest.param(b'{\n "a": 1\n}\n}', id="brace too many"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1024])
def test_a_broken_object_leaves_the_others(broken: bytes, size: int) -> None:
    """A broken object over several lines ends where the next one begins."""
    good = b'{\n "a": 1\n}'

    placed = placed_rows(_documents(b"\n".join([good, broken, good, good]), size))

    rows = [row for _, row in placed]
    assert (rows[0], rows[-2:]) == (good, [good, good])
    assert b"\n".join(rows[1:-2]) == broken


@given(
    data=st.binary(max_size=40) | st.text('{}[]":,a1 \n', max_size=40).map(str.encode),
    size=st.sampled_from([1, 5, 1024]),
    limit=st.sampled_from([3, 20, ROW_LIMIT]),
)
@example(data=b"}\n{" * 9, size=1, limit=ROW_LIMIT)
@example(data=b'{"a":' * 3_000, size=1024, limit=ROW_LIMIT)
def test_any_object_comes_to_an_end(data: bytes, size: int, limit: int) -> None:
    """For any bytes behind the first brace, each byte is in one row at most."""
    data = b"{" + data
    at = 0
    for each in _documents(data, size, limit):
        if isinstance(each, FramingFault):
            assert at <= each.start.offset <= len(data)
            continue
        assert each.start.offset >= at
        assert data[each.start.offset :].startswith(each.data)
        at = each.start.offset + len(each.data)


def test_document_over_the_limit_is_a_fault() -> None:
    """A document over the limit is one fault with its place and size."""
    data = b'\n{\n"a": "' + b"x" * 100 + b'"}'

    found = _frames(data, size=16, limit=50)

    assert found == [
        FramingFault("oversize", Cursor(1, 2, 0), len(data) - 1, record=True)
    ]
    assert faults_in(_frames(data, limit=200)) == []


def test_a_position_counts_code_points() -> None:
    """A broken sequence counts as one code point, like a character of four bytes."""
    assert Cursor().after("é😀".encode() + b"\xffa") == Cursor(8, 1, 4)
    assert Cursor(5, 2, 3).after(b"\nab") == Cursor(8, 3, 2)
