"""Laws of rows: what is cut of any lines, arrays and objects, in blocks of any size.

Into what each of many small inputs is cut, whole, is in `cut_inputs.json`.
"""

import itertools
import json
import random
import tracemalloc
from time import perf_counter, process_time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from cut_rows import blocks_of, counted_cursor, faults_in, placed_rows, rows_in
from harpia_formats.files.framing import array
from harpia_formats.files.framing.chunk import BOM, Chunk, Cursor, FramingFault
from harpia_formats.files.framing.container import (
    Layout,
    document_rows,
    frames,
    open_container,
)
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT, WINDOW

_MEGABYTE = 1024 * 1024
_SIZES = st.sampled_from([1, 3, 16, 100, 64 * 1024])
_WINDOWS = st.sampled_from([1, 16, 64, 500, 256 * 1024])
_SPACES = st.sampled_from([b"", b" ", b"\n", b"\r\n\t ", b"\n" * 20])
_TEXTS = st.text(st.sampled_from('ab"\\/é😀\u2028\n{}[]:, '), max_size=8)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | _TEXTS
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4)
    ),
    max_leaves=8,
)
_TURNS = st.lists(st.fixed_dictionaries({"id": _SCALARS, "turn": _TEXTS}), max_size=4)
_RECORDS = st.fixed_dictionaries({"id": _SCALARS, "turns": _TURNS, "more": _VALUES})
_SPELLINGS: list[dict[str, Any]] = [
    {"separators": (",", ":"), "ensure_ascii": False},
    {"ensure_ascii": True},
    {"indent": 1, "ensure_ascii": False},
]
_SPELLED = st.tuples(
    st.lists(_RECORDS, min_size=1) | st.lists(_VALUES, min_size=1),
    st.sampled_from(_SPELLINGS),
).map(lambda pair: [json.dumps(each, **pair[1]).encode() for each in pair[0]])
_LINES = st.lists(
    st.text(st.sampled_from('ab"{}[], \\é😀\u2028\x85\t'), max_size=12).map(str.encode)
)


def _frames(
    data: bytes, *, size: int = 64 * 1024, window: int | None = None, **options: int
) -> list[Chunk | FramingFault]:
    with pytest.MonkeyPatch.context() as patch:
        if window is not None:
            patch.setattr(array, "WINDOW", window)
        return list(frames(blocks_of(data, size), **options))


def _documents(
    data: bytes, size: int, limit: int = ROW_LIMIT
) -> list[Chunk | FramingFault]:
    return list(document_rows(ByteBuffer(blocks_of(data, size)), Cursor(), limit))


def _check_places(data: bytes, found: list[Chunk | FramingFault]) -> None:
    """Assert that rows are bytes of the data in order, each in its place."""
    for start, row in placed_rows(found):
        assert data[start.offset :].startswith(row)
        assert start == counted_cursor(data, start.offset)


@given(
    rows=_SPELLED,
    before=_SPACES,
    after=_SPACES,
    bom=st.sampled_from([b"", BOM]),
    size=_SIZES,
    window=_WINDOWS,
)
def test_rows_come_out_as_they_were_written(  # noqa: PLR0913 - a law over six things
    *,
    rows: list[bytes],
    before: bytes,
    after: bytes,
    bom: bytes,
    size: int,
    window: int,
) -> None:
    """Any rows, spelling, blocks and windows give the same rows at their places."""
    inside = (after + b"," + before).join(rows)
    data = bom + after + b"[" + before + inside + after + b"]" + before

    found = _frames(data, size=size, window=window)

    assert rows_in(found) == rows
    assert faults_in(found) == ([("bom", 0)] if bom else [])
    _check_places(data, found)


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

    found = _frames(data, size=size)

    assert rows_in(found) == expected
    _check_places(data, found)


_KEYS = st.sampled_from(["a", "é", '"{', "}\n{", "\u2028"])
_OBJECTS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.dictionaries(_KEYS, st.none() | st.integers() | _KEYS, max_size=3),
    lambda inner: st.dictionaries(_KEYS, inner | st.lists(inner), max_size=3),
    max_leaves=5,
)


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

    assert rows_in(found) == rows
    assert faults_in(found) == [("spread", len(between))] * (len(rows) > 1)
    _check_places(data, found)


_PUNCTUATION = st.lists(
    st.sampled_from([*'{}[]",:\\ ', '{"id":', '"a"', "1", "tru", "\\u", "\n", ","])
).map(lambda parts: "".join(parts).encode())


@given(
    first=st.sampled_from([b"", b"[", b"{", b"{"]),
    data=st.binary(max_size=60) | _PUNCTUATION,
    size=_SIZES,
    window=_WINDOWS,
    limit=st.sampled_from([3, 20, ROW_LIMIT]),
)
@example(first=b"[", data=b'{"a":-', size=1, window=1, limit=ROW_LIMIT)
@example(first=b"[", data=b'"\\', size=1, window=1, limit=ROW_LIMIT)
@example(first=b"[", data=b'{"a":"\\ud800"},{"a":1}', size=3, window=16, limit=999)
@example(first=b"", data=b"[" * 20_000, size=1024, window=1024, limit=1 << 20)
@example(
    first=b"[", data=b"[" * 3000 + b"]" * 3000 + b",1", size=100, window=64, limit=9999
)
@example(first=b"", data=b'{"a":\n' * 2_000, size=1024, window=1024, limit=1 << 20)
@example(first=b"{", data=b"}\n{" * 9, size=1, window=64, limit=ROW_LIMIT)
@example(
    first=b"{", data=b'"a":' + b'{"a":' * 3_000, size=1024, window=64, limit=99_999
)
def test_any_bytes_are_cut_to_the_end(
    *, first: bytes, data: bytes, size: int, window: int, limit: int
) -> None:
    """For any bytes, each is in one row at most, in order, and faults are inside."""
    data = first + data
    for pieces in (
        _frames(data, size=size, window=window, limit=limit),
        _documents(data, size, limit) if first == b"{" else [],
    ):
        at = 0
        for each in pieces:
            if isinstance(each, FramingFault):
                assert 0 <= each.start.offset <= len(data)
                assert each.kind != "spread" or each.start.offset >= at
                continue
            for number, row in enumerate(each.rows):
                start = each.start_of(number).offset

                assert start >= at
                assert data[start : start + len(row)] == row
                at = start + len(row)


@given(data=_PUNCTUATION, size=_SIZES, window=_WINDOWS, limit=st.integers(4, 99))
def test_an_array_that_parses_is_cut_rightly(
    *, data: bytes, size: int, window: int, limit: int
) -> None:
    """Its rows are its items, unless one is over the limit."""
    data = b"[" + data
    try:
        rows = json.loads(data)
    except ValueError:
        return
    found = _frames(data, size=size, window=window, limit=limit)
    kinds = {kind for kind, _ in faults_in(found)}
    assert kinds - {"oversize"} == (set() if rows else {"empty"})
    if "oversize" not in kinds:
        assert [json.loads(each) for each in rows_in(found)] == rows


@given(
    st.binary(max_size=40) | st.text('[]{}",:a1 \r\n', max_size=40).map(str.encode),
    st.sampled_from([1, 7, 1024]),
)
@example(BOM + b" \n", 1)
@example(b"\xef\xbb", 1)
def test_nothing_is_lost_by_looking(data: bytes, size: int) -> None:
    """For any file, the bytes still to be cut are all of it, from its start."""
    opened = open_container(blocks_of(data, size))
    left = opened.buffer.data + b"".join(opened.buffer.blocks)

    assert data[opened.start.offset :] == left
    assert not data[: opened.start.offset].removeprefix(BOM).strip(b" \t\r\n")
    assert [each.kind for each in opened.faults] == ["bom"] * data.startswith(BOM) + [
        "empty"
    ] * (opened.layout is Layout.EMPTY)


def _record(number: int) -> bytes:
    turns = [{"id": number, "text": f"{number}, {{é}}"} for _ in range(3)]
    record = {"id": number, "turns": turns, "end": f"last {number}"}
    return json.dumps(record, ensure_ascii=False).encode()


_BROKEN = [
    b'{"id": tru, "turns": [{"id": 1}, {"id": 2}]}',  # wrong word
    b'{"id": 5, "turns": [{"id": 1} {"id": 2}]}',  # lost inner comma
    b'{"id" 5, "turns": [], "end": "x"}',  # lost colon
    b'{"id": 5, "turns": [], "end": "x}',  # lost last quote
    b'{"id": 5, "turns": [], "end": x"}',  # lost opening quote
    b'{"id": 5, "turns: [], "end": "x"}',  # lost name quote
    b'{"id": 5, "turns": [], "end": {"x": 1}',  # lost brace
    b'{"id": 5, "turns": [1, 2, "end": "x"}',  # lost bracket
    b'{"id": 5, "turns": [{"id": 1}}]}',  # brackets swapped
    b'{"id": 5, "turns": []}}',  # brace too many
    b'{"id": 5, "turns": []]}',  # bracket too many
    b'{"id": 5, "end": "\\ud800 alone"}',  # lone surrogate
    b'{"id": 5, "end": "\\x"}',  # wrong escape
    b'{"id": 5, "end": "a\nb"}',  # raw newline
    b'{"id": 5}{"id": 6}',  # lost comma
    b'{"id": 5} x',  # something behind
    b"{id: 5}",  # name without quotes
    b"nonsense",  # no object
    b'{"id": ' + b"[" * 3000 + b"]" * 3000 + b"}",  # too deep
    b'{"id": 5, "end',  # cut off
]


@for_each_case(
    "row, behind, window, before",
    itertools.product(
        _BROKEN, [b",", b", ", b",\n "], [16, 500, 256 * 1024], [0, 1, 40]
    ),
)
def test_a_broken_row_is_alone(
    row: bytes, behind: bytes, window: int, before: int
) -> None:
    """A broken row is alone in its chunk, and the rows around it are intact."""
    good = [_record(number) for number in range(before + 5)]
    rows = [*good[:before], row, *good[before:]]
    data = b"[" + behind.join(rows) + b"]\n"

    found = _frames(data, window=window)

    assert rows_in(found) == rows
    assert faults_in(found) == []
    [alone] = [each for each in found if isinstance(each, Chunk) and row in each.rows]
    assert alone.rows == [row]
    assert alone.start_of(0) == counted_cursor(data, data.index(row))


def test_many_broken_rows_are_each_alone() -> None:
    """Each of several broken rows side by side is a row, in linear time."""
    rows = [
        b'{"id": tru, "text": "%b"}' % (b"x" * 200) if each % 3 else _record(each)
        for each in range(3000)
    ]
    began = perf_counter()

    found = _frames(b"[" + b",".join(rows) + b"]")

    assert rows_in(found) == rows
    assert perf_counter() - began < 2


@given(data=_PUNCTUATION, near=st.integers(1, 20))
@example(data=b'{"a":"},\n\n\n{"b":1}]', near=6)
def test_an_end_is_found_however_near_it_is_looked_for(data: bytes, near: int) -> None:
    """In which steps the end of a broken row is looked for makes no difference."""
    found = _frames(b"[" + data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array, "NEAR", near)

        assert placed_rows(_frames(b"[" + data)) == placed_rows(found)


@pytest.mark.parametrize("row", [b"True", b"{'a': 1}"])
def test_many_rows_that_none_begins_like_take_linear_time(row: bytes) -> None:
    """Of a broken row only what is near is searched for the beginning of another."""
    began = process_time()

    found = _frames(b"[" + b", ".join([row] * 25_000) + b"]")

    assert rows_in(found) == [row] * 25_000
    assert process_time() - began < 2


def test_many_broken_rows_with_constants_take_linear_time() -> None:
    """For each of them little more than the row is read for its NaN."""
    rows = [b'{"a": NaN, "b": None}'] * 2_000
    began = process_time()

    assert rows_in(_frames(b"[" + b", ".join(rows) + b"]")) == rows
    assert process_time() - began < 2


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize("data", [b"", b" ", b"\n \t\r\n "])
def test_white_space_is_no_document(data: bytes, size: int) -> None:
    """Data of nothing but white space has no rows and no faults."""
    assert _documents(data, size) == []


def test_rows_without_commas_are_broken_in_pairs() -> None:
    """If all commas are missing, no row is valid, and none is lost."""
    rows = [b'{"id":%d}' % each for each in range(100)]

    found = _frames(b"[" + b"\n".join(rows) + b"]", window=64)

    pairs = zip(rows[::2], rows[1::2], strict=True)
    assert rows_in(found) == [b"\n".join(each) for each in pairs]


def test_rows_with_mixed_first_keys_are_found_behind_a_broken_one() -> None:
    """Rows whose keys come in another order are recognized as rows."""
    rows = [b'{"%c":1,"x":[{"y":2}]}' % b"abc"[each % 3] for each in range(200)]
    rows[150] = b'{"a":1,"x":[{"y":2}]'

    assert rows_in(_frames(b"[" + b",".join(rows) + b"]", window=256)) == rows


def test_the_array_goes_on_behind_the_rest_of_a_broken_row() -> None:
    """A bracket that is left over from a broken row does not end the array."""
    good = [_record(number) for number in range(50)]
    broken = b'{"id" 1}, {"x": 2}], "end": "x"}'
    data = b"[" + b", ".join([*good[:9], broken, *good[9:]]) + b"] x"

    found = _frames(data, window=500)

    rows = rows_in(found)
    assert rows[:9] + rows[-41:] == good
    assert faults_in(found) == [("trailing", len(data) - 1)]


@pytest.mark.parametrize("size", [1, 7, 64 * 1024])
def test_a_row_that_is_cut_off_is_handed_on(size: int) -> None:
    """Wherever a file ends, the rest of the last row is a row."""
    rows = [b'{"a":"x"}', b'{"a":[{"b":"y"}]}', b'{"a":-1}']
    data = b"[" + b", ".join(rows) + b"]"
    for end in range(1, len(data)):
        left = data[1:end].split(b", ")
        left[-1] = left[-1].removesuffix(b",")
        is_torn = left[-1] not in {b"", *rows}

        found = _frames(data[:end], size=size, window=8)

        assert rows_in(found) == [each for each in left if each]
        assert faults_in(found) == ([] if is_torn else [("unclosed", end)])


def test_all_that_is_behind_an_array_is_measured() -> None:
    """Bytes behind an array are read to the end of the file and counted."""
    data = b"[1]" + b" x" * 1000
    blocks = blocks_of(data, 16)

    assert FramingFault("trailing", Cursor(4, 1, 4), 1999) in list(frames(blocks))
    assert next(blocks, None) is None


@given(
    lengths=st.lists(st.integers(0, 120), min_size=1),
    size=_SIZES,
    window=st.sampled_from([1, 16, 64]),
    separator=st.sampled_from([b",", b" ,\n", b"\n"]),
    closed=st.booleans(),
)
def test_each_row_over_the_limit_is_one_fault(
    *, lengths: list[int], size: int, window: int, separator: bytes, closed: bool
) -> None:
    """Each row over the limit is one fault with its place, and no other is lost."""
    rows = [b'{"a":"%b"}' % ("é😀"[each % 2].encode() * each) for each in lengths]
    data = separator.join([b"{}", *rows, b"{}"])
    data = data + b"\n" * closed if separator == b"\n" else b"[" + data + b"]"

    found = _frames(data, size=size, window=window, limit=50)

    short = [each for each in rows if len(each) <= 50]
    assert rows_in(found) == [b"{}", *short, b"{}"]
    faults = [each for each in found if isinstance(each, FramingFault)]
    assert [each.size for each in faults] == [len(x) for x in rows if len(x) > 50]
    _check_places(data, found)
    for each in faults:
        assert (each.kind, each.record) == ("oversize", True)
        assert data[each.start.offset :].startswith(b'{"a":')
        assert each.start == counted_cursor(data, each.start.offset)


_BLOCK, _PART = b"x" * 65_536, b'{"a":[1,"%b\\"]}"]},' % (b"word " * 6000) * 2


@pytest.mark.parametrize(
    ("before", "parts", "behind", "start"),
    [
        (b'[{"a":1},', [b'{"b":[', *[_PART] * 800, b"0]}"], b', {"a":2}]', (9, 1, 9)),
        (b'{"a":1}\n', [_BLOCK] * 800, b'\n{"a":2}\n', (8, 2, 0)),
    ],
    ids=["array", "lines"],
)
def test_a_row_beyond_the_limit_is_not_held(
    before: bytes, parts: list[bytes], behind: bytes, start: Any
) -> None:
    """A row of 50 MB is skipped in less than 6 MB of memory."""
    tracemalloc.start()
    try:
        found = list(frames([before, *parts, behind], limit=_MEGABYTE))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert rows_in(found) == [b'{"a":1}', b'{"a":2}']
    size = sum(map(len, parts))
    assert FramingFault("oversize", Cursor(*start), size, record=True) in found
    assert peak < 6 * _MEGABYTE


def test_a_long_row_takes_linear_time() -> None:
    """A row of 5 MB among small ones takes linear time."""
    inner = [{"id": each, "text": "some, words"} for each in range(140_000)]
    long = json.dumps({"id": 1, "turns": inner}).encode()
    rows = [*[_record(each) for each in range(500)], long, _record(1)]
    began = perf_counter()

    found = _frames(b"[" + b", ".join(rows) + b"]")

    assert rows_in(found) == rows
    assert perf_counter() - began < 2


def test_a_long_line_takes_linear_time() -> None:
    """A line of 5 MB among small ones takes linear time."""
    lines = [b'{"a":1}', b'{"a":"%b"}' % (b"x" * 5_000_000), b'{"a":2}']
    began = perf_counter()

    found = _frames(b"\n".join(lines))

    assert rows_in(found) == lines
    assert perf_counter() - began < 1


def test_nested_lists_are_not_cut_as_rows() -> None:
    """Long lists inside a row that look like rows are not cut as rows."""
    chance = random.Random(1)  # noqa: S311 - a seed, not a secret
    rows = [
        json.dumps({"id": 1, "turns": [{"id": 2}] * chance.randint(0, 9000)}).encode()
        for _ in range(20)
    ]

    found = _frames(b"[" + b", ".join(rows) + b"]", window=4096)

    assert rows_in(found) == rows


@pytest.mark.parametrize("text", [b"", b'{"a":1}'])
def test_much_leading_space_is_not_held(text: bytes) -> None:
    """White space larger than a window is skipped, and places stay exact."""
    space = b"\n " * WINDOW
    found = _frames(space + text)

    if not text:
        assert found == [FramingFault("empty", Cursor())]
        return
    [(start, row)] = [each for each in placed_rows(found) if each[1].strip()]
    assert (row, start) == (text, Cursor(len(space), WINDOW + 1, 1))


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
