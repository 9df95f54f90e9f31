import io
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentFrames,
    RowArray,
    document_frames,
)
from harpia_formats.files.framing.container import frames
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.source import Source, SourceReader
from harpia_formats.formats.detection.sampled_file import ReadBlocks, complete_frames
from harpia_formats.model.report import FileCount


class Breaking(io.BytesIO):
    """A stream that fails where it should end."""

    def read1(self, size: int | None = -1, /) -> bytes:
        """Return some bytes, or fail behind the last."""
        piece = super().read1(size)
        if not piece:
            raise OSError(5, "Input/output error")
        return piece


def blocks_of(data: bytes, *, size: int = 64, breaks: bool = True) -> ReadBlocks:
    """Return the blocks of a source that breaks off behind `data`, or ends there."""
    stream = Breaking(data) if breaks else io.BytesIO(data)
    return ReadBlocks(SourceReader(Source("a", stream), size), FileCount("a"))


def read(data: bytes, *, size: int = 64, breaks: bool = True) -> list[bytes | str]:
    """Return the rows, and the kinds of the faults, that are left of `data`."""
    blocks = blocks_of(data, size=size, breaks=breaks)
    return list(shown(complete_frames(frames(blocks, limit=60), blocks)))


def shown(flow: DocumentFrames) -> Iterator[bytes | str]:
    """Yield each row and each kind of fault."""
    for each in flow:
        if isinstance(each, FramingFault):
            yield each.kind
        elif isinstance(each, Chunk):
            yield from each.rows


def test_blocks_are_counted() -> None:
    """Bytes are counted as they are read, and the end is recorded."""
    count = FileCount("a")
    blocks = ReadBlocks(SourceReader(Source("a", b"x" * 100), 64), count)
    sizes = [(len(each), count.bytes, blocks.ended) for each in blocks]

    assert sizes == [(64, 64, False), (36, 100, False)]
    assert blocks.ended
    assert blocks.error is None


def test_fault_of_the_source_ends_quietly() -> None:
    """An error of the source is kept, behind all of its data."""
    blocks = blocks_of(b"x" * 100)

    assert b"".join(blocks) == b"x" * 100
    assert str(blocks.error) == "a: input/output error"


@for_each_case(
    "data, rows",
    [
        (b'{"a": 1}\n{"b": 2}\n{"c', [b'{"a": 1}', b'{"b": 2}']),
        (b'{"a": 1}\n{"b": 2}', [b'{"a": 1}', b'{"b": 2}']),
        (b'{"a": 1}\n{"b": 2}\n', [b'{"a": 1}', b'{"b": 2}']),
        (b'{"a": 1}\n{"b": 2\n{"c": 3}\n', [b'{"a": 1}', b'{"b": 2', b'{"c": 3}']),
        (b'{"a": 1}\n{"b": 2\n', [b'{"a": 1}', b'{"b": 2']),
        (b'{"a', []),
        (b'{\n"a": {', []),
        (b"", []),
        (b"\n \n", []),
        (b'\xef\xbb\xbf{"a": 1}\n{', ["bom", b'{"a": 1}']),
        (b'[{"a": 1}, {"b": 2}, {"c', [b'{"a": 1}', b'{"b": 2}']),
        (b'[{"a": 1}, {"b": 2},', [b'{"a": 1}', b'{"b": 2}']),
        (b'[{"a": 1}, {"b": 2}', [b'{"a": 1}', b'{"b": 2}']),
        (b'[{"a": 1},, {"b": 2}', [b'{"a": 1}', "missing-item", b'{"b": 2}']),
        (b'[{"a": 1}] {', [b'{"a": 1}', "trailing"]),
        (b'[{"a": 1}, {"b": tru},', [b'{"a": 1}', b'{"b": tru}']),
        (b"[", []),
        (b'{"a": 1}\n"' + b"x" * 70 + b'"\n{"b', [b'{"a": 1}', "oversize"]),
    ],
)
def test_truncated_file_keeps_the_rows_before(
    data: bytes, rows: list[bytes | str]
) -> None:
    """Only a truncated row and faults of the truncation are dropped."""
    assert read(data) == rows


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b'{"a": 1}\n{"c', [b'{"a": 1}', b'{"c']),
        (b'[{"a": 1}', [b'{"a": 1}', "unclosed"]),
        (b'[{"a": 1}, {"c', [b'{"a": 1}', b'{"c']),
        (b"", ["empty"]),
    ],
)
def test_an_end_is_no_break(data: bytes, rows: list[bytes | str]) -> None:
    """In a source that ends without an error, nothing is dropped."""
    assert read(data, breaks=False) == rows


ROWS = st.lists(
    st.sampled_from([b'{"a": 1}', b'{"b": tru}', b"[1, 2]", b'"text"', b"", b"{"]),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.integers(0, 200), st.integers(1, 80))
def test_a_break_costs_one_row_at_most(rows: list[bytes], at: int, size: int) -> None:
    """Wherever lines break off, all lines before are kept."""
    data = b'{"first": 0}\n' + b"\n".join(rows) + b"\n"
    broken = data[: 13 + at]
    whole = broken.split(b"\n")[:-1]
    left = read(broken, size=size)

    assert left[: len(whole)] == whole
    assert len(left) <= len(whole) + 1


@given(st.integers(0, 120), st.integers(1, 80))
def test_a_break_in_a_document_leaves_whole_items(at: int, size: int) -> None:
    """Of a document that breaks off, the whole items are kept."""
    items = [b'{"a": %d}' % each for each in range(10, 20)]
    data = b'{"x": 1, "rows": [' + b", ".join(items) + b'], "y": {"z": 2}}'
    blocks = blocks_of(data[:at], size=size)
    feed = ByteBuffer(iter(blocks))
    feed.fill(1)
    cut = document_frames(feed, Cursor(), 1_000, lambda path: path == ("rows",))
    left = list(complete_frames(cut if feed.data else iter(()), blocks))
    rows = [row for each in left if isinstance(each, Chunk) for row in each.rows]

    assert rows == items[: len(rows)]
    assert len(rows) >= data[:at].count(b"},")
    assert all(isinstance(each, Chunk | RowArray) for each in left)
