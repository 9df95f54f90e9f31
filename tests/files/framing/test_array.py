import itertools
import json
import random
import tracemalloc
from time import perf_counter
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from cut_rows import blocks_of, counted_cursor, faults_in, placed_rows, rows_in
from harpia_formats.files.framing import array
from harpia_formats.files.framing.chunk import BOM, Chunk, Cursor, FramingFault
from harpia_formats.files.framing.container import frames
from harpia_formats.files.framing.unfinished_json import ByteBuffer

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


def _frames(
    data: bytes, *, size: int = 64 * 1024, window: int | None = None, **options: int
) -> list[Chunk | FramingFault]:
    with pytest.MonkeyPatch.context() as patch:
        if window is not None:
            patch.setattr(array, "WINDOW", window)
        return list(frames(blocks_of(data, size), **options))


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

    placed = placed_rows(found)
    assert [row for _, row in placed] == rows
    assert faults_in(found) == ([("bom", 0)] if bom else [])
    for start, row in placed:
        assert data[start.offset :].startswith(row)
        assert start == counted_cursor(data, start.offset)


@given(data=st.binary(max_size=60), size=_SIZES, window=_WINDOWS)
@example(data=b'{"a":-', size=1, window=1)
@example(data=b'"\\', size=1, window=1)
@example(data=b'{"a":"\\ud800"},{"a":1}', size=3, window=16)
@example(data=b"[" * 3000 + b"]" * 3000 + b",1", size=100, window=64)
def test_any_bytes_come_to_an_end(*, data: bytes, size: int, window: int) -> None:
    """For any bytes in the array, each byte is in one row at most, in order."""
    data = b"[" + data

    found = _frames(data, size=size, window=window)

    end = 0
    for start, row in placed_rows(found):
        assert start.offset >= end
        end = start.offset + len(row)
        assert data[start.offset : end] == row


_PUNCTUATION = st.lists(
    st.sampled_from([*'{}[]",:\\ ', '{"id":', '"a"', "1", "tru", "\\u", "\n", ","])
)


@given(parts=_PUNCTUATION, size=_SIZES, window=_WINDOWS, limit=st.integers(4, 99))
def test_any_punctuation_comes_to_an_end(
    *, parts: list[str], size: int, window: int, limit: int
) -> None:
    """Broken arrays of any kind end, and an array that parses is cut rightly."""
    data = ("[" + "".join(parts)).encode()

    found = _frames(data, size=size, window=window, limit=limit)

    places = [start.offset for start, _ in placed_rows(found)]
    assert places == sorted(set(places))
    try:
        rows = json.loads(data)
    except ValueError:
        return
    kinds = {kind for kind, _ in faults_in(found)}
    assert kinds - {"oversize"} == (set() if rows else {"empty"})
    if "oversize" not in kinds:
        assert [json.loads(each) for each in rows_in(found)] == rows


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


@pytest.mark.parametrize(
    ("data", "rows", "faults"),
    [
        (b"[1,,2]", [b"1", b"2"], [("missing-item", 3)]),
        (b"[1,,,2]", [b"1", b"2"], [("missing-item", 3), ("missing-item", 4)]),
        (b"[1 , ]", [b"1"], [("missing-item", 3)]),
        (b"[,1]", [b"1"], [("missing-item", 1)]),
        (b"[,]", [], [("missing-item", 1)]),
        (b" []", [], [("empty", 1)]),
        (b"[ \n]\n", [], [("empty", 0)]),
        (b"[] x", [], [("empty", 0), ("trailing", 3)]),
        (b"[", [], [("unclosed", 1)]),
        (b"[1,2", [b"1", b"2"], [("unclosed", 4)]),
        (b"[1,2,\n", [b"1", b"2"], [("unclosed", 6)]),
        (b'[{"a":1}', [b'{"a":1}'], [("unclosed", 8)]),
        (b'[{"a":1}\n', [b'{"a":1}'], [("unclosed", 9)]),
        (b'[{"a":1', [b'{"a":1'], []),
        (b'[{"a" 1}', [b'{"a" 1}'], [("unclosed", 8)]),
        (b'[{"a":1}]]', [b'{"a":1}'], [("trailing", 9)]),
        (b"[1]\n\n x,[2]", [b"1"], [("trailing", 6)]),
        (b'[1, "b" ,null,[2],{}]', [b"1", b'"b"', b"null", b"[2]", b"{}"], []),
    ],
)
@pytest.mark.parametrize("size", [1, 1024])
@pytest.mark.parametrize("window", [1, 1024])
def test_faults_around_rows_have_a_place(
    data: bytes,
    rows: list[bytes],
    faults: list[tuple[str, int]],
    size: int,
    window: int,
) -> None:
    """Extra commas, a missing bracket and bytes after the array are faults."""
    found = _frames(data, size=size, window=window)

    assert rows_in(found) == rows
    assert faults_in(found) == faults


def test_all_that_is_behind_an_array_is_measured() -> None:
    """Bytes behind an array are read to the end of the file and counted."""
    data = b"[1]" + b" x" * 1000
    blocks = blocks_of(data, 16)

    assert FramingFault("trailing", Cursor(4, 1, 4), 1999) in list(frames(blocks))
    assert next(blocks, None) is None


@given(
    lengths=st.lists(st.integers(1, 120), min_size=1),
    size=_SIZES,
    window=st.sampled_from([1, 16, 64]),
    separator=st.sampled_from([b",", b" ,\n"]),
)
def test_each_row_over_the_limit_is_one_fault(
    *, lengths: list[int], size: int, window: int, separator: bytes
) -> None:
    """Each row over the limit is one fault with its place, and no other is lost."""
    rows = [b'{"a":"%b"}' % ("é😀"[each % 2].encode() * each) for each in lengths]
    data = b"[" + separator.join(rows) + b"]"

    found = _frames(data, size=size, window=window, limit=50)

    assert rows_in(found) == [each for each in rows if len(each) <= 50]
    faults = [each for each in found if isinstance(each, FramingFault)]
    assert [each.size for each in faults] == [len(x) for x in rows if len(x) > 50]
    for each in faults:
        assert (each.kind, each.record) == ("oversize", True)
        assert data[each.start.offset :].startswith(b'{"a":')
    for start in [each.start for each in faults] + [
        each[0] for each in placed_rows(found)
    ]:
        assert start == counted_cursor(data, start.offset)


def test_a_row_beyond_the_limit_is_not_held() -> None:
    """A row of 50 MB is skipped in less than 6 MB of memory."""
    text = b'{"a":[1,"%b\\"]}"]},' % (b"word " * 6000) * 2
    blocks = [b'[{"a":1},{"b":[', *[text] * 800, b'0]}, {"a":2}]']
    tracemalloc.start()
    try:
        found = list(frames(blocks, limit=_MEGABYTE))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert rows_in(found) == [b'{"a":1}', b'{"a":2}']
    size = len(text) * 800 + len(b'{"b":[0]}')
    assert FramingFault("oversize", Cursor(9, 1, 9), size, record=True) in found
    assert peak < 6 * _MEGABYTE


def test_a_row_beyond_the_limit_may_be_cut_off() -> None:
    """A file that ends inside of a row over the limit has that one fault."""
    found = _frames(b'[1,{"a":"' + b"x" * 1000, size=16, window=16, limit=50)

    assert rows_in(found) == [b"1"]
    assert faults_in(found) == [("oversize", 3)]


def test_a_long_row_takes_linear_time() -> None:
    """A row of 5 MB among small ones takes linear time."""
    inner = [{"id": each, "text": "some, words"} for each in range(140_000)]
    long = json.dumps({"id": 1, "turns": inner}).encode()
    rows = [*[_record(each) for each in range(500)], long, _record(1)]
    began = perf_counter()

    found = _frames(b"[" + b", ".join(rows) + b"]")

    assert rows_in(found) == rows
    assert perf_counter() - began < 2


def test_nested_lists_are_not_cut_as_rows() -> None:
    """Long lists inside a row that look like rows are not cut as rows."""
    chance = random.Random(1)  # noqa: S311 - a seed, not a secret
    rows = [
        json.dumps({"id": 1, "turns": [{"id": 2}] * chance.randint(0, 9000)}).encode()
        for _ in range(20)
    ]

    found = _frames(b"[" + b", ".join(rows) + b"]", window=4096)

    assert rows_in(found) == rows


@pytest.mark.parametrize(
    ("before", "part"), [(0, 1), (15, 1), (16, 2), (239, 15), (240, 16), (9_999, 16)]
)
def test_windows_of_many_arrays(
    monkeypatch: pytest.MonkeyPatch, before: int, part: int
) -> None:
    """The windows of an array are smaller the more arrays of the object precede it."""
    usual, made = array.ArrayCutter, []

    def noted(*given: Any, **options: Any) -> array.ArrayCutter:
        made.append(usual(*given, **options))
        return made[-1]

    monkeypatch.setattr(array, "ArrayCutter", noted)
    list(array.member_rows(ByteBuffer(iter(()), b"[]"), Cursor(), 9, before))

    assert [(each.usual, each.most) for each in made] == [
        (256 * 1024 // part, 256 * 1024 // part // 32)
    ]


def test_the_first_chunk_has_a_byte_at_least() -> None:
    """However small a window is, some bytes are tried."""
    cutter = array.ArrayCutter(ByteBuffer(iter(())), Cursor(), 9, 31)

    assert (cutter.window, cutter.most) == (31, 1)
