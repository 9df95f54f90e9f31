"""NaN and Infinity in JSON text: found outside of strings, masked, read as null."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing.chunk import (
    Chunk,
    Cursor,
    NullRows,
    constants_in,
    masked,
    rows_with_nulls,
    with_nulls,
)
from harpia_formats.files.framing.container import frames

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
    """What Python writes is read with null for each constant, texts unchanged."""
    text = json.dumps(value, separators=separators, indent=indent).encode()

    assert msgspec.json.decode(with_nulls(text)) == without_constants(value)


@given(VALUES)
def test_masked_text_has_the_same_length(value: Any) -> None:
    """A masked text is JSON, and all of its other bytes are where they were."""
    text = json.dumps(value).encode()
    found = masked(text)
    places = {at for start, end in constants_in(text) for at in range(start, end)}

    msgspec.json.decode(found)
    assert len(found) == len(text)
    assert all(found[at] == text[at] for at in range(len(text)) if at not in places)


@for_each_case("text", [b"NaNa", b"xNaN", b"-NaN", b'"NaN"', b"nan", b"Inf"])
def test_other_words_are_no_constants(text: bytes) -> None:
    """Words that Python does not write for a number stay faults."""
    assert constants_in(text) == []


def test_rows_keep_their_places_and_texts() -> None:
    """Rows with nulls begin where the rows of the file begin, and have their texts."""
    data = b'{"a":NaN,"b":1}\n{"a":2}\n'
    chunk = rows_with_nulls(Chunk(data, Cursor(10, 5)))

    assert chunk.rows == [b'{"a":null,"b":1}', b'{"a":2}']
    assert chunk.texts == data.splitlines()
    assert chunk.start_of(1) == Cursor(26, 6)
    assert chunk.end.offset == 10 + len(data)
    assert type(chunk.between(1, 2)) is Chunk
    assert chunk.first(1).rows == chunk.rows[:1]


def test_rows_without_constants_are_the_same_object() -> None:
    """Rows that have the word in a text only are not copied."""
    chunk = Chunk(b'{"a": "NaN"}\n', Cursor())

    assert rows_with_nulls(chunk) is chunk
    assert not isinstance(rows_with_nulls(Chunk(b"{}", Cursor())), NullRows)


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


@for_each_case(
    "text, expected",
    [
        (b"[NaN,-Infinity,Infinity]", [b"NaN", b"-Infinity", b"Infinity"]),
        (b"[-NaN, --Infinity, aNaN, NaNs, 1-Infinity, +Infinity]", []),
        (b'["NaN", "a Infinity", NaN]', [b"NaN"]),
        (b"-Infinity", [b"-Infinity"]),
        (b"NaN", [b"NaN"]),
    ],
)
def test_constants_are_whole_words(text: bytes, expected: list[bytes]) -> None:
    """A constant is a word of its own outside of strings, with its sign."""
    assert [text[start:end] for start, end in constants_in(text)] == expected
