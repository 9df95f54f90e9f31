"""All reporters, in one table by the name of their output format.

What comes in: a result. What goes out: text, JSON, HTML, or what a CI system reads. To
read in this order: `reporter` (what one is), `phrases` and `equal_findings` (what
several share), the modules in the table below, `tables` (what they show, by form),
`html` (pages), `report_file` (files).
"""

from collections.abc import Iterator, Mapping
from importlib import import_module

from harpia_formats.formats import extensions
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.reporters.reporter import Options, Reporter

__all__ = [
    "REPORTERS",
    "Options",
    "ReportError",
    "Reporter",
    "UnknownReporter",
    "reporter_named",
]

#: The module of each built-in reporter by its name, in the order of the help. The
#: reporter is its `REPORTER`, or what is named behind a colon.
_modules = {
    "full": "full",
    "concise": "concise",
    "json": "json_report",
    "jsonl": "json_report:LINES_REPORTER",
    "html": "html",
    "markdown": "pull_request_report",
    "github": "pull_request_report:ANNOTATIONS_REPORTER",
    "gitlab": "ci_reports:GITLAB_REPORTER",
    "junit": "ci_reports:JUNIT_REPORTER",
    "sarif": "sarif",
}


class _Reporters(Mapping[str, Reporter]):
    """The reporters of the table by their names.

    A module is imported when its reporter is asked for: start-up time.
    """

    def __getitem__(self, name: str) -> Reporter:
        module, _, constant = _modules[name].partition(":")
        found = import_module(f"{__name__}.{module}")
        reporter: Reporter = getattr(found, constant or "REPORTER")
        return reporter

    def __iter__(self) -> Iterator[str]:
        return iter(_modules)

    def __len__(self) -> int:
        return len(_modules)

    def __contains__(self, name: object) -> bool:
        return name in _modules


#: Every built-in reporter by its name, in the order in which the help lists them.
REPORTERS: Mapping[str, Reporter] = _Reporters()


class ReportError(HarpiaFormatsError):
    """A report cannot be written as asked for; its text says why."""

    hides_values = True


class UnknownReporter(ReportError):  # noqa: N818 - named like the other unknown names, such as `UnknownRule`
    """A name that no reporter has; `asked` is that name."""

    def __init__(self, asked: str) -> None:
        super().__init__(asked)
        self.asked = asked

    def __str__(self) -> str:
        from harpia_formats.model.spelling import hint_on  # noqa: PLC0415 - only to report a mistake

        names = [*REPORTERS, *extensions.plugin_names(extensions.REPORTERS)]
        return f"no reporter is called {self.asked!r}{hint_on(self.asked, names)}"


def reporter_named(name: str) -> Reporter:
    """Return the reporter with this name, built in or of a plug-in.

    Raises `UnknownReporter`, and `PluginError` for a plug-in that cannot be used.
    """
    if name in REPORTERS:
        return REPORTERS[name]
    group = extensions.REPORTERS
    extensions.check_names(group, REPORTERS)
    reporter: Reporter | None = extensions.plugin_named(group, name, Reporter)
    if reporter is None:
        raise UnknownReporter(name)
    if reporter.name != name:
        reason = f"the reporter is called {reporter.name!r}"
        raise extensions.plugin_error(group, name, reason)
    return reporter
