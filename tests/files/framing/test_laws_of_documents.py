"""Laws of documents: which arrays of an object are cut, and the header around them.

Into what each of many small documents is cut, whole, is in `cut_inputs.json`.
"""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cut_rows import blocks_of, counted_cursor
from harpia_formats.files.framing import array
from harpia_formats.files.framing.chunk import BOM, Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentFrame,
    DocumentHeader,
    RowArray,
    document_frames,
    numbered_records,
)
from harpia_formats.files.framing.container import frames
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.plugins import Path

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
) -> list[DocumentFrame]:
    """Return the frames of a document whose arrays at `depth` are all cut."""

    def is_cut(path: Path) -> bool:
        return len(path) == depth

    buffer = ByteBuffer(blocks_of(data, size))
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


def check_header(header: DocumentHeader, data: bytes) -> None:
    """Assert that each piece of a header is in the file where it says it is."""
    # Two brackets stand for an array, in front of the next piece.
    ends = [begin - 2 for begin, _ in header.pieces[1:]] + [len(header.text)]
    for (begin, start), end in zip(header.pieces, ends, strict=True):
        assert data[start.offset :].startswith(header.text[begin:end])
        assert start == counted_cursor(data, start.offset)


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
            assert start == counted_cursor(data, start.offset)
            found[-1][1].append(json.loads(row))

    assert found == arrays_of(document, depth)
    assert isinstance(header, DocumentHeader)
    assert json.loads(header.text) == emptied(document, depth)
    check_header(header, data)


#: Documents, of which some bytes at some place are left out or changed.
BROKEN = st.builds(
    lambda document, spelling, at, left, more: (
        (data := json.dumps(document, **spelling).encode())[: max(1, at % len(data))]
        + more
        + data[max(1, at % len(data)) + left :]
    ),
    DOCUMENTS,
    SPELLINGS,
    st.integers(0, 999),
    st.integers(0, 3),
    st.binary(max_size=2),
)
ANY = st.text('[]{}",:a1 \n\\', max_size=40).map(lambda text: b"{" + text.encode())


@given(BROKEN | ANY, SIZES, st.sampled_from([1, 2]))
@example(b'{"a":[', 1, 1)
@example(b'{"a":[1,[2},"b":[3]}', 1, 1)
@example(b'{"a":' + b"[" * 3_000, 1000, 1)
def test_any_object_is_cut_to_its_end(data: bytes, size: int, depth: int) -> None:
    """For any bytes behind the first brace, cutting ends with places in the file.

    Rows are bytes of the file in order, and faults are inside of it.
    """
    at = 0
    for each in frames_of(data, depth, size=size):
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
    found = document_frames(buffer, Cursor(), 99, lambda path: path == ("b", "c"), 2)

    assert [each.rows for each in found if isinstance(each, Chunk)] == [[b"1"]]


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


LONG = b'{"n": "%b"}' % (b"x" * 50)
ROWS = st.lists(
    st.sampled_from([b"{}", b'{"id": 1}', b"", b" \t", b"{", b"[1]", b'"\xff"', LONG])
)


@given(ROWS, SIZES, st.sampled_from([b"", BOM]))
def test_records_have_numbers_and_values(
    rows: list[bytes], size: int, mark: bytes
) -> None:
    """Each line that is not blank is a record; one over the limit is only counted.

    A text that is not JSON has no value.
    """
    data = mark + b"\n".join([b'{"first": 0}', *rows])
    found = list(numbered_records(frames(blocks_of(data, size), limit=20), 5))
    full = [b'{"first": 0}', *(each for each in rows if each.strip())]

    assert [(each.number, each.text) for each in found] == [
        (number, text) for number, text in enumerate(full, 6) if text != LONG
    ]
    for each in found:
        text = each.text
        assert each.start == each.chunk.start_of(each.row)
        assert data[each.start.offset :].startswith(text)
        assert each.value() == (None if text in {b"{", b'"\xff"'} else json.loads(text))


def test_only_rows_have_numbers() -> None:
    """Headers and the beginnings of arrays are no records."""
    found = numbered_records(frames_of(b'{"n": 1, "a": [1, 2], "b": [3]}'))

    assert [(each.number, each.value()) for each in found] == [(1, 1), (2, 2), (3, 3)]
