"""Tables of numbers and long sentences, as lines of text."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from harpia_formats.text.columns import columns

#: Columns of a line, where no word is wider.
WIDTH = 80


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
    """Yield rows as lines of aligned columns; those not in `left` end at one place."""
    lefts = frozenset(left)
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - columns(cell))
            cells.append(cell + space if index in lefts else space + cell)
        yield "  ".join(cells).rstrip()
