"""Tables as text: rows of cells with their alignment in, lines in one style out.

A terminal and a pipe get columns of one width, Markdown and LaTeX marks between cells.
What may stand in a cell of a style is made by who has the cells.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harpia_formats.model.text.columns import shown_columns


@dataclass(frozen=True, slots=True)
class RowStyle:
    """What stands before, between and behind the cells of a row."""

    begin: str
    between: str
    end: str

    def line(self, cells: Iterable[str]) -> str:
        """Return cells as a line."""
        return f"{self.begin}{self.between.join(cells)}{self.end}"


#: A row of Markdown as GitHub and GitLab have it, and one of LaTeX's tabular.
MARKDOWN = RowStyle("| ", " | ", " |")
LATEX = RowStyle("", " & ", r" \\")


def markdown_head(names: Sequence[str], is_right: Sequence[bool]) -> list[str]:
    """Return the first two lines of a table in Markdown, the second for alignment."""
    rules = ["---:" if right else "---" for right in is_right]
    return [MARKDOWN.line(names), MARKDOWN.line(rules)]


def latex_columns(is_right: Sequence[bool]) -> str:
    """Return the alignment of columns as LaTeX's tabular has it."""
    return "".join("r" if right else "l" for right in is_right)


def natural_widths(rows: Iterable[Sequence[str]]) -> list[int]:
    """Return the width of the widest cell of each column."""
    return [max(map(shown_columns, column)) for column in zip(*rows, strict=True)]


def aligned_rows(
    rows: Iterable[Sequence[str]],
    widths: Sequence[int],
    is_right: Sequence[bool],
    gap: int = 2,
) -> Iterator[str]:
    """Yield a line for each row, with its cells in columns of these widths.

    `gap` spaces are between two columns, and none are at the end of a line. A cell that
    is wider than its column moves those behind it.
    """
    style = RowStyle("", " " * gap, "")
    for row in rows:
        padded = []
        for cell, width, right in zip(row, widths, is_right, strict=True):
            space = " " * (width - shown_columns(cell))
            padded.append(space + cell if right else cell + space)
        yield style.line(padded).rstrip()
