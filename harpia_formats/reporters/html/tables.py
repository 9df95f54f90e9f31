"""Tables of HTML reports, as many rows as there is room for."""

from collections.abc import Collection, Iterable, Sequence

from markupsafe import Markup, escape

from harpia_formats.model.text.sanitize import safe
from harpia_formats.reporters.html.environment import macro
from harpia_formats.reporters.html.room import Room

#: Bytes of a table, of a list of sentences, and of all charts of a section.
_ROOM, _SENTENCES, _CHARTS = 80_000, 30_000, 80_000
#: Cells that say nothing.
_NOTHING = frozenset({"", "0", "none"})
#: Code points of a cell.
_CELL = 300
#: Code points of a cell that may be narrow.
_SHORT = 20


def table(
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Collection[str] = (),
    *,
    optional: Collection[str] = (),
) -> Markup:
    """Return a table, and how many rows it has no room for.

    `name` tells screen readers what it is. The columns in `numbers` are aligned on the
    right, and those in `optional` are left out if all of their cells say nothing. Cells
    are shortened unless they are markup.
    """
    rows = list(rows)
    empty = {
        at
        for at, column in enumerate(columns)
        if column in optional and all(row[at] in _NOTHING for row in rows)
    }
    columns = _without(columns, empty)
    left, one_row = Room(_ROOM), macro("tables.html", "row")
    kept = left.kept(
        (_without(row, empty) for row in rows),
        lambda row: one_row(
            [
                (_cell(cell), _look(cell, column, numbers))
                for cell, column in zip(row, columns, strict=True)
            ]
        ),
    )
    found: Markup = macro("tables.html", "table")(name, columns, kept, numbers)
    if left.cut:
        said = f"This page has no room for {left.cut:,} more rows."
        found += macro("tables.html", "soft")(said)
    return found


def _without(cells: Sequence[str], places: Collection[int]) -> list[str]:
    return [cell for at, cell in enumerate(cells) if at not in places]


def _look(cell: str, column: str, numbers: Collection[str]) -> str:
    """Return the class of a cell, "" if it has none."""
    if column in numbers:
        return "number"
    text = cell.striptags() if isinstance(cell, Markup) else cell
    return "long" if len(text) > _SHORT else ""


def _cell(value: str) -> str:
    return value if isinstance(value, Markup) else safe(value, _CELL)


def code(text: str, limit: int = _CELL) -> Markup:
    """Return a name or a place as code."""
    found: Markup = macro("tables.html", "code")(safe(text, limit))
    return found


def sentence(text: str) -> Markup:
    """Return a paragraph."""
    found: Markup = macro("tables.html", "sentence")(text)
    return found


def sentences(texts: Iterable[str]) -> Markup:
    """Return a list of sentences, each once, "" if there is none.

    It says how many it has no room for.
    """
    room = Room(_SENTENCES)
    kept = room.kept((text for text in dict.fromkeys(texts) if text), _escaped)
    found: Markup = macro("tables.html", "sentences")(kept) if kept else Markup("")
    if room.cut:
        found += macro("tables.html", "soft")(f"and {room.cut:,} more")
    return found


def _escaped(text: str) -> Markup:
    return escape(safe(text, 1000))


def charts(drawn: Iterable[str]) -> list[Markup]:
    """Return charts, which escape what they show, as far as there is room for them."""
    room = Room(_CHARTS)
    kept = room.kept(drawn, Markup)
    if room.cut:
        said = f"This page has no room for {room.cut:,} more charts."
        kept.append(macro("tables.html", "soft")(said))
    return kept
