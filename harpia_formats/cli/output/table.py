"""Tables on standard output: aligned text in a pipe, colours on a terminal."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harpia_formats.cli.output.streams import text_writer
from harpia_formats.cli.output.terminal import (
    USUAL_WIDTH,
    rendered,
    wants_color,
    width_of,
)
from harpia_formats.text.columns import columns
from harpia_formats.text.sanitize import safe

if TYPE_CHECKING:  # rich is slow to import, and pipes need none of it
    from rich.text import Text

#: Code points of a cell; a path that is cut cannot be clicked.
CELL = 4096


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
        lines = _terminal_lines(names, safe_rows, notes_in)
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
    widths = [max(map(columns, column)) for column in zip(*full, strict=True)]
    for row in rows:
        if len(row.cells) == 1:
            yield row.cells[0]
        else:
            pairs = zip(row.cells, widths, strict=True)
            padded = (cell + " " * (width - columns(cell)) for cell, width in pairs)
            yield "  ".join(padded).rstrip()
        yield from (f"  {note}" for note in row.notes)


def _terminal_lines(
    names: Sequence[str], rows: Sequence[TableRow], notes_in: int
) -> list[str]:
    """Return the lines of the table in the width and the colours of the terminal."""
    from rich.table import Table  # noqa: PLC0415 - slow, and only on a terminal

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*_rich_cells(row, notes_in))
    width = width_of(sys.stdout) or USUAL_WIDTH
    return rendered(table, width, color=wants_color(sys.stdout))


def _rich_cells(row: TableRow, notes_in: int) -> list["Text"]:
    """Return the cells of `row` as text that rich does not search for markup."""
    from rich.text import Text  # noqa: PLC0415 - slow, and only on a terminal

    bold = "bold" if len(row.cells) == 1 else ""
    cells = [Text(cell, bold) for cell in row.cells]
    for note in row.notes:
        cells[notes_in].append(f"\n{note}", "dim")
    return cells
