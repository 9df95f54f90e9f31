"""Tables in a terminal, which fit without cutting a word, a number or a place."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import (
    aligned_rows,
    columns,
    natural_widths,
    shown_columns,
    wrapped,
)
from harpia_formats.reporters.tables.table import Cell, Note, Table, number_of

#: Code points of a cell; a path that is cut cannot be clicked.
CELL = 4096
#: Code points of a cell of a table with rules.
_SHORT = 200
#: Spaces between two columns of a table with rules.
_GAP = 3
#: The mark of a number that Markdown, LaTeX and HTML set in bold.
_BOLD = "\N{BLACK DIAMOND}"


def ruled_lines(table: Table, width: int | None, gap: int = _GAP) -> Iterator[str]:
    """Yield the lines of a table with a line below the names of its columns.

    They have at most `width` columns, and no intervals where these have no room.
    """
    names, *rows = _texts(table)
    if not has_room(table, width):
        rows = _texts(table, "")[1:]
    is_right = [column.is_number for column in table.headings]
    return table_lines(names, rows, width, is_right=is_right, gap=gap, is_ruled=True)


def has_room(table: Table, width: int | None) -> bool:
    """Tell whether each row of a table with rules has room in one line."""
    needed = sum(natural_widths(_texts(table))) + _GAP * (len(table.headings) - 1)
    return width is None or needed <= width


def _texts(table: Table, rest: str | None = None) -> list[list[str]]:
    """Return the names of columns and the rows, with intervals unless `rest` is ""."""
    names = [one.with_arrow(safe(one.full_name)) for one in table.headings]
    return [
        names,
        *([_text(cell, table.none, rest) for cell in row] for row in table.rows),
    ]


def _text(cell: Cell, none: str, rest: str | None = None) -> str:
    """Return the text of a cell, with its interval unless `rest` replaces that."""
    if isinstance(cell, str):
        return safe(cell, _SHORT)
    one = number_of(cell, none)
    bold = _BOLD if one.is_bold else ""
    parts = (one.text, one.rest if rest is None else rest, bold + one.mark)
    return " ".join(filter(None, parts))


def note_line(note: Note) -> str:
    """Return a note as one line for a terminal, where a mark stands for bold."""
    return note.line.replace("Bold:", f"{_BOLD}:", 1)


def fitted_lines(table: Table, width: int | None) -> Iterator[str]:
    """Yield the lines of a table of texts whose last column has places.

    Places may be long paths: where they do not fit next to the other columns, they are
    below their rows.
    """
    names, rows = (
        table.names,
        [[number_of(one).text for one in row] for row in table.rows],
    )
    below = []
    if not fits(names, rows, width):
        below = [f"    {names[-1]}: {row[-1]}" if row[-1] else "" for row in rows]
        names, rows = names[:-1], [row[:-1] for row in rows]
    return table_lines(names, rows, width, below=below)


def fits(
    names: Sequence[str], rows: Sequence[Sequence[str]], width: int | None
) -> bool:
    """Tell whether the columns of a table have room side by side."""
    return _widths([names, *rows], width, 2) is not None


def table_lines(  # noqa: PLR0913 - how a table looks
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None,
    *,
    is_right: Sequence[bool] = (),
    gap: int = 2,
    is_ruled: bool = False,
    below: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the lines of a table of at most `width` columns, any number if it is None.

    The columns that `is_right` tells are aligned on the right, `gap` spaces are between
    two columns, and a line is below the names if it `is_ruled`. Cells are broken
    between words. `below` has a text to be set below each row, none if it is empty.
    Where even the longest words have no room side by side, each row is a block of
    lines instead, with a line for each column.
    """
    widths: list[int] | None = natural_widths([names, *rows])
    if width is not None and sum(widths or ()) + gap * (len(names) - 1) > width:
        gap = min(gap, 2)
        widths = _widths([names, *rows], width, gap)
    if widths is None:
        yield from _blocks(names, rows, width or 0, below)
        return
    right = is_right or [False] * len(names)
    head = [wrapped(name, size) for name, size in zip(names, widths, strict=True)]
    height = max(map(len, head))
    bottom = [[""] * (height - len(lines)) + lines for lines in head]
    yield from aligned_rows(zip_longest(*bottom, fillvalue=""), widths, right, gap)
    if is_ruled:
        yield "─" * (sum(widths) + gap * (len(names) - 1))
    for row, text in zip_longest(rows, below, fillvalue=""):
        cells = [wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
        yield from aligned_rows(zip_longest(*cells, fillvalue=""), widths, right, gap)
        yield from _text_below(text, width)


def _widths(
    rows: Sequence[Sequence[str]], width: int | None, gap: int
) -> list[int] | None:
    """Return the widths of the columns of a table, None if they have no room."""
    natural = natural_widths(rows)
    room = sum(natural) if width is None else width - gap * (len(natural) - 1)
    if sum(natural) <= room:
        return natural
    widths = [max(map(_longest_word, column)) for column in zip(*rows, strict=True)]
    room -= sum(widths)
    if room < 0:
        return None
    # What is left is shared out evenly.
    while wanting := [at for at, size in enumerate(widths) if natural[at] > size]:
        for at in sorted(wanting, key=lambda at: widths[at])[:room]:
            widths[at] += 1
        room -= len(wanting)
        if room <= 0:
            break
    return widths


def _longest_word(cell: str) -> int:
    """Return the columns of the longest word of a cell."""
    return max(map(shown_columns, cell.split()), default=0)


def _text_below(text: str, width: int | None) -> list[str]:
    """Return the lines of a text below a row, which may have several paragraphs."""
    lines = text.split("\n") if text else []
    if width is None:
        return lines
    return [part for line in lines for part in wrapped(line, width, " " * 4)]


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


#: Columns of a table of statistics, in any terminal.
WIDTH = 80
#: Columns of the first cells of a table that are more than a name on their own.
_LEAST = 8


def close_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table in at most `WIDTH` columns if possible.

    Where it is wider, columns stand nearer, and a first cell that is too wide has a
    line of its own. There is no line of names if all of them are empty.
    """
    rows: list[list[str]] = [
        [number_of(cell, table.none).text for cell in row] for row in table.rows
    ]
    if any(table.names):
        rows.insert(0, table.names)
    widths = natural_widths(rows)
    gap = 2 if sum(widths) + 2 * len(widths) - 2 <= WIDTH else 1
    room = WIDTH - sum(widths[1:]) - gap * (len(widths) - 1)
    if widths[0] > room >= _LEAST:
        widths[0] = room
        rows = [part for row in rows for part in _apart(row, room)]
    is_right = [column.is_number for column in table.headings]
    return aligned_rows(rows, widths, is_right, gap)


def _apart(row: list[str], room: int) -> list[list[str]]:
    """Return a row, or two if its first cell is wider than `room`."""
    first, *others = row
    if columns(first) <= room:
        return [row]
    return [[first, *("" for _ in others)], ["", *others]]


#: The end of an ANSI style, and any of its codes.
_RESET = "\x1b[0m"
_STYLES = re.compile(r"\x1b\[[0-9]*m")


def listed_lines(
    table: Table,
    below: Sequence[Sequence[str]] = (),
    *,
    notes_in: int = 0,
    width: int | None = None,
    has_colors: bool = False,
) -> Iterator[str]:
    """Yield the lines of a table of texts, in which a single cell is a heading.

    `below` has further lines for each row. In a terminal of `width` columns the table
    begins with the names of its columns, and further lines are in its column
    `notes_in`, or below the row if the columns have no room side by side. Names
    and headings are bold, and further lines are dim, if it `has_colors`.
    """
    rows = [[safe(str(cell), CELL) for cell in row] for row in table.rows]
    notes = [
        [safe(note, CELL) for note in lines] for lines in below or [()] * len(rows)
    ]
    if width is None:
        return _aligned_lines(rows, notes)
    bold, dim = ("1", "2") if has_colors else ("", "")
    count = len(table.headings)
    head = _painted(table.names, count, bold)
    empty = [""] * (count - 1)
    plain, aligned, under = [], [], []
    for row, lines in zip(rows, notes, strict=True):
        plain.append(_painted(row, count, bold if len(row) == 1 else ""))
        shown = _painted(lines, len(lines), dim)
        aligned.append(plain[-1])
        aligned += [[*empty[:notes_in], note, *empty[notes_in:]] for note in shown]
        under.append("\n".join(f"  {note}" for note in shown))
    if fits(head, aligned, width):
        return _closed(table_lines(head, aligned, width))
    return _closed(table_lines(head, plain, width, below=under))


def _aligned_lines(
    rows: Sequence[Sequence[str]], notes: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Yield the lines of a table whose columns are as wide as their longest cells."""
    widths = natural_widths([row for row in rows if len(row) > 1])
    for row, lines in zip(rows, notes, strict=True):
        is_heading = len(row) == 1
        yield from (
            row if is_heading else aligned_rows([row], widths, [False] * len(row))
        )
        yield from (f"  {note}" for note in lines)


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
