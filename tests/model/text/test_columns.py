"""Columns of text on a terminal, and lines that are broken between words."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.model.text_columns import columns, wrapped

LINK = "\x1b]8;;https://example.org/C201\x1b\\"
words = st.text(
    st.characters(exclude_categories=["Z", "C"]) | st.sampled_from('"\\漢ー'),
    min_size=1,
)


@given(st.lists(words, min_size=1), st.integers(2, 60), st.sampled_from(["", "  "]))
def test_no_word_is_broken_or_lost(found: list[str], width: int, indent: str) -> None:
    """The lines hold the words in their order; only a single word is too long."""
    text = " ".join(found)
    lines = wrapped(text, width, indent)

    assert " ".join(line.strip() for line in lines) == text
    assert all(line.startswith(indent) for line in lines[1:])
    for line in lines:
        assert columns(line) <= width or " " not in line.strip()


@given(st.lists(words, min_size=1), st.integers(2, 60))
def test_lines_are_full(found: list[str], width: int) -> None:
    """The first word of a line, quotes apart, does not fit on the line before it."""
    text = " ".join(word.replace('"', "") or "x" for word in found)
    lines = wrapped(text, width)

    for line, after in pairwise(lines):
        assert columns(f"{line} {after.split(' ')[0]}") > width


@for_each_case(
    "text, lines",
    [
        ("  a value of two", ["  a value of", "    two"]),
        ('is "two words" now', ["is", '"two words"', "now"]),
        ('is "far too many words" now', ['is "far too', 'many words"', "now"]),
        ("漢字 漢字 漢字", ["漢字 漢字", "漢字"]),
        ("ééé́́́ abcd ef", ["ééé́́́ abcd ef"]),
        ("/a/long/pointer/1 is", ["/a/long/pointer/1", "is"]),
        ("a  b", ["a  b"]),
        ("", [""]),
    ],
)
def test_lines_of_twelve_columns(text: str, lines: list[str]) -> None:
    """Wide characters count two, combining ones none; quoted values stay whole."""
    indent = "    " if text.startswith(" ") else ""

    assert wrapped(text, 12, indent) == lines


def test_colours_and_links_have_no_columns() -> None:
    """What a terminal obeys takes no room."""
    text = f"\x1b[1mbold\x1b[0m and {LINK}C201\x1b]8;;\x1b\\ end"

    assert wrapped(text, 17) == [text]
    assert len(wrapped(text, 16)) == 2
