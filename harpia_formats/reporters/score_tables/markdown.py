"""Tables of scores in the Markdown of GitHub and GitLab."""

import re
from collections.abc import Iterator

from harpia_formats.model.result import Result
from harpia_formats.model.text.sanitize import safe
from harpia_formats.model.text.text_table import MARKDOWN
from harpia_formats.reporters.markdown_text import code, head
from harpia_formats.reporters.score_tables.shown import tables_of
from harpia_formats.reporters.score_tables.table import (
    Better,
    Cell,
    Heading,
    Note,
    Number,
    ScoreTable,
)

#: What consumers make a link, a mention or a picture of, even if it is escaped.
#: `pass@1` is none: mentions begin a word, and addresses have a dot.
_linked = re.compile(
    r"(?<!\w)@|@[\w-]*\.|#\d|://|www\.|\bGH-\d|:[\w+-]+:", re.IGNORECASE
)
_spaces = re.compile("( +)")
#: What means something in Markdown. All else stays, so that people can edit the table.
_special = re.compile(r"[\\`*_{}\[\]|~!$]")
_entities = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
#: Characters of a text that are shown, and of a signature.
_MOST, _LONG = 200, 2_000
_ARROWS = {Better.HIGHER: " \u2191", Better.LOWER: " \u2193", Better.UNKNOWN: ""}


def lines(result: Result, *, csv_safe: bool) -> Iterator[str]:  # noqa: ARG001 - the same for each form
    """Yield the lines of the tables of a result, each with its notes."""
    for at, table in enumerate(tables_of(result)):
        yield from [""] * bool(at)
        yield from head_lines(table)
        yield from row_lines(table)
        yield ""
        yield from note_lines(table)


def head_lines(table: ScoreTable) -> list[str]:
    """Return the first two lines of a table."""
    names = [_heading(heading) for heading in table.headings]
    pairs = zip(table.headings, names, strict=True)
    return head(names, [name for heading, name in pairs if heading.is_number])


def row_lines(table: ScoreTable) -> Iterator[str]:
    """Yield a line for each row."""
    for cells in table.rows:
        yield MARKDOWN.line(map(_cell, cells))


def note_lines(table: ScoreTable) -> Iterator[str]:
    """Yield a line for each note."""
    for note in table.notes:
        yield f"- {_note(note)}"


def _text(text: str, limit: int = _MOST) -> str:
    """Return text that is shown as it is: words that consumers would link as code."""
    words = _spaces.split(safe(text, limit))
    return "".join(
        code(word, limit)
        if _linked.search(word)
        else _special.sub(r"\\\g<0>", word.translate(_entities))
        for word in words
    )


def _technical(text: str) -> str:
    """Return a text such as a signature as code, outside of a table."""
    shown = safe(text, _LONG)
    return code(text, _LONG) if "`" in shown else f"`{shown}`"


def _heading(heading: Heading) -> str:
    return f"{_text(heading.name)}{_ARROWS[heading.better]}"


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return _text(cell)
    return " ".join(filter(None, (_number(cell), cell.rest, _text(cell.mark))))


def _number(cell: Number) -> str:
    text = cell.text.translate(_entities)
    return f"**{text}**" if cell.is_bold else text


def _note(note: Note) -> str:
    mark = f"{_text(note.mark)} " if note.mark else ""
    text = f"{mark}{_text(note.text, _LONG)}"
    return f"{text}: {_technical(note.code)}" if note.code else text
