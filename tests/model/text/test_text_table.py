"""Rows of cells as lines of text, Markdown and LaTeX."""

from harpia_formats.model.text_columns import (
    LATEX,
    MARKDOWN,
    aligned_rows,
    latex_columns,
    markdown_head,
    natural_widths,
)

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
