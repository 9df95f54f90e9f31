"""Tables of scores in LaTeX, and in the Markdown of GitHub and GitLab."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import (
    LATEX,
    MARKDOWN,
    latex_columns,
    markdown_head,
)
from harpia_formats.reporters.markdown_text import code
from harpia_formats.reporters.tables import tables_of
from harpia_formats.reporters.tables.table import (
    Cell,
    Note,
    Table,
    number_of,
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


def markdown_lines(result: Result, *, csv_safe: bool) -> Iterator[str]:  # noqa: ARG001 - the same for each form
    """Yield the lines of the tables of a result, each with its notes."""
    for at, table in enumerate(tables_of(result)):
        yield from [""] * bool(at)
        yield from head_lines(table)
        yield from row_lines(table)
        yield ""
        yield from note_lines(table)


def head_lines(table: Table) -> list[str]:
    """Return the first two lines of a table."""
    names = [one.with_arrow(_text(one.full_name)) for one in table.headings]
    return markdown_head(names, [column.is_number for column in table.headings])


def row_lines(table: Table) -> Iterator[str]:
    """Yield a line for each row."""
    for cells in table.rows:
        yield MARKDOWN.line(_markdown_cell(cell, table.none) for cell in cells)


def note_lines(table: Table) -> Iterator[str]:
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


def _markdown_cell(cell: Cell, none: str) -> str:
    if isinstance(cell, str):
        return _text(cell)
    one = number_of(cell, none)
    number = one.text.translate(_entities)
    number = f"**{number}**" if one.is_bold else number
    return " ".join(filter(None, (number, one.rest, _text(one.mark))))


def _markdown_note(note: Note) -> str:
    mark = f"{_text(note.mark)} " if note.mark else ""
    text = f"{mark}{_text(note.text, _LONG)}"
    return f"{text}: {_technical(note.code)}" if note.code else text


_LATEX_ARROWS = {"\u2191": r" $\uparrow$", "\u2193": r" $\downarrow$", "": ""}
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
_LINE_END = r"\\"
#: Words of a heading, and their ends, such as a point before a letter.
_words = re.compile(r"(?:[^\s_/.-]|\.(?![A-Za-z]))*(?:[\s_/-]|\.(?=[A-Za-z]))*")
_LATEX_MOST, _LATEX_LONG = 200, 2_000
#: Rows of a table that a page holds with its notes.
_PAGE = 30


def latex_lines(result: Result, *, csv_safe: bool) -> Iterator[str]:  # noqa: ARG001 - the same for each form
    """Yield the lines of the tables of a result, each with its notes."""
    for at, table in enumerate(tables_of(result)):
        yield from [""] * bool(at)
        rows = [[_cell(cell, table.none) for cell in row] for row in table.rows]
        for part, layout in _numbered(_parts(replace(table, rows=rows))):
            yield from _table_lines(part, layout)


def _cell(cell: Cell, none: str) -> Cell:
    """Return a cell with its number as text, which is asked for more than once."""
    return cell if isinstance(cell, str) else number_of(cell, none)


def _table_lines(table: Table, layout: "_CloseLayout | None") -> Iterator[str]:
    """Yield the lines of a table with its notes, as a float if a page holds it."""
    caption = rf"\caption{{{latex_text(table.title)}}}"
    kinds = latex_columns([column.is_number for column in table.headings])
    names = LATEX.line(_latex_headings(table, layout))
    head = [r"\toprule", names, r"\midrule"]
    before = [] if layout is None else [r"\footnotesize", layout.gap]
    if len(table.rows) * (1 if layout is None else 2) <= _PAGE:
        yield r"% \usepackage{booktabs}"
        yield from [r"\begin{table}", r"\centering", caption, *before]
        yield rf"\begin{{tabular}}{{{kinds}}}"
        yield from [*head, *_rows(table, layout), r"\bottomrule", r"\end{tabular}"]
        if table.notes:
            yield r"\par\medskip"
            yield r"\begin{minipage}{\linewidth}\footnotesize\raggedright"
            yield from (rf"{_latex_note(note)}\par" for note in table.notes)
            yield r"\end{minipage}"
        yield r"\end{table}"
        return
    yield r"% \usepackage{booktabs,longtable}"
    yield from ["{", *before]
    yield rf"\begin{{longtable}}{{{kinds}}}"
    yield rf"{caption} \\"
    yield from [*head, r"\endfirsthead", *head, r"\endhead"]
    yield from [r"\bottomrule", r"\endfoot", *_rows(table, layout)]
    yield from [r"\end{longtable}", "}"]
    if table.notes:
        yield r"{\footnotesize\raggedright"
        yield from (rf"\noindent {_latex_note(note)}\par" for note in table.notes)
        yield "}"


@dataclass(frozen=True, slots=True)
class _CloseLayout:
    """How a table that is too wide for a page is set: intervals below numbers."""

    #: The widths of the columns in millimetres.
    widths: Sequence[float]
    gap: str = rf"\setlength{{\tabcolsep}}{{{0.7}mm}}"


#: Millimetres of a page less what may be guessed wrong, and between two columns of a
#: table as LaTeX sets it and of one that is set closely.
_WIDTH, _GAP, _CLOSE = 156.0, 4.2, 1.4
#: The least width of a column of names, if it is not narrower by itself, while
#: headings are broken between words, within words of groups, and within names.
_LEAST = (25.0, 25.0, 14.0)
#: The least width of any column, and what sums of widths are rounded by at most.
_NARROWEST, _ROUNDING = 10.0, 0.01
#: Millimetres of a digit or letter: as text, in footnotes, and in scripts.
_TEXT_SIZE, _FOOTNOTE, _SCRIPT = 1.85, 1.55, 1.42
#: Characters that are half as wide, and those that are wider by a third.
_NARROW = frozenset(".,[]()ijl: ")
_WIDE = frozenset("ABCDEFGHKLMNOPQRSTUVWXYZmw_")
_leading_zero = re.compile(r"(?<!\d)0\.")


def _width(text: str, size: float) -> float:
    """Return about how wide a text is, in millimetres."""
    narrow = sum(one in _NARROW for one in text)
    return size * (len(text) - narrow / 2 + sum(one in _WIDE for one in text) / 3)


def _numbered(
    parts: Sequence[tuple[Table, _CloseLayout | None]],
) -> Iterator[tuple[Table, _CloseLayout | None]]:
    """Yield the parts of a table with numbers in their titles, the last one's notes."""
    for at, (part, layout) in enumerate(parts, 1):
        title = f"{part.title} ({at} of {len(parts)})" if len(parts) > 1 else part.title
        notes = part.notes if at == len(parts) else ()
        yield replace(part, title=title, notes=notes), layout


def _parts(table: Table) -> list[tuple[Table, _CloseLayout | None]]:
    """Return a table with its layout, or its halves if a page is too narrow for it."""
    if _is_narrow(table):
        return [(table, None)]
    for step in range(len(_LEAST)):
        widths = _close_widths(table, step)
        room, names = _room_for_names(table, widths)
        if sum(min(width, _LEAST[step]) for width in names) <= room:
            return [(table, _layout(table, widths))]
    numbers = [at for at, one in enumerate(table.headings) if one.is_number]
    if len(numbers) < 2:  # noqa: PLR2004 - no two halves
        return [(table, _layout(table, _close_widths(table, len(_LEAST))))]
    middle = (len(numbers) + 1) // 2
    return [
        part
        for left_out in (numbers[middle:], numbers[:middle])
        for part in _parts(_without(table, left_out))
    ]


def _without(table: Table, left_out: Sequence[int]) -> Table:
    """Return a table without some of its columns."""
    kept = [at for at in range(len(table.headings)) if at not in left_out]
    headings = tuple(table.headings[at] for at in kept)
    rows = [[row[at] for at in kept] for row in table.rows]
    return replace(table, headings=headings, rows=rows)


def _is_narrow(table: Table) -> bool:
    """Return whether a table has room on a page as it is."""
    columns = [
        max(_width(_in_one_line(cell), _TEXT_SIZE) for cell in column)
        for column in zip(*table.rows, strict=True)
    ]
    headings = [
        _width(max(one.group, f"{one.name} ^", key=len), _TEXT_SIZE)
        for one in table.headings
    ]
    widths = map(max, columns or headings, headings)
    return sum(widths) + _GAP * len(headings) <= _WIDTH


def _close_widths(table: Table, step: int) -> list[float]:
    """Return the widths of the columns of a close table, which depend on their cells.

    Words above them count in full in step 0, those of groups no longer in step 1, only
    parts of names in step 2, and none in step 3.
    """
    found = []
    for at, heading in enumerate(table.headings):
        words = _words.findall(heading.group) if step == 0 else []
        names = [heading.name] if step < 2 else _words.findall(heading.name)  # noqa: PLR2004 - a step
        lines = [*words, *(_with_arrow(name) for name in names)]
        least = max(_width(line, _FOOTNOTE) for line in lines)
        cells = [_stacked(row[at]) for row in table.rows]
        found.append(max([least if step < len(_LEAST) else _NARROWEST, *cells]))
    return found


def _with_arrow(name: str) -> str:
    """Return the name of a column as wide as it is with an arrow."""
    return f"{name} ^"


def _room_for_names(table: Table, widths: Sequence[float]) -> tuple[float, list[float]]:
    """Return the room that numbers leave for names, and the widths that these need."""
    pairs = list(zip(table.headings, widths, strict=True))
    numbers = sum(width for one, width in pairs if one.is_number)
    names = [width for one, width in pairs if not one.is_number]
    return _WIDTH - _CLOSE * (len(pairs) + 1) - numbers, names


def _layout(table: Table, widths: Sequence[float]) -> _CloseLayout:
    """Return the layout in which the widest names share the room that there is."""
    room, names = _room_for_names(table, widths)
    share = room
    for at, width in enumerate(sorted(names)):
        share = room / (len(names) - at)
        if width > share:
            break
        room -= width
    else:
        share = max(names, default=0)
    share = max(share, _NARROWEST)
    pairs = zip(table.headings, widths, strict=True)
    return _CloseLayout([w if one.is_number else min(w, share) for one, w in pairs])


def _in_one_line(cell: Cell) -> str:
    one = number_of(cell)
    return cell if isinstance(cell, str) else f"{one.text} {one.rest}{one.mark}"


def _stacked(cell: Cell) -> float:
    """Return about how wide a cell is with its interval below it, in millimetres."""
    if isinstance(cell, str):
        return _width(cell, _FOOTNOTE)
    one = number_of(cell)
    number = _width(f"{_closely(one.text)}{one.mark}", _FOOTNOTE)
    return max(number, _width(_closely(one.rest, is_rest=True), _SCRIPT))


def _closely(text: str, *, is_rest: bool = False) -> str:
    """Return a number without the 0 before its point, and limits without spaces."""
    found = _leading_zero.sub(".", text)
    return found.replace("+", "").replace(", ", ",") if is_rest else found


def _rows(table: Table, layout: _CloseLayout | None) -> Iterator[str]:
    for at, cells in enumerate(table.rows):
        if layout is None:
            yield LATEX.line(map(_latex_cell, cells))
        else:
            pairs = zip(cells, layout.widths, strict=True)
            yield LATEX.line(_close_cell(cell, width) for cell, width in pairs)
            yield r"\addlinespace"
        if at in table.breaks:
            yield r"\midrule"


def _close_cell(cell: Cell, width: float) -> str:
    """Return a cell of a close table: a name, or a number over its interval."""
    if isinstance(cell, str):
        name = r"\allowbreak{}".join(_breakable(cell, width))
        return rf"\parbox[t]{{{width:.1f}mm}}{{\raggedright {name}\strut}}"
    one = number_of(cell)
    number = _latex_cell(replace(one, text=_closely(one.text), rest=""))
    if not one.rest:
        return number
    rest = _closely(one.rest, is_rest=True).replace("-", "--")
    return (
        rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{number}\\"
        rf"{{\scriptsize {rest}}}\end{{tabular}}"
    )


def latex_text(text: str, limit: int = _LATEX_MOST) -> str:
    """Return text of data that LaTeX shows as it is, in one line."""
    shown = _lone_hyphen.sub("\0", safe(text, limit))
    return _latex_special.sub(lambda found: _ESCAPES[found[0]], shown).replace(
        "\0", "-"
    )


def _breakable(text: str, width: float) -> Iterator[str]:
    """Yield the parts of a text between which LaTeX may break it into lines.

    A word that is wider than a line may be broken behind each character.
    """
    for word in _words.findall(safe(text, _LATEX_MOST)):
        if _width(word, _FOOTNOTE) > width:
            yield from map(latex_text, word)
        elif word:
            yield latex_text(word)


def _latex_headings(table: Table, layout: _CloseLayout | None) -> Iterator[str]:
    widths = [_WIDTH] * len(table.headings) if layout is None else layout.widths
    for heading, width in zip(table.headings, widths, strict=True):
        groups = _broken(heading.group, width) if heading.group else []
        names = [heading.name]
        if layout is not None and _width(_with_arrow(heading.name), _FOOTNOTE) > width:
            room = width - _width(_with_arrow(""), _FOOTNOTE) + _ROUNDING
            names = _broken(heading.name, room)
        lines = list(map(latex_text, [*groups, *names]))
        lines[-1] += _LATEX_ARROWS[heading.arrow]
        side = "r" if heading.is_number else "l"
        stack = rf"\shortstack[{side}]{{{_LINE_END.join(lines)}}}"
        yield stack if len(lines) > 1 else lines[0]


def _broken(text: str, width: float) -> list[str]:
    """Return a text in lines of about so many millimetres.

    It is broken between words, and within a word that is wider.
    """
    lines = [""]
    for word in _words.findall(safe(text, _LATEX_MOST)):
        parts = word if _width(word.rstrip(), _FOOTNOTE) > width else [word]
        for part in parts:
            if lines[-1] and _width(lines[-1] + part.rstrip(), _FOOTNOTE) > width:
                lines.append("")
            lines[-1] += part
    return [line.rstrip() for line in lines]


def _latex_cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return latex_text(cell)
    one = number_of(cell)
    number = _latex_number(one.text)
    number = rf"\textbf{{{number}}}" if one.is_bold else number
    return " ".join(filter(None, (number, _latex_number(one.rest)))) + _mark(one.mark)


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
