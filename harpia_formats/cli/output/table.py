"""Tables on standard output: aligned text in a pipe, colours on a terminal."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harpia_formats.cli.output.fitted_table import has_room, table_lines
from harpia_formats.cli.output.streams import text_writer
from harpia_formats.cli.output.terminal import wants_color, width_of
from harpia_formats.model.text.sanitize import safe
from harpia_formats.model.text.text_table import aligned_rows, natural_widths

#: Code points of a cell; a path that is cut cannot be clicked.
CELL = 4096
#: The end of an ANSI style, and any of its codes.
_RESET = "\x1b[0m"
_STYLES = re.compile(r"\x1b\[[0-9]*m")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table; a row with a single cell is the heading of those below it."""

    cells: tuple[str, ...]
    #: Further lines below the row.
    notes: tuple[str, ...] = ()


def write_table(
    names: Sequence[str], rows: Sequence[TableRow], *, notes_in: int = 0
) -> None:
    """Write a table to standard output.

    On a terminal it begins with `names`, the names of the columns, and the notes of a
    row are in the column with the index `notes_in`.
    """
    safe_rows = [_safe(row) for row in rows]
    if sys.stdout.isatty():
        lines = list(_terminal_lines(names, safe_rows, notes_in))
    else:
        lines = list(aligned_lines(safe_rows))
    text_writer(sys.stdout)("".join(f"{line}\n" for line in lines))


def _safe(row: TableRow) -> TableRow:
    """Return `row` without characters that could control a terminal."""
    cells = tuple(safe(cell, CELL) for cell in row.cells)
    return TableRow(cells, tuple(safe(note, CELL) for note in row.notes))


def aligned_lines(rows: Sequence[TableRow]) -> Iterator[str]:
    """Yield the lines of a table whose columns are as wide as their longest cells."""
    full = [row.cells for row in rows if len(row.cells) > 1]
    widths = natural_widths(full)
    is_right = [False] * len(widths)
    for row in rows:
        if len(row.cells) == 1:
            yield row.cells[0]
        else:
            yield from aligned_rows([row.cells], widths, is_right)
        yield from (f"  {note}" for note in row.notes)


def _terminal_lines(
    names: Sequence[str], rows: Sequence[TableRow], notes_in: int
) -> Iterator[str]:
    """Yield the lines of the table in the width and the colours of the terminal.

    The notes of a row are lines of their own in its column `notes_in`, or below the row
    if the columns have no room beside each other. Names and headings are bold, and
    notes are dim, if the terminal gets colours.
    """
    bold, dim = ("1", "2") if wants_color(sys.stdout) else ("", "")
    width = width_of(sys.stdout)
    head = _painted(names, len(names), bold)
    empty = [""] * (len(names) - 1)
    plain, beside, below = [], [], []
    for row in rows:
        style = bold if len(row.cells) == 1 else ""
        plain.append(_painted(row.cells, len(names), style))
        notes = _painted(row.notes, len(row.notes), dim)
        beside.append(plain[-1])
        beside += [[*empty[:notes_in], note, *empty[notes_in:]] for note in notes]
        below.append("\n".join(f"  {note}" for note in notes))
    if has_room(head, beside, width):
        return _closed(table_lines(head, beside, width))
    return _closed(table_lines(head, plain, width, below=below))


def _painted(cells: Sequence[str], count: int, code: str) -> list[str]:
    """Return `count` cells, those that are there in an ANSI style."""
    full = [*cells, *[""] * (count - len(cells))]
    if not code:
        return full
    return [f"\x1b[{code}m{each}{_RESET}" if each else "" for each in full]


def _closed(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that each begin and end the style of a text that is on several."""
    style = ""
    for line in lines:
        text = line.lstrip(" ")
        shown = line[: len(line) - len(text)] + style + text
        codes = _STYLES.findall(shown)
        style = codes[-1] if codes and codes[-1] != _RESET else ""
        yield f"{shown}{_RESET}" if style else shown
