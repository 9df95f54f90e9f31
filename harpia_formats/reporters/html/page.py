"""An HTML page of the result of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from markupsafe import Markup

from harpia_formats._version import __version__
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.reporters.html.environment import macro, render
from harpia_formats.reporters.reporter import Options

#: The module with the page of each type of result.
_PAGES = {
    "Report": "report_page",
    "ConversionReport": "conversion_page",
    "Scores": "scores_page",
    "ComparisonReport": "compared_page",
    "StoredReport": "compared_page",
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
            name = f"harpia_formats.reporters.html.{_PAGES[one.__name__]}"
            make: Callable[[Result], Page] = import_module(name).page
            page = make(result)
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
