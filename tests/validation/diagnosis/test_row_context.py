"""What a row knows of its bytes and its place in the file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import Excerpt, Place
from harpia_formats.files.framing import chunk
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.validation.diagnosis.row_context import RowContext, id_of

START = Cursor(1_000, 7, 2)


def row_of(text: str, **more: Any) -> RowContext:
    """Return a row with a text that begins somewhere in a file."""
    return RowContext("f", text.encode(), START, 5, **more)


@for_each_case(
    "path, at_key, found",
    [
        (("a",), False, (2, 5)),
        (("a",), True, (2, 5)),
        (("a", 3), False, (2, 5)),
        (("b",), False, (0, 1)),
        ((), False, (0, 1)),
    ],
)
def test_bytes_of_a_field(path: Any, at_key: bool, found: tuple[int, int]) -> None:
    """A field of a table is marked as a whole, a missing one by the first byte."""
    spans: Mapping[Any, tuple[int, int]] = {"a": (2, 5)}

    assert row_of("x,abc", spans=spans).bytes_of(path, at_key=at_key) == found


@pytest.mark.parametrize("turns", [(0, 1, 2), (2, 0, 1), (1, 1, 0), (0, 2, 2)])
def test_repeated_keys_in_any_order(turns: tuple[int, ...]) -> None:
    """A repeated key is found by its number, whichever was asked for before."""
    row = row_of('{"a": 1, "a": 2, "b": 3, "b": 4, "b": 5}')
    found = [row.repeated_key(before) for before in turns]
    places = [row.text.index(b'"%c"' % key, at) for key, at in ((97, 5), (98, 25))]
    places.append(row.text.rindex(b'"b"'))

    assert [each.start for each in found] == [places[before] for before in turns]


@for_each_case(
    "at, expected",
    [
        (0, Cursor(1_000, 7, 2)),
        (2, Cursor(1_002, 7, 4)),
        (4, Cursor(1_004, 7, 5)),
        (6, Cursor(1_006, 8, 0)),
        (7, Cursor(1_007, 8, 1)),
        (9, Cursor(1_009, 8, 2)),
    ],
)
def test_place_of_a_byte(at: int, expected: Cursor) -> None:
    """A byte has its offset, line and column in the file, whatever was asked before."""
    for value in (None, "a value"):
        for before in (0, 2, 4, 6, 9):
            row = row_of('["é"\n"ü"]', value=value)
            row.cursor(before)
            assert row.cursor(at) == expected


def test_place_behind_a_part_of_a_character() -> None:
    """In a text that is no JSON, a place may be inside of a character."""
    row = row_of("éa")
    inside = row.cursor(1)

    assert inside == Cursor(1_001, 7, 3)
    assert row.cursor(2) == Cursor(1_002, 7, 3)


def test_place_in_pieces() -> None:
    """Each piece of a text begins at its own place in the file."""
    pieces = ((3, Cursor(50, 2, 1)), (6, Cursor(90, 3, 0)))
    places = {
        0: Cursor(1_000, 7, 2),
        2: Cursor(1_002, 7, 4),
        3: Cursor(50, 2, 1),
        4: Cursor(51, 2, 2),
        6: Cursor(90, 3, 0),
        8: Cursor(92, 3, 2),
    }
    for before in places:
        row = row_of("abcdefghi", pieces=pieces, value={})
        row.cursor(before)
        for at, expected in places.items():
            assert row.cursor(at) == expected, (before, at)


def test_place_that_was_found_is_gone_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes before a place are counted once, for all problems of a row."""
    counted: list[int] = []
    count = chunk.count_newlines

    def noted(data: bytes) -> int:
        counted.append(len(data))
        return count(data)

    monkeypatch.setattr(chunk, "count_newlines", noted)
    row = row_of("x" * 100, value={})
    for at in (30, 50, 50, 20):
        row.cursor(at)

    assert counted == [30, 20, 0, 20]


def test_place_of_a_problem() -> None:
    """A place has the record with its id, and a width of one column at least."""
    row = row_of('{"i": "é", "b": 1}\n', id_key="i", value={"i": "é"}, prefix=("r", 2))
    expected = Place(
        path="f",
        line=7,
        column=9,
        end_column=12,
        byte_offset=1_006,
        record=5,
        record_id="é",
        pointer="/r/2/i",
        record_id_key="i",
    )
    end = len(row.text) - 1

    assert row.place(6, 10, ("i",)) == expected
    # On a line, only to the end of it.
    assert row.place(end - 1, end + 1, ()).end_column == 21
    assert row.place(end, end + 1, ()).end_column == 22
    assert row.place(end, end, ()).end_column == 22


@for_each_case(
    "value, key, found",
    [
        ({"i": "a"}, "i", "a"),
        ({"i": 3}, "i", 3),
        ({"i": 0}, "i", 0),
        ({"i": ""}, "i", ""),
        ({"i": True}, "i", None),
        ({"i": 1.5}, "i", None),
        ({"i": None}, "i", None),
        ({"i": ["a"]}, "i", None),
        ({"a": 1}, "i", None),
        ({"": 1}, "", None),
        (["i"], "i", None),
        (None, "i", None),
    ],
)
def test_id_of_a_row(value: Any, key: str, found: Any) -> None:
    """The id of a row is text or a whole number at the key of ids, or there is none."""
    assert id_of(value, key) == found
    assert type(id_of(value, key)) is type(found)
    assert row_of("", value=value, id_key=key).id == found


@for_each_case(
    "before, marked, after, expected",
    [
        # The mark has as many characters before it as behind it.
        ("", "m", "", ("", "m", "")),
        ("b" * 49, "m", "a" * 50, ("b" * 49, "m", "a" * 50)),
        ("b" * 50, "m", "a" * 49, ("…" + "b" * 49, "m", "a" * 49)),
        ("b" * 49, "m", "a" * 51, ("b" * 49, "m", "a" * 50 + "…")),
        ("b" * 50, "m", "a" * 51, ("…" + "b" * 49, "m", "a" * 50 + "…")),
        # Room that is not used before it is used behind it.
        ("", "m", "a" * 99, ("", "m", "a" * 99)),
        ("", "m", "a" * 100, ("", "m", "a" * 99 + "…")),
        ("b", "mm", "a" * 98, ("b", "mm", "a" * 97 + "…")),
        # However many bytes a character has.
        ("🦜" * 50, "🦜", "🦜" * 51, ("…" + "🦜" * 49, "🦜", "🦜" * 50 + "…")),
        ("", "🦜", "🦜" * 99, ("", "🦜", "🦜" * 99)),
        ("", "🦜", "🦜" * 100, ("", "🦜", "🦜" * 99 + "…")),
        ("", "🦜", "🦜" * 300, ("", "🦜", "🦜" * 99 + "…")),
        ("é" * 300, "é", "", ("…" + "é" * 49, "é", "")),
        # A long mark leaves room for fifty characters, one that is too long for none.
        ("b" * 30, "m" * 60, "a" * 30, ("…" + "b" * 25, "m" * 60, "a" * 25 + "…")),
        ("b" * 30, "m" * 50, "a" * 30, ("…" + "b" * 25, "m" * 50, "a" * 25 + "…")),
        ("b" * 30, "m" * 49, "a" * 30, ("…" + "b" * 25, "m" * 49, "a" * 26 + "…")),
        ("b" * 25, "m" * 100, "a" * 25, ("b" * 25, "m" * 100, "a" * 25)),
        ("b" * 25, "m" * 101, "a" * 25, ("b" * 25, "m" * 100, "…")),
        ("", "m" * 300, "", ("", "m" * 100, "…")),
        # Only the line of the mark is shown, without the end of a line.
        ("x\nb", "m", "a\nx", ("b", "m", "a")),
        ("x\n", "m", "\nx", ("", "m", "")),
        ("\nb", "m", "a", ("b", "m", "a")),
        ("\n", "m", "", ("", "m", "")),
        ("b", "m\nm", "a", ("b", "m", "")),
        ("b", "m", "a\r\nx", ("b", "m", "a")),
        ("b", "\n", "a", ("b", "", "")),
        ("b", "", "a", ("b", "", "a")),
        ("b", "", "", ("b", "", "")),
    ],
)
def test_excerpt(before: str, marked: str, after: str, expected: Any) -> None:
    """An excerpt has the mark, and of its line what there is room for."""
    row = row_of(before + marked + after)
    start = len(before.encode())
    excerpt = row.excerpt(start, start + len(marked.encode()))
    lead, mark, tail = expected

    assert excerpt == Excerpt(
        lead + mark + tail, len(lead), len(lead) + max(1, len(mark))
    )


@for_each_case(
    "start, expected",
    [
        (1, Excerpt("abc", 1, 2)),
        (2, Excerpt("abc", 2, 3)),
        (3, Excerpt("def", 0, 1)),
        (5, Excerpt("def", 2, 3)),
        (6, Excerpt("gh", 0, 1)),
        (9, Excerpt("i", 0, 1)),
    ],
)
def test_excerpt_of_pieces(start: int, expected: Excerpt) -> None:
    """Text that is not adjacent in the file is not shown on one line."""
    pieces = ((3, Cursor(50, 2, 1)), (6, Cursor(90, 3, 0)))
    row = row_of("abcdefgh\ni", pieces=pieces)

    assert row.excerpt(start, start + 1) == expected
    assert replace(row, pieces=()).excerpt(start, start + 1) != expected or start == 9


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=300))
def test_excerpt_holds_the_mark(before: str, marked: str, after: str) -> None:
    """An excerpt is a part of the line, and its mark begins the marked text."""
    parts = [
        text.replace("\n", "").replace("\r", "") for text in (before, marked, after)
    ]
    lead, mark, tail = (part.encode("utf-8", "replace") for part in parts)
    row = RowContext("f", lead + mark + tail, Cursor(), 1)
    excerpt = row.excerpt(len(lead), len(lead) + len(mark))
    found = excerpt.text[excerpt.start : excerpt.end]
    line = (lead + mark + tail).decode()

    assert excerpt.text.removeprefix("…").removesuffix("…") in line
    assert not mark or mark.decode().startswith(found)
    assert len(excerpt.text) < 300
