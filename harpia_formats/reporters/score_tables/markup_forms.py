"""Tables of scores in LaTeX, and in the Markdown of GitHub and GitLab."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from harpia_formats.evaluation.scoring.best_scores import Better
from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import LATEX, MARKDOWN, latex_columns
from harpia_formats.reporters.markdown_text import code, head
from harpia_formats.reporters.score_tables.published import tables_of
from harpia_formats.reporters.score_tables.score_table import (
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
    return f"{_text(heading.full_name)}{_MARKDOWN_ARROWS[heading.better]}"


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
#: The same in the names of systems.
_NAME_BREAK = re.compile(r"(-|/|\.|\\_)")
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
    layout = _layout_of(table)
    names = LATEX.line(map(_latex_heading, table.headings))
    head = [r"\toprule", names, r"\midrule"]
    if len(table.rows) * layout.lines <= _PAGE:
        yield r"% \usepackage{booktabs}"
        yield from [r"\begin{table}", r"\centering", caption, *layout.before]
        yield rf"\begin{{tabular}}{{{layout.columns}}}"
        yield from [*head, *_rows(table, layout), r"\bottomrule", r"\end{tabular}"]
        if table.notes:
            yield r"\par\medskip"
            yield r"\begin{minipage}{\linewidth}\footnotesize\raggedright"
            yield from (rf"{_latex_note(note)}\par" for note in table.notes)
            yield r"\end{minipage}"
        yield r"\end{table}"
        return
    yield r"% \usepackage{booktabs,longtable}"
    yield from ["{", *layout.before]
    yield rf"\begin{{longtable}}{{{layout.columns}}}"
    yield rf"{caption} \\"
    yield from [*head, r"\endfirsthead", *head, r"\endhead"]
    yield from [r"\bottomrule", r"\endfoot", *_rows(table, layout)]
    yield from [r"\end{longtable}", "}"]
    if table.notes:
        yield r"{\footnotesize\raggedright"
        yield from (rf"\noindent {_latex_note(note)}\par" for note in table.notes)
        yield "}"


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a table has room on a page: its columns, and where intervals stand."""

    columns: str
    #: The width of the first column in millimetres, 0 for that of its longest text.
    name_width: float = 0
    #: Lines before the table.
    before: tuple[str, ...] = ()
    #: Whether intervals stand below numbers, and not behind them.
    is_stacked: bool = False

    @property
    def lines(self) -> int:
        """The lines of a row."""
        return 2 if self.is_stacked else 1


#: The width of a page and the least one of a column of names, in millimetres.
_WIDTH, _NAME = 160.0, 22.0
#: Millimetres between two columns, and of a table that is set closely.
_GAP, _CLOSE = 4.2, 1.4
#: Millimetres of a character on average: usual, in footnotes, and in scripts.
_USUAL, _FOOTNOTE, _SCRIPT = 1.85, 1.5, 1.25


def _layout_of(table: ScoreTable) -> _Layout:
    """Return how a table has room on a page, by about how wide its texts are.

    The names in a first column that is too wide are broken into lines.
    """
    kinds = latex_columns([heading.is_number for heading in table.headings])
    columns = [
        [_heading_width(heading), *(row[at] for row in table.rows)]
        for at, heading in enumerate(table.headings)
    ]
    beside = [max(map(_characters, column)) * _USUAL for column in columns]
    if sum(beside) + _GAP * len(columns) <= _WIDTH:
        return _Layout(kinds)
    below = [max(map(_stacked, column)) for column in columns[1:]]
    room = _WIDTH - sum(below) - _CLOSE * (len(columns) + 1)
    names = max(map(_characters, columns[0])) * _FOOTNOTE
    return _Layout(
        kinds,
        max(room, _NAME) if names > room else 0,
        (r"\footnotesize", rf"\setlength{{\tabcolsep}}{{{_CLOSE / 2}mm}}"),
        is_stacked=True,
    )


def _heading_width(heading: Heading) -> str:
    """Return the longest line of a heading."""
    return max(heading.group, f"{heading.name} ^", key=len)


def _characters(cell: Cell) -> float:
    """Return about how many characters wide a cell is in one line."""
    if isinstance(cell, str):
        return len(cell)
    return len(cell.text) + len(cell.rest) + bool(cell.rest) + len(cell.mark)


def _stacked(cell: Cell) -> float:
    """Return about how wide a cell is with its interval below it, in millimetres."""
    if isinstance(cell, str):
        return len(cell) * _FOOTNOTE
    number = (len(cell.text) + len(cell.mark)) * _FOOTNOTE
    return max(number, len(cell.rest) * _SCRIPT)


def _rows(table: ScoreTable, layout: _Layout) -> Iterator[str]:
    for at, cells in enumerate(table.rows):
        first, *others = cells
        if layout.is_stacked:
            others = [
                one if isinstance(one, str) else replace(one, rest="") for one in others
            ]
        name = _latex_cell(first)
        if layout.name_width:
            broken = _NAME_BREAK.sub(r"\1\\allowbreak{}", name)
            name = (
                rf"\parbox[t]{{{layout.name_width:.0f}mm}}"
                rf"{{\raggedright\strut {broken}\strut}}"
            )
        yield LATEX.line([name, *map(_latex_cell, others)])
        if layout.is_stacked:
            rests = ["" if isinstance(one, str) else one.rest for one in cells]
            if any(rests):
                yield LATEX.line(
                    rf"\scriptsize {_latex_number(rest)}" if rest else ""
                    for rest in rests
                )
        if at in table.breaks:
            yield r"\midrule"


def latex_text(text: str, limit: int = _LATEX_MOST) -> str:
    """Return text of data that LaTeX shows as it is, in one line."""
    shown = _lone_hyphen.sub("\0", safe(text, limit))
    return _latex_special.sub(lambda found: _ESCAPES[found[0]], shown).replace(
        "\0", "-"
    )


def _latex_heading(heading: Heading) -> str:
    name = f"{latex_text(heading.name)}{_LATEX_ARROWS[heading.better]}"
    if not heading.group:
        return name
    return rf"\shortstack[r]{{{latex_text(heading.group)}\\{name}}}"


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
