import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import validate
from harpia_formats.files.framing import array
from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentHeader,
    RowArray,
    document_frames,
)
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.model.problem import Path

KEYS = st.sampled_from(["rows", "more", "é", 'a"b', "", "\u2028"])
SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.sampled_from('ab"\\/é😀\u2028\n{}[]:, '), max_size=6)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=10,
)
DOCUMENTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    KEYS, VALUES | st.lists(VALUES, max_size=6), max_size=5
)
SPELLINGS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"separators": (",", ":"), "ensure_ascii": False}, {}, {"indent": 1}]
)
SIZES = st.sampled_from([1, 2, 3, 7, 64, 64 * 1024])
WINDOWS = st.sampled_from([1, 16, 64, 256 * 1024])


def frames_of(
    data: bytes,
    depth: int = 1,
    *,
    size: int = 64 * 1024,
    limit: int = ROW_LIMIT,
    window: int = 256 * 1024,
) -> list[Chunk | FramingFault | RowArray | DocumentHeader]:
    """Return the frames of a document whose arrays at `depth` are all cut."""

    def is_cut(path: Path) -> bool:
        return len(path) == depth

    blocks: Iterator[bytes] = (data[at : at + size] for at in range(0, len(data), size))
    buffer = ByteBuffer(blocks)
    buffer.fill(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array, "WINDOW", window)
        return list(document_frames(buffer, Cursor(), limit, is_cut, depth))


def arrays_of(value: Any, depth: int, path: Path = ()) -> list[tuple[Path, list[Any]]]:
    """Return the arrays of a document at `depth`, in order."""
    if len(path) == depth:
        return [(path, value)] if isinstance(value, list) else []
    if not isinstance(value, dict):
        return []
    return [
        found
        for key, each in value.items()
        for found in arrays_of(each, depth, (*path, key))
    ]


def emptied(value: Any, depth: int) -> Any:
    """Return a document whose arrays at `depth` are empty."""
    if not depth:
        return [] if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    return {key: emptied(each, depth - 1) for key, each in value.items()}


def cursor(data: bytes, offset: int) -> Cursor:
    """Count a position the plain way."""
    before = data[:offset].decode()
    return Cursor(offset, before.count("\n") + 1, len(before.rpartition("\n")[2]))


def check_header(header: DocumentHeader, data: bytes) -> None:
    """Assert that each piece of a header is in the file where it says it is."""
    # Two brackets stand for an array, in front of the next piece.
    ends = [begin - 2 for begin, _ in header.pieces[1:]] + [len(header.text)]
    for (begin, start), end in zip(header.pieces, ends, strict=True):
        assert data[start.offset :].startswith(header.text[begin:end])
        assert start == cursor(data, start.offset)


@given(DOCUMENTS, SPELLINGS, SIZES, WINDOWS, st.sampled_from([1, 2, 3]))
def test_items_agree_with_a_plain_parser(
    document: dict[str, Any],
    spelling: dict[str, Any],
    size: int,
    window: int,
    depth: int,
) -> None:
    """In blocks of any size, all items come in order with places, then the header."""
    data = (json.dumps(document, **spelling) + "\n").encode()
    found: list[tuple[Path, list[Any]]] = []
    *slices_before, header = frames_of(data, depth, size=size, window=window)
    for each in slices_before:
        if isinstance(each, RowArray):
            found.append((each.path, []))
        assert isinstance(each, Chunk | RowArray)
        for number, row in enumerate(each.rows if isinstance(each, Chunk) else ()):
            start = each.start_of(number) if isinstance(each, Chunk) else Cursor()
            assert data[start.offset :].startswith(row)
            assert start == cursor(data, start.offset)
            found[-1][1].append(json.loads(row))

    assert found == arrays_of(document, depth)
    assert isinstance(header, DocumentHeader)
    assert json.loads(header.text) == emptied(document, depth)
    check_header(header, data)


BROKEN = st.tuples(DOCUMENTS, SPELLINGS, st.data())


@given(BROKEN, SIZES, st.sampled_from([1, 2]))
def test_broken_documents_are_cut_all_the_same(
    given_: tuple[dict[str, Any], dict[str, Any], st.DataObject], size: int, depth: int
) -> None:
    """With any bytes changed or left out, cutting ends, and places are in the file."""
    document, spelling, draw = given_
    data = json.dumps(document, **spelling).encode()
    at = draw.draw(st.integers(1, len(data)))
    left = draw.draw(st.integers(0, 3))
    data = data[:at] + draw.draw(st.binary(max_size=2)) + data[at + left :]
    check_places(data, frames_of(data, depth, size=size))


@given(st.text('[]{}",:a1 \n\\', max_size=40).map(lambda text: b"{" + text.encode()))
@example(b'{"a":[')
@example(b'{"a":[1,[2},"b":[3]}')
@example(b'{"a":' + b"[" * 3_000)
def test_any_object_comes_to_an_end(data: bytes) -> None:
    """For any bytes behind the first brace, cutting ends with places in the file."""
    for size in (1, 1_000):
        check_places(data, frames_of(data, size=size))


def check_places(
    data: bytes, found: list[Chunk | FramingFault | RowArray | DocumentHeader]
) -> None:
    """Assert that rows are bytes of the file in order, and faults are inside of it."""
    at = 0
    for each in found:
        if isinstance(each, FramingFault):
            assert 0 <= each.start.offset <= len(data)
        elif isinstance(each, Chunk):
            for number, row in enumerate(each.rows):
                start = each.start_of(number)
                assert start.offset >= at
                assert data[start.offset :].startswith(row)
                at = start.offset + len(row)
        elif isinstance(each, DocumentHeader):
            assert all(0 <= start.offset <= len(data) for _, start in each.pieces)


def test_only_the_arrays_that_are_asked_for_are_cut() -> None:
    """An array that is not cut stays in the header, and so do objects around it."""
    data = b'{"a": [1, 2], "b": {"rows": [3]}, "rows": [4, 5]}'
    buffer = ByteBuffer(iter(()), data)
    found = list(document_frames(buffer, Cursor(), 99, lambda path: path[-1] == "rows"))
    member, chunk, header = found

    assert member == RowArray(("rows",))
    assert isinstance(chunk, Chunk)
    assert chunk.rows == [b"4", b"5"]
    assert isinstance(header, DocumentHeader)
    assert header.text == b'{"a": [1, 2], "b": {"rows": [3]}, "rows": []}'


def test_an_array_behind_a_broken_member_of_an_inner_object() -> None:
    """It is looked for in the object whose member is broken, not in the whole one."""
    buffer = ByteBuffer(iter(()), b'{"b": {"x": y, "c": [1]}}')
    frames = document_frames(buffer, Cursor(), 99, lambda path: path == ("b", "c"), 2)

    assert [each.rows for each in frames if isinstance(each, Chunk)] == [[b"1"]]


@pytest.mark.parametrize(
    "data", [b'{"a": [1, 2', b'{"a": [1, 2, ', b'{"a": [1, {"b": 2', b'{"a": [']
)
def test_array_that_is_not_closed_leaves_no_header(data: bytes) -> None:
    """If the file ends in an array, there is no header."""
    found = frames_of(data)

    assert found[0] == RowArray(("a",))
    assert not any(isinstance(each, DocumentHeader) for each in found)


@for_each_case(
    "data, text",
    [
        (b'{"a": [1], "b": tru}', b'{"a": [], "b": tru}'),
        (b'{"a": [1] "b": 1}', b'{"a": [] "b": 1}'),
        (b'{"a": [1]} trailing', b'{"a": []}trailing'),
        (b'{"a": [1], b}', b'{"a": [], b}'),
        (b'{"a": [1]', b'{"a": []'),
        (b'{"a": [1], "a": [2]}', b'{"a": [], "a": []}'),
    ],
)
def test_header_keeps_its_syntax_errors(data: bytes, text: bytes) -> None:
    """Syntax errors around the arrays stay in the header, for the row validator."""
    header = frames_of(data)[-1]

    assert isinstance(header, DocumentHeader)
    assert header.text == text
    check_header(header, data)


def test_header_over_the_limit_is_a_fault() -> None:
    """A header over the limit is a fault, and the items in it are still cut."""
    data = b'{"x": "%b", "y": "%b", "a": [1, 2], "z": 3}' % (b"x" * 60, b"y" * 60)
    member, chunk, fault = frames_of(data, limit=100, size=10)

    assert member == RowArray(("a",))
    assert isinstance(chunk, Chunk)
    assert chunk.rows == [b"1", b"2"]
    assert fault == FramingFault("oversize", Cursor(), len(data) - len(b"1, 2"))


def test_broken_item_does_not_affect_its_neighbours() -> None:
    """A broken item is one row, and the other items are cut as usual."""
    rows = [b'{"n": %d}' % each for each in range(60)]
    rows[30] = b'{"n": }'
    data = b'{"a": [' + b", ".join(rows) + b'], "b": 1}'
    *found, header = frames_of(data, window=64)

    assert [r for each in found if isinstance(each, Chunk) for r in each.rows] == rows
    assert isinstance(header, DocumentHeader)
    assert header.text == b'{"a": [], "b": 1}'


def test_item_over_the_limit_is_a_fault() -> None:
    """An item over the limit is a fault counted as a record; other items are kept."""
    data = b'{"rows": [1, "' + b"x" * 500 + b'", 3], "a": 4}'
    _, before, fault, behind, header = frames_of(data, limit=100, size=16, window=16)

    assert fault == FramingFault("oversize", Cursor(13, 1, 13), 502, record=True)
    assert isinstance(before, Chunk)
    assert isinstance(behind, Chunk)
    assert (before.rows, behind.rows) == ([b"1"], [b"3"])
    assert isinstance(header, DocumentHeader)
    assert header.text == b'{"rows": [], "a": 4}'


@pytest.mark.parametrize("space", [b"\n", b"  ", b"\r\n\t"])
def test_white_space_in_front_is_passed_over(space: bytes) -> None:
    """A document that does not begin in the first byte is cut like any other."""
    report = validate(
        space + b'{"instances": [{"id": "1", "input": "q", "actual-output": "x"}]}'
    )
    (count,) = report.files

    assert (count.format, count.records, count.valid) == ("harpia", 1, 1)


def test_records_after_a_broken_member_are_validated() -> None:
    """The records after a syntax error in the header are all validated."""
    data = (
        b'{"metrics": [{"id": nope}], "instances": [{"id": "1", "input": 2, '
        b'"actual-output": "x"}]}'
    )
    report = validate(data)

    assert [(each.code, each.place.record) for each in report.problems] == [
        ("S102", 1),
        ("J101", None),
    ]
    assert report.files[0].records == 1


def test_limit_counts_records_across_columns() -> None:
    """`limit` counts records, and each record has a value in every column."""
    data = b'{"questions": ["a", "b", "c"], "predicted_answers": ["x", 3, 4]}'
    limited = validate(data, strict=True, limit=2)
    longer = validate(data.replace(b', "c"', b""), strict=True, limit=2)

    assert [each.place.record for each in limited.problems] == [2]
    assert limited.files[0].records == 2
    assert "K101" in [each.code for each in longer.problems]


@pytest.mark.parametrize("header", [b"", b'"metrics": [], '])
def test_rows_after_an_extra_bracket_are_validated(header: bytes) -> None:
    """An extra closing bracket among rows is one fault; later rows are validated."""
    row = b'{"id": "%d", "input": "q", "actual-output": "x"}'
    rows = [row % each for each in range(4)]
    data = b"{" + header + b'"instances": [' + rows[0] + b"], " + b", ".join(rows[1:])
    report = validate(data + b"]}")

    assert [(each.code, each.place.byte_offset) for each in report.problems][:1] == [
        ("J101", data.index(b"],", data.index(b"instances")))
    ]
    assert report.files[0].valid == 4


def test_arrays_of_an_object_with_many_are_cut_into_smaller_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reader that holds a chunk of each column holds no more for many columns."""
    monkeypatch.setattr(array, "WINDOW", 4000)
    columns = {f"column {number}": ["x" * 20] * 1000 for number in range(40)}
    buffer = ByteBuffer(iter([json.dumps(columns).encode()]))
    sizes: list[int] = []
    for frame in document_frames(buffer, Cursor(), ROW_LIMIT, lambda _: True):
        if isinstance(frame, RowArray):
            sizes.append(0)
        elif isinstance(frame, Chunk):
            sizes[-1] = max(sizes[-1], len(frame.data))

    assert len(sizes) == 40
    assert max(sizes[:16]) > 2000
    assert max(sizes[32:]) <= 4000 // 3


def test_what_stands_before_the_first_array_is_reported_once() -> None:
    """The first array is announced with the text before it, the others without."""
    frames = frames_of(b'{"n": 1, "a": [1, 2], "m": 2, "b": [3]}')
    found = [(each.path, each.before) for each in frames if isinstance(each, RowArray)]

    assert found == [(("a",), b'{"n": 1, "a": '), (("b",), b"")]
