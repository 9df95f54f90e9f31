"""An HTML page of the result of a run: its templates, its tables and its size."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, TypeVar

from markupsafe import Markup, escape

from harpia_formats._version import __version__
from harpia_formats.evaluation.plots import STYLE, bar
from harpia_formats.model.bins import Bin
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import escaped, safe
from harpia_formats.reporters.reporter import Options
from harpia_formats.reporters.tables.table import (
    Cell,
    Heading,
    Table,
    number_of,
    table_of,
)

Item = TypeVar("Item")


class Room:
    """A number of bytes that rendered pieces share; what does not fit is counted."""

    def __init__(self, size: int) -> None:
        self.left = size
        #: Pieces that did not fit.
        self.cut = 0

    def takes(self, piece: str) -> bool:
        """Take the bytes of a piece if that many are left; tell whether they were."""
        size = len(piece.encode())
        if size > self.left:
            self.cut += 1
            return False
        self.left -= size
        return True

    def kept(
        self, items: Iterable[Item], render: Callable[[Item], Markup]
    ) -> list[Markup]:
        """Return the first items that fit, rendered; count all behind them."""
        found = []
        for item in items:
            if self.cut:
                self.cut += 1
                continue
            piece = render(item)
            if self.takes(piece):
                found.append(piece)
        return found


try:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup
except ImportError as error:  # pragma: no cover - the extra is installed in the tests
    raise HarpiaFormatsError(
        "an HTML report needs jinja2: pip install 'harpia-formats[report]'"
    ) from error


def _text_of(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text("utf-8")


def _visible(value: Any) -> Any:
    """Return text with control and bidirectional characters as escapes."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return escaped(value)
    return value


def _source_of(text: str) -> str:
    """Return the source by which a content security policy allows an inline text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def drawn_bar(share: float, kind: str = "mark") -> Markup:
    """Return a bar over a share of its cell."""
    return Markup(bar(share, kind))  # noqa: S704 - our own text


@cache
def environment() -> Environment:
    """Return the environment of the templates, which escapes every value."""
    found = Environment(
        loader=FunctionLoader(_text_of),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(count="{:,}".format, bar=drawn_bar)
    style, script = STYLE + _text_of("style.css"), _text_of("script.js")
    found.globals.update(
        style=Markup(style),  # noqa: S704 - our own text
        script=Markup(script),  # noqa: S704 - our own text
        policy=(
            f"default-src 'none'; style-src {_source_of(style)}; "
            f"script-src {_source_of(script)}; base-uri 'none'; form-action 'none'"
        ),
    )
    return found


def render(template: str, **values: Any) -> Markup:
    """Return a template with its values, all of which are escaped."""
    return Markup(environment().get_template(template).render(values))  # noqa: S704 - autoescape


def macro(template: str, name: str) -> Any:
    """Return a macro of a template: a function that returns markup."""
    return getattr(environment().get_template(template).module, name)


#: Bytes of a table, and of a list of sentences.
_ROOM, _SENTENCES = 80_000, 30_000
#: Cells that say nothing.
_NOTHING = frozenset({"", "0", "none"})
#: Code points of a cell.
_CELL = 300
#: Code points of a cell that may be narrow.
_SHORT = 20


def table(found: Table, caption: str = "", room: Room | None = None) -> Markup:
    """Return a table, and how many rows it has no room for.

    Its title tells screen readers what it is. Optional columns are left out if all of
    their cells say nothing. Texts are shortened unless they are markup. `caption` is a
    title above it, and `room` is shared with other tables.
    """
    kept = [
        (at, heading)
        for at, heading in enumerate(found.headings)
        if not (
            heading.is_optional
            and all(_shown(row[at], found.none) in _NOTHING for row in found.rows)
        )
    ]
    left, one_row = room or Room(_ROOM), macro("tables.html", "row")
    cut = left.cut
    rows = left.kept(
        found.rows,
        lambda row: one_row(
            [_cell(row[at], heading, found.none) for at, heading in kept]
        ),
    )
    names = [
        (heading.with_arrow(safe(heading.full_name), "\u00a0"), heading.is_number)
        for _, heading in kept
    ]
    drawn: Markup = macro("tables.html", "table")(found.title, names, rows, caption)
    if left.cut > cut:
        remark = f"This page has no room for {left.cut - cut:,} more rows."
        drawn += macro("tables.html", "soft")(remark)
    return drawn


def _cell(cell: Cell, heading: Heading, none: str) -> tuple[str, str]:
    """Return a cell as text or markup, and its class, "" if it has none."""
    shown = _shown(cell, none)
    if heading.is_number:
        return shown, "number"
    text = cell.striptags() if isinstance(cell, Markup) else str(cell)
    return shown, "long" if len(text) > _SHORT else ""


def _shown(cell: Cell, none: str) -> str:
    """Return a cell as text or markup; a number may be broken before its interval."""
    if isinstance(cell, str):
        return cell if isinstance(cell, Markup) else safe(cell, _CELL)
    one = number_of(cell, none)
    number = Markup("<strong>{}</strong>") if one.is_bold else Markup("{}")
    parts = [number.format(one.text), escape(one.rest.replace(", ", ",\u00a0"))]
    return Markup(" ").join([*filter(None, parts)]) + escape(one.mark)


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


def bar_cell(count: int, most: int, kind: str = "mark") -> Markup:
    """Return a cell with a count above its bar, which is full if there is no more."""
    return Markup("{:,}{}").format(count, drawn_bar(count / (most or 1), kind))


#: Rows of a table of bars.
_BARS = 20


def bars(
    title: str,
    head: tuple[str, str],
    rows: Sequence[tuple[str, int, str]],
    shown: int = _BARS,
) -> Markup:
    """Return labels with their counts as a table with bars; a single one is a sentence.

    `head` is what the labels are of, and what is counted; a row has the look of its
    bar behind its count.
    """
    if len(rows) < 2:  # noqa: PLR2004 - a single bar would show nothing
        counts = [f"{label}: {count:,} {head[1]}" for label, count, _ in rows]
        return sentence(f"{title}: {''.join(counts) or 'nothing'}")
    most = max(count for _, count, _ in rows)
    cells = [(name, bar_cell(count, most, kind)) for name, count, kind in rows[:shown]]
    found = table(table_of(title, head, cells, head[1:]), title)
    if len(rows) > shown:
        found += macro("tables.html", "soft")(f"and {len(rows) - shown:,} more")
    return found


def histogram(title: str, bins: Sequence[Bin], unit: str, noun: str) -> Markup:
    """Return bins of integers as a table with bars, joined where there are many."""
    step = -(-len(bins) // _BARS) or 1
    joined = [bins[at : at + step] for at in range(0, len(bins), step)]
    rows = []
    for parts in joined:
        low, high = parts[0].low, parts[-1].high - 1
        label = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        rows.append((label, sum(one.count for one in parts), "mark"))
    return bars(title, (unit, noun), rows)


#: The module of the page of each type of result, and its function unless it is `page`.
_PAGES = {
    "Report": "report_page",
    "ConversionReport": "conversion_page",
    "Scores": "scores_page",
    "ComparisonReport": "compared_page",
    "BenchmarkScores": "compared_page:benchmarks_page",
    "DifferenceReport": "differences_page",
    "Statistics": "statistics_page",
}
#: Characters of the command line that are shown; it can name many files.
_COMMAND = 400


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page: a whole section element with its id and its heading."""

    id: str
    title: str
    body: Markup


@dataclass(slots=True)
class Page:
    """What a page shows."""

    #: What kind of result it is.
    kind: str
    #: The result in one line, which is the heading of the page.
    verdict: str
    ok: bool
    #: Counts with their names.
    cards: list[tuple[str, str]] = field(default_factory=list)
    #: What could not be done, such as files that could not be read.
    alerts: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _About:
    """What made the page."""

    version: str
    command: str


def writes(result_type: type[Result]) -> bool:
    """Tell whether there is a page for results of a type."""
    return any(one.__name__ in _PAGES for one in result_type.__mro__)


def page_of(result: Result, options: Options) -> str:
    """Return an HTML page of a result; raises `TypeError` if there is none of its type.

    Equal results give equal pages: it has no time, and no path that is not in them.
    """
    for one in type(result).__mro__:
        if one.__name__ in _PAGES:
            module, _, function = _PAGES[one.__name__].partition(":")
            pages = import_module(f"harpia_formats.reporters.html.{module}")
            page: Page = getattr(pages, function or "page")(result)
            warnings = result.warnings if isinstance(result, Report) else 0
            page.ok &= not (warnings and options.error_on_warning)
            about = _About(__version__, _short(options.command))
            return str(render("page.html", page=page, about=about))
    raise TypeError(f"there is no HTML page of a {type(result).__name__}")


def _short(command: str) -> str:
    return command if len(command) <= _COMMAND else f"{command[:_COMMAND]}…"


def section(name: str, title: str, parts: Sequence[Markup]) -> Section:
    """Return a section with an id and a title, and the parts below its heading."""
    body = macro("tables.html", "section")(name, title, parts)
    return Section(name, title, body)
