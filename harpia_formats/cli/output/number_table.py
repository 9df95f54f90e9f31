"""Tables of numbers and long sentences, as lines of text."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from harpia_formats.model.text.columns import columns

#: Columns of a line, where no word is wider.
WIDTH = 80
#: Columns of the first cells of a table that are more than a name on their own.
_LEAST = 8


def wrapped(text: str) -> list[str]:
    """Return a sentence in lines, the later ones with an indent."""
    start = " " * (len(text) - len(text.lstrip()) + 2)
    return wrap(
        text,
        WIDTH,
        subsequent_indent=start,
        break_long_words=False,
        break_on_hyphens=False,
    )


def number_table(
    rows: Sequence[Sequence[str]], left: Iterable[int] = (0,)
) -> Iterator[str]:
    """Yield rows as lines of aligned columns; those not in `left` end at one place.

    In a table that is wider than `WIDTH` columns stand nearer, and a first cell that is
    too wide has a line of its own.
    """
    lefts = frozenset(left)
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    gap = "  " if sum(widths) + 2 * len(widths) - 2 <= WIDTH else " "
    room = WIDTH - sum(widths[1:]) - len(gap) * (len(widths) - 1)
    if widths[0] > room >= _LEAST:
        widths[0] = room
        rows = [part for row in rows for part in _apart(row, room)]
    for row in rows:
        cells = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * max(0, width - columns(cell))
            cells.append(cell + space if index in lefts else space + cell)
        yield gap.join(cells).rstrip()


def _apart(row: Sequence[str], room: int) -> list[Sequence[str]]:
    """Return a row, or two if its first cell is wider than `room`."""
    first, *others = row
    if columns(first) <= room:
        return [row]
    return [[first, *("" for _ in others)], ["", *others]]
