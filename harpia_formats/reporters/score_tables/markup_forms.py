"""Tables of scores in LaTeX, and in the Markdown of GitHub and GitLab."""

import re
from collections.abc import Iterator

from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import LATEX, MARKDOWN, latex_columns
from harpia_formats.reporters.markdown_text import code, head
from harpia_formats.reporters.score_tables.published import tables_of
from harpia_formats.reporters.score_tables.score_table import (
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
_markdown_special = re.compile(r"[\\`*_{}\[\]|~!$]")
_entities = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
#: Characters of a text that are shown, and of a signature.
_MOST, _LONG = 200, 2_000
_MARKDOWN_ARROWS = {
    Better.HIGHER: " \u2191",
    Better.LOWER: " \u2193",
    Better.UNKNOWN: "",
}


def markdown_lines(result: Result, *, csv_safe: bool) -> Iterator[str]:  # noqa: ARG001 - the same for each form
    """Yield the lines of the tables of a result, each with its notes."""
    for at, table in enumerate(tables_of(result)):
        yield from [""] * bool(at)
        yield from head_lines(table)
        yield from row_lines(table)
        yield ""
        yield from note_lines(table)


def head_lines(table: ScoreTable) -> list[str]:
    """Return the first two lines of a table."""
    names = [_markdown_heading(heading) for heading in table.headings]
    pairs = zip(table.headings, names, strict=True)
    return head(names, [name for heading, name in pairs if heading.is_number])


def row_lines(table: ScoreTable) -> Iterator[str]:
    """Yield a line for each row."""
    for cells in table.rows:
        yield MARKDOWN.line(map(_markdown_cell, cells))


def note_lines(table: ScoreTable) -> Iterator[str]:
    """Yield a line for each note."""
    for note in table.notes:
        yield f"- {_markdown_note(note)}"


def _text(text: str, limit: int = _MOST) -> str:
    """Return text that is shown as it is: words that consumers would link as code."""
    words = _spaces.split(safe(text, limit))
    return "".join(
        code(word, limit)
        if _linked.search(word)
        else _markdown_special.sub(r"\\\g<0>", word.translate(_entities))
        for word in words
    )


def _technical(text: str) -> str:
    """Return a text such as a signature as code, outside of a table."""
    shown = safe(text, _LONG)
    return code(text, _LONG) if "`" in shown else f"`{shown}`"


def _markdown_heading(heading: Heading) -> str:
    return f"{_text(heading.name)}{_MARKDOWN_ARROWS[heading.better]}"


def _markdown_cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return _text(cell)
    return " ".join(filter(None, (_markdown_number(cell), cell.rest, _text(cell.mark))))


def _markdown_number(cell: Number) -> str:
    text = cell.text.translate(_entities)
    return f"**{text}**" if cell.is_bold else text


def _markdown_note(note: Note) -> str:
    mark = f"{_text(note.mark)} " if note.mark else ""
    text = f"{mark}{_text(note.text, _LONG)}"
    return f"{text}: {_technical(note.code)}" if note.code else text


_LATEX_ARROWS = {
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
_latex_special = re.compile(f"[{re.escape(''.join(_ESCAPES))}]")
#: Hyphens that make no dash may stay as they are.
_lone_hyphen = re.compile(r"(?<!-)-(?!-)")
#: Signs in numbers, which are set as mathematics; a dash stands for no number.
_signs = str.maketrans(
    {"-": "$-$", "+": "$+$", "<": "$<$", "\u2264": r"$\leq$", "\u2013": "--"}
)
_MARKS = {"*": "*", "\u2020": r"\dagger"}
#: Signatures have no spaces: lines may break behind these.
_BREAK = re.compile(r"(\\textbar\{\}|:|,)")
_LATEX_MOST, _LATEX_LONG = 200, 2_000
#: Rows of a table that a page holds with its notes.
_PAGE = 30


def latex_lines(result: Result, *, csv_safe: bool) -> Iterator[str]:  # noqa: ARG001 - the same for each form
    """Yield the lines of the tables of a result, each with its notes."""
    for at, table in enumerate(tables_of(result)):
        yield from [""] * bool(at)
        yield from _table_lines(table)


def _table_lines(table: ScoreTable) -> Iterator[str]:
    """Yield the lines of a table with its notes, as a float if a page holds it."""
    caption = rf"\caption{{{latex_text(table.caption)}}}"
    kinds = latex_columns([heading.is_number for heading in table.headings])
    head = [r"\toprule", LATEX.line(map(_latex_heading, table.headings)), r"\midrule"]
    if len(table.rows) <= _PAGE:
        yield r"% \usepackage{booktabs}"
        yield from [r"\begin{table}", r"\centering", caption]
        yield rf"\begin{{tabular}}{{{kinds}}}"
        yield from [*head, *_rows(table), r"\bottomrule", r"\end{tabular}"]
        if table.notes:
            yield r"\par\medskip"
            yield r"\begin{minipage}{\linewidth}\footnotesize\raggedright"
            yield from (rf"{_latex_note(note)}\par" for note in table.notes)
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
        yield from (rf"\noindent {_latex_note(note)}\par" for note in table.notes)
        yield "}"


def _rows(table: ScoreTable) -> Iterator[str]:
    for at, cells in enumerate(table.rows):
        yield LATEX.line(map(_latex_cell, cells))
        if at in table.breaks:
            yield r"\midrule"


def latex_text(text: str, limit: int = _LATEX_MOST) -> str:
    """Return text of data that LaTeX shows as it is, in one line."""
    shown = _lone_hyphen.sub("\0", safe(text, limit))
    return _latex_special.sub(lambda found: _ESCAPES[found[0]], shown).replace(
        "\0", "-"
    )


def _latex_heading(heading: Heading) -> str:
    return f"{latex_text(heading.name)}{_LATEX_ARROWS[heading.better]}"


def _latex_cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return latex_text(cell)
    number = _latex_number(cell.text)
    number = rf"\textbf{{{number}}}" if cell.is_bold else number
    return " ".join(filter(None, (number, _latex_number(cell.rest)))) + _mark(cell.mark)


def _latex_number(text: str) -> str:
    """Return a number of ours with the signs of mathematics."""
    return text.translate(_signs)


def _mark(mark: str) -> str:
    """Return a mark, whose characters are equal, behind or before a text."""
    return f"$^{{{_MARKS[mark[0]] * len(mark)}}}$" if mark[:1] in _MARKS else ""


def _latex_note(note: Note) -> str:
    mark = _mark(note.mark) or (_latex_number(note.mark) if note.mark else "")
    text = f"{mark} {latex_text(note.text, _LATEX_LONG)}".lstrip()
    if not note.code:
        return text
    technical = _BREAK.sub(r"\1\\allowbreak{}", latex_text(note.code, _LATEX_LONG))
    return rf"{text}: \texttt{{{technical}}}"
