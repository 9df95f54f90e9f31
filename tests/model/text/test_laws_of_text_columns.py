"""Texts in the columns of a terminal: broken, cut, aligned, and with a bar."""

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.model.text_columns import (
    LATEX,
    MARKDOWN,
    aligned_rows,
    columns,
    latex_columns,
    markdown_head,
    natural_widths,
    progress_bar,
    progress_text,
    short_names,
    shortened,
    wrapped,
)
from json_lines import jsonl_rows

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

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
    jsonl_rows(CASES / "twelve_columns.jsonl"),
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


@for_each_case(
    "done, total, rate, unit, text",
    jsonl_rows(CASES / "progress.jsonl"),
)
def test_text(
    done: float, total: float | None, rate: float, unit: str, text: str
) -> None:
    """The share, the amounts in one unit, the rate, and the time that is left."""
    assert progress_text(done, total, rate, unit) == text


@given(st.text(st.characters(exclude_categories=["C"])), st.floats(0, 1))
def test_bar_fits_its_line(name: str, share: float) -> None:
    """A line with a bar is never wider than its columns."""
    for width in range(1, 120, 7):
        line = progress_bar(name, share, "45 %, 1.2 of 2.7 GB, 5 s left", width)

        assert columns(line) <= width


@for_each_case(
    "width, share, line",
    jsonl_rows(CASES / "bars.jsonl"),
)
def test_parts_give_way(width: int, share: float | None, line: str) -> None:
    """First the bar is left out, then the start of the name, then the name."""
    assert progress_bar("a/b/c.jsonl", share, "50 %, 5 MB", width) == line


NAMES = st.lists(st.text("ab/-. \u4e2d\u0301", max_size=30), max_size=6, unique=True)


@for_each_case(
    "names, short",
    jsonl_rows(CASES / "short_names.jsonl"),
)
def test_common_parts_are_left_out(names: list[str], short: list[str]) -> None:
    """Parts of paths always are, and words if a name is long; one name stays."""
    assert short_names(names) == short


@given(NAMES)
def test_short_names_differ_and_are_parts_of_the_names(names: list[str]) -> None:
    """Names that differ still do, and nothing is added."""
    short = short_names(names)

    assert len(set(short)) == len(names)
    assert all(part in name for part, name in zip(short, names, strict=True))
    assert all(short) or "" in names


@for_each_case(
    "text, room, short",
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abc…fg"),
        ("e\u0301e\u0301e\u0301e\u0301", 3, "e\u0301…e\u0301"),
        ("\u4e2d\u4e2d\u4e2d\u4e2d", 6, "\u4e2d…\u4e2d"),
        ("abc", 1, "…"),
    ],
)
def test_a_long_text_is_cut_between_letters(text: str, room: int, short: str) -> None:
    """It fits into the columns, and a letter keeps its marks."""
    assert shortened(text, room) == short


@given(st.text("ab\u4e2d\u0301", max_size=20), st.integers(1, 20))
def test_any_text_fits(text: str, room: int) -> None:
    """It has at most so many columns, and is only shortened if it has more."""
    assert columns(shortened(text, room)) <= room or columns(text) <= room


ROWS = [["a", "1"], ["模型", "1,000"], ["\x1b[1mb\x1b[0m", ""]]


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    """Wide characters count twice, colours not, and no line ends with a space."""
    widths = natural_widths(ROWS)

    assert widths == [4, 5]
    assert list(aligned_rows(ROWS, widths, [False, True], gap=3)) == [
        "a          1",
        "模型   1,000",
        "\x1b[1mb\x1b[0m",
    ]


def test_a_cell_that_is_too_wide_moves_those_behind_it() -> None:
    """No cell is cut."""
    assert list(aligned_rows([["long", "1"]], [2, 2], [False, True])) == ["long   1"]


def test_markup_has_its_marks_between_cells() -> None:
    """Markdown tells the alignment in its second line, LaTeX before the first."""
    assert markdown_head(["a", "b"], [False, True]) == ["| a | b |", "| --- | ---: |"]
    assert MARKDOWN.line(["x", ""]) == "| x |  |"
    assert LATEX.line(["x", "1"]) == r"x & 1 \\"
    assert latex_columns([False, True]) == "lr"
