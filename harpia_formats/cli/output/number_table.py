"""Tables of numbers and long sentences, as lines of text."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from harpia_formats.model.text.columns import columns
from harpia_formats.model.text.text_table import aligned_rows, natural_widths

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
    widths = natural_widths(rows)
    gap = 2 if sum(widths) + 2 * len(widths) - 2 <= WIDTH else 1
    room = WIDTH - sum(widths[1:]) - gap * (len(widths) - 1)
    if widths[0] > room >= _LEAST:
        widths[0] = room
        rows = [part for row in rows for part in _apart(row, room)]
    is_right = [index not in lefts for index in range(len(widths))]
    yield from aligned_rows(rows, widths, is_right, gap)


def _apart(row: Sequence[str], room: int) -> list[Sequence[str]]:
    """Return a row, or two if its first cell is wider than `room`."""
    first, *others = row
    if columns(first) <= room:
        return [row]
    return [[first, *("" for _ in others)], ["", *others]]
