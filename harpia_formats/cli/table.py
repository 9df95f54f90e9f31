"""Tables: aligned text in a pipe, and what the terminal can do on one."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from harpia_formats.cli.guard import write_to
from harpia_formats.reporters.frame import columns
from harpia_formats.text.sanitize import safe

if TYPE_CHECKING:
    from rich.text import Text

#: Code points of a cell; a path that is cut cannot be clicked.
CELL = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table; one with a single cell heads those that follow."""

    cells: tuple[str, ...]
    #: What is to be said below it.
    notes: tuple[str, ...] = ()


def write_table(names: Sequence[str], lines: Sequence[Line], *, noted: int = 0) -> None:
    """Write a table to standard output.

    A terminal gets the names of the columns too, and notes in the column `noted`.
    """
    write = write_to(sys.stdout)
    if sys.stdout.isatty():
        write(_for_terminal(names, lines, noted))
    else:
        write("".join(f"{each}\n" for each in _aligned(lines)))


def wants_color() -> bool:
    """Tell whether the terminal is one for colours (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _aligned(lines: Sequence[Line]) -> Iterator[str]:
    """Yield each line with its cells below those of the others."""
    shown = [[safe(each, CELL) for each in line.cells] for line in lines]
    rows = [each for each in shown if len(each) > 1]
    widths = [max(map(columns, each)) for each in zip(*rows, strict=True)]
    for cells, line in zip(shown, lines, strict=True):
        if len(cells) == 1:
            yield cells[0]
        else:
            pairs = zip(cells, widths, strict=True)
            padded = (each + " " * (width - columns(each)) for each, width in pairs)
            yield "  ".join(padded).rstrip()
        yield from (f"  {safe(each, CELL)}" for each in line.notes)


def _for_terminal(names: Sequence[str], lines: Sequence[Line], noted: int) -> str:
    """Return the table in the width and the colours of the terminal."""
    from rich.console import Console  # noqa: PLC0415 - slow, and only on a terminal
    from rich.table import Table  # noqa: PLC0415 - likewise

    table = Table(box=None, pad_edge=False, header_style="bold")
    for each in names:
        table.add_column(each, overflow="fold")
    for line in lines:
        table.add_row(*_rich_cells(line, noted))
    console = Console(
        force_terminal=True,
        # Without one there are no bold letters either, as a dumb terminal needs it.
        color_system="standard" if wants_color() else None,
        width=get_terminal_size().columns,
    )
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def _rich_cells(line: Line, noted: int) -> list["Text"]:
    """Return the cells of a line, in which a markup is nothing but its letters."""
    from rich.text import Text  # noqa: PLC0415 - as above

    bold = "bold" if len(line.cells) == 1 else ""
    cells = [Text(safe(each, CELL), bold) for each in line.cells]
    for each in line.notes:
        cells[noted].append(f"\n{safe(each, CELL)}", "dim")
    return cells
