"""Texts in values of many rows, read as columns: the same as row by row."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.formats.rules.row_texts import text_columns
from harpia_formats.model import value_path

KEYS = ("role", "content")


class Message(msgspec.Struct):
    """A message, or a model with its answers."""

    role: Any = None
    content: Any = None
    items: Any = None


LEAVES = st.one_of(st.none(), st.just(msgspec.UNSET), st.text("ab", max_size=2))
MESSAGES = st.builds(Message, LEAVES, LEAVES)
ALIKE = st.builds(
    Message,
    st.text("ab"),
    st.text("ab"),
    st.lists(st.builds(Message, st.just("r"), st.text("ab")), min_size=1, max_size=2),
)
VALUES = st.one_of(
    LEAVES,
    st.integers(),
    st.lists(LEAVES, max_size=2),
    st.lists(MESSAGES, max_size=2),
    st.dictionaries(st.sampled_from(KEYS), LEAVES),
)
COLUMNS = st.one_of(
    st.lists(VALUES, min_size=1, max_size=4),
    st.lists(st.text("ab"), min_size=1, max_size=4),
    st.lists(st.lists(ALIKE, min_size=1, max_size=1), min_size=1, max_size=4),
    st.lists(st.lists(ALIKE, min_size=2, max_size=2), min_size=1, max_size=4),
)
PATHS = st.sampled_from([(), ("content",), ("items",), ("items", "content"), ("no",)])


@given(COLUMNS, PATHS)
def test_columns_hold_the_texts_of_each_row(
    values: list[Any], path: tuple[str, ...]
) -> None:
    """A row's texts are those of the columns at its place, in the same order."""
    columns = text_columns(values, path, KEYS)
    if columns is None:
        return
    for number, value in enumerate(values):
        expected: list[str] = []
        if value is not None and value is not msgspec.UNSET:
            value_path.add_texts(value, path, expected)
        assert [column[number] for column in columns] == expected


def test_rows_that_are_alike_have_columns() -> None:
    """Lists of the same size give a column for each text in them."""
    rows = [[Message(role="user", content=text)] for text in "abc"]
    assert text_columns(rows, (), KEYS) == [["user"] * 3, ["a", "b", "c"]]
