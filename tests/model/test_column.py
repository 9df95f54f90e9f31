"""Laws of columns: what they keep is what one would read of each value anew."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.model.column import Column, JoinedTexts, as_column

TEXTS = st.text(st.sampled_from("a\0é中😺"), max_size=3)


class Inner(msgspec.Struct):
    """An object in a row."""

    raw: str


class Row(msgspec.Struct):
    """A row."""

    input: Inner | None
    answers: list[str]


ROWS = st.lists(
    st.builds(Row, st.none() | st.builds(Inner, TEXTS), st.lists(TEXTS, max_size=2)),
    max_size=4,
)


@given(ROWS)
def test_a_column_has_what_its_values_have(rows: list[Row]) -> None:
    """Types, members, items and texts in UTF-8 are those of the values."""
    column = Column(rows)
    lists = column.member("answers")
    for _ in range(2):
        assert column.kinds == set(map(type, rows))
        assert lists == [row.answers for row in rows]
        if len(set(map(len, lists))) == 1:
            assert lists.items is not None
            assert list(zip(*lists.items, strict=True)) == (
                list(map(tuple, lists)) if lists[0] else []
            )
            for texts in lists.items:
                assert texts.encoded == [text.encode() for text in texts]
                assert texts.is_ascii == "".join(texts).isascii()
        else:
            assert lists.items is None
        if any(row.input is None for row in rows):
            with pytest.raises(AttributeError):
                column.member("input.raw")
        else:
            inner = column.member("input.raw")
            assert inner == [row.input.raw for row in rows if row.input]
    assert as_column(column) is column


@given(
    st.integers(1, 3).flatmap(
        lambda n: st.lists(
            st.lists(TEXTS, min_size=n, max_size=n), min_size=1, max_size=4
        )
    )
)
def test_texts_of_columns_are_joined_as_they_are_encoded(rows: list[list[str]]) -> None:
    """Texts and bytes of rows are those of their columns, with a NUL between them."""
    joined = JoinedTexts([Column(texts) for texts in zip(*rows, strict=True)])
    whole = ["\0".join(row) for row in rows]

    assert joined.encoded == [text.encode() for text in whole]
    assert list(joined) == whole
    assert (len(joined), joined[0], joined[1:]) == (len(rows), whole[0], whole[1:])
    assert joined.is_ascii == "".join(whole).isascii()


def test_a_surrogate_without_its_pair_is_not_encoded() -> None:
    """Who asks for texts in UTF-8 learns each time that there are none."""
    column = Column(["a", "\ud800"])
    for asked in (column, column, JoinedTexts([column, column])):
        with pytest.raises(UnicodeEncodeError):
            _ = asked.encoded
