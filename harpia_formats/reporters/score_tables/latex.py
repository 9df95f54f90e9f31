r"""Tables of scores in LaTeX, with the rules of the package booktabs.

A table that one page may not hold needs the package longtable, which breaks it.

The text compiles with any engine whose fonts have the characters of the data: pdflatex
for Latin scripts, lualatex or xelatex with a suitable font for others.
"""

import re
from collections.abc import Iterator

from harpia_formats.model.result import Result
from harpia_formats.model.text.sanitize import safe
from harpia_formats.model.text.text_table import LATEX, latex_columns
from harpia_formats.reporters.score_tables.shown import tables_of
from harpia_formats.reporters.score_tables.table import (
    Better,
    Cell,
    Heading,
    Note,
    ScoreTable,
)

_ARROWS = {
    Better.HIGHER: r" $\uparrow$",
    Better.LOWER: r" $\downarrow$",
    Better.UNKNOWN: "",
}
#: What means something in LaTeX. A bracket or star behind `\\` would be its argument,
#: two hyphens or quotes another character.
_ESCAPES = {
    **{character: f"\\{character}" for character in "&%_#{}$"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "'": r"{'}",
    '"': r'{"}',
    "-": r"{-}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
_special = re.compile(f"[{re.escape(''.join(_ESCAPES))}]")
#: Hyphens that make no dash may stay as they are.
_lone_hyphen = re.compile(r"(?<!-)-(?!-)")
#: Signs in numbers, which are set as mathematics; a dash stands for no number.
_signs = str.maketrans(
    {"-": "$-$", "+": "$+$", "<": "$<$", "\u2264": r"$\leq$", "\u2013": "--"}
)
_MARKS = {"*": "*", "\u2020": r"\dagger"}
#: Signatures have no spaces: lines may break behind these.
_BREAK = re.compile(r"(\\textbar\{\}|:|,)")
_MOST, _LONG = 200, 2_000
#: Rows of a table that a page holds with its notes.
_PAGE = 30


def lines(result: Result, *, csv_safe: bool) -> Iterator[str]:  # noqa: ARG001 - the same for each form
    """Yield the lines of the tables of a result, each with its notes."""
    for at, table in enumerate(tables_of(result)):
        yield from [""] * bool(at)
        yield from _table_lines(table)


def _table_lines(table: ScoreTable) -> Iterator[str]:
    """Yield the lines of a table with its notes, as a float if a page holds it."""
    caption = rf"\caption{{{latex_text(table.caption)}}}"
    kinds = latex_columns([heading.is_number for heading in table.headings])
    head = [r"\toprule", LATEX.line(map(_heading, table.headings)), r"\midrule"]
    if len(table.rows) <= _PAGE:
        yield r"% \usepackage{booktabs}"
        yield from [r"\begin{table}", r"\centering", caption]
        yield rf"\begin{{tabular}}{{{kinds}}}"
        yield from [*head, *_rows(table), r"\bottomrule", r"\end{tabular}"]
        if table.notes:
            yield r"\par\medskip"
            yield r"\begin{minipage}{\linewidth}\footnotesize\raggedright"
            yield from (rf"{_note(note)}\par" for note in table.notes)
            yield r"\end{minipage}"
        yield r"\end{table}"
        return
    yield r"% \usepackage{booktabs,longtable}"
    yield rf"\begin{{longtable}}{{{kinds}}}"
    yield rf"{caption} \\"
    yield from [*head, r"\endfirsthead", *head, r"\endhead"]
    yield from [r"\bottomrule", r"\endfoot", *_rows(table), r"\end{longtable}"]
    if table.notes:
        yield r"{\footnotesize\raggedright"
        yield from (rf"\noindent {_note(note)}\par" for note in table.notes)
        yield "}"


def _rows(table: ScoreTable) -> Iterator[str]:
    for at, cells in enumerate(table.rows):
        yield LATEX.line(map(_cell, cells))
        if at in table.breaks:
            yield r"\midrule"


def latex_text(text: str, limit: int = _MOST) -> str:
    """Return text of data that LaTeX shows as it is, in one line."""
    shown = _lone_hyphen.sub("\0", safe(text, limit))
    return _special.sub(lambda found: _ESCAPES[found[0]], shown).replace("\0", "-")


def _heading(heading: Heading) -> str:
    return f"{latex_text(heading.name)}{_ARROWS[heading.better]}"


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return latex_text(cell)
    number = _number(cell.text)
    number = rf"\textbf{{{number}}}" if cell.is_bold else number
    return " ".join(filter(None, (number, _number(cell.rest)))) + _mark(cell.mark)


def _number(text: str) -> str:
    """Return a number of ours with the signs of mathematics."""
    return text.translate(_signs)


def _mark(mark: str) -> str:
    """Return a mark, whose characters are equal, behind or before a text."""
    return f"$^{{{_MARKS[mark[0]] * len(mark)}}}$" if mark[:1] in _MARKS else ""


def _note(note: Note) -> str:
    mark = _mark(note.mark) or (_number(note.mark) if note.mark else "")
    text = f"{mark} {latex_text(note.text, _LONG)}".lstrip()
    if not note.code:
        return text
    technical = _BREAK.sub(r"\1\\allowbreak{}", latex_text(note.code, _LONG))
    return rf"{text}: \texttt{{{technical}}}"
