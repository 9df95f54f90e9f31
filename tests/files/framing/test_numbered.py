import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentFrames,
    DocumentHeader,
    RowArray,
    decoded_or_none,
    numbered_records,
)
from harpia_formats.files.framing.container import frames

ROWS = st.lists(
    st.sampled_from([b"{}", b'{"id": 1}', b"", b" \t", b"{", b"[1]", b'"\xff"'])
)


@given(ROWS, st.sampled_from([1, 7, 64 * 1024]))
def test_records_are_the_lines_that_are_not_blank(rows: list[bytes], size: int) -> None:
    """Every line that is not blank is a record, numbered from 1, whatever it holds."""
    data = b"\n".join([b'{"first": 0}', *rows])
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    found = list(numbered_records(frames(blocks)))
    full = [b'{"first": 0}', *(each for each in rows if each.strip())]

    assert [(each.number, each.text) for each in found] == list(enumerate(full, 1))
    for each in found:
        assert each.start == each.chunk.start_of(each.row)
        assert data[each.start.offset :].startswith(each.text)


@pytest.mark.parametrize("data", [b"[%b]", b"%b"])
def test_rows_beyond_the_limit_have_numbers(data: bytes) -> None:
    """A row over the limit is counted as a record and not yielded."""
    rows = [b'{"n": 1}', b'{"n": "' + b"x" * 50 + b'"}', b'{"n": 3}']
    joined = (b"," if data.startswith(b"[") else b"\n").join(rows)
    found = numbered_records(frames([data % joined], limit=20))

    assert [(each.number, each.value()) for each in found] == [
        (1, {"n": 1}),
        (3, {"n": 3}),
    ]


def test_only_chunks_hold_records() -> None:
    """Headers, array starts and other faults have no numbers."""
    chunk = Chunk(b"{} []", Cursor(), [b"{}", b"[]"])
    header = DocumentHeader(b"{}", ((0, Cursor()),))
    flow: DocumentFrames = iter(
        [FramingFault("bom", Cursor()), RowArray(("a",)), chunk, header, chunk]
    )

    assert [each.number for each in numbered_records(flow)] == [1, 2, 3, 4]


@for_each_case(
    "text, value",
    [
        (b'{"a": [1, 2.5]}', {"a": [1, 2.5]}),
        (b"{", None),
        (b'"\xff"', None),
        (b"[" * 100_000, None),
        (b"[" * 100_000 + b"]" * 100_000, None),
        (b"NaN", None),
        (json.dumps({"é": "\u2028"}).encode(), {"é": "\u2028"}),
    ],
)
def test_value_of_a_text(text: bytes, value: Any) -> None:
    """A text that does not parse, for any reason, has no value."""
    assert decoded_or_none(text) == value
