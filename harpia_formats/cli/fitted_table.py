"""Tables that fit into a terminal without cutting a word, a number or a place."""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from harpia_formats.cli.streams_and_exit_codes import text_writer, wants_color, width_of
from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import (
    aligned_rows,
    natural_widths,
    shown_columns,
    wrapped,
)


def table_lines(  # noqa: PLR0913 - how a table looks
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None,
    *,
    right: Collection[str] = (),
    gap: int = 2,
    is_ruled: bool = False,
    below: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the lines of a table of at most `width` columns, any number if it is None.

    The columns `right` are aligned on the right, `gap` spaces are between two columns,
    and a line is below the names if it `is_ruled`. Cells are broken between words.
    `below` has a text to be set below each row, none if it is empty.
    Where even the longest words have no room beside each other, each row is a block of
    lines instead, with a line for each column.
    """
    widths = _widths(names, rows, None, gap)
    if width is not None and sum(widths or ()) + gap * (len(names) - 1) > width:
        gap = min(gap, 2)
        widths = _widths(names, rows, width, gap)
    if widths is None:
        yield from _blocks(names, rows, width or 0, below)
        return
    is_right = [name in right for name in names]
    head = [wrapped(name, size) for name, size in zip(names, widths, strict=True)]
    height = max(map(len, head))
    bottom = [[""] * (height - len(lines)) + lines for lines in head]
    yield from aligned_rows(_beside(bottom), widths, is_right, gap)
    if is_ruled:
        yield "─" * (sum(widths) + gap * (len(names) - 1))
    for row, text in zip_longest(rows, below, fillvalue=""):
        cells = [wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
        yield from aligned_rows(_beside(cells), widths, is_right, gap)
        yield from _text_below(text, width)


def has_room(
    names: Sequence[str], rows: Sequence[Sequence[str]], width: int | None
) -> bool:
    """Tell whether the columns of a table have room beside each other."""
    return _widths(names, rows, width, 2) is not None


def _widths(
    names: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, gap: int
) -> list[int] | None:
    """Return the widths of the columns of a table, None if they have no room."""
    columns = list(zip(names, *rows, strict=True))
    natural = natural_widths([names, *rows])
    if width is None or sum(natural) + gap * (len(names) - 1) <= width:
        return natural
    least = [max(map(_longest_word, column)) for column in columns]
    room = width - gap * (len(names) - 1) - sum(least)
    return None if room < 0 else _shared_out(room, least, natural)


def _text_below(text: str, width: int | None) -> list[str]:
    """Return the lines of a text below a row, which may have several paragraphs."""
    lines = text.split("\n") if text else []
    if width is None:
        return lines
    return [part for line in lines for part in wrapped(line, width, " " * 4)]


def _longest_word(cell: str) -> int:
    """Return the columns of the longest word of a cell."""
    return max(map(shown_columns, cell.split()), default=0)


def _shared_out(room: int, least: list[int], natural: list[int]) -> list[int]:
    """Return the widths of columns: the least ones, and `room` shared out evenly."""
    widths = list(least)
    wanting = [at for at in range(len(widths)) if natural[at] > widths[at]]
    while room > 0 and wanting:
        for at in sorted(wanting, key=lambda at: widths[at]):
            if room:
                widths[at] += 1
                room -= 1
        wanting = [at for at in wanting if natural[at] > widths[at]]
    return widths


def _beside(cells: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of cells of several lines, which stand beside each other."""
    return zip_longest(*cells, fillvalue="")


def _blocks(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    below: Sequence[str],
) -> Iterator[str]:
    """Yield a block for each row: its first cell, and a line for each other cell."""
    for row, text in zip_longest(rows, below, fillvalue=""):
        yield from wrapped(row[0] or f"({names[0]})", width, "  ")
        for name, cell in zip(names[1:], row[1:], strict=True):
            if cell:
                yield from wrapped(f"  {name}: {cell}", width, " " * 4)
        yield from _text_below(text, width)


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
