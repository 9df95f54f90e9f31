"""The page of a validation: counts, files, and findings by rule and field."""

from markupsafe import Markup

from harpia_formats.evaluation.plots import histogram
from harpia_formats.model.bins import LengthCounts, joined_lengths
from harpia_formats.model.report import FileCount, Report
from harpia_formats.model.text.sanitize import safe
from harpia_formats.model.text.words import with_noun
from harpia_formats.reporters.html.checks import checks_sections, checks_verdict
from harpia_formats.reporters.html.findings import findings_markup
from harpia_formats.reporters.html.page import Page, Section, section
from harpia_formats.reporters.html.tables import charts, code, sentence, table
from harpia_formats.reporters.text import verdict

_COLUMNS = (
    "file",
    "format",
    "records",
    "valid",
    "invalid",
    "no verdict",
    "errors",
    "warnings",
    "notes",
    "bytes",
    "remark",
)
_NUMBERS = _COLUMNS[2:10]
_OPTIONAL = ("no verdict", "warnings", "notes", "remark")
#: Failures that are named above the counts.
_ALERTS = 5
#: Code points of a path and of a reason.
_PATH = 400


def page(report: Report) -> Page:
    """Return the page of a validation."""
    return Page(
        "preflight" if report.checks else "validation",
        checks_verdict(report.checks) if report.checks else verdict(report),
        report.ok,
        cards=cards(report),
        alerts=alerts(report),
        sections=[
            *checks_sections(report.checks),
            findings_section(report),
            files_section(report),
            *_lengths_sections(report),
        ],
    )


def _lengths_sections(report: Report) -> list[Section]:
    """Return a histogram of the lengths of all rows, if they were counted."""
    lengths: LengthCounts | None = None
    for file in report.files:
        lengths = joined_lengths(lengths, file.lengths)
    if lengths is None or lengths.least is None:
        return []
    bins = lengths.bins()
    parts: list[Markup] = []
    if len(bins) > 1:
        chart = histogram("plot-lengths", "Bytes of a row", bins, "bytes", noun="rows")
        parts += charts([chart])
        parts.append(sentence("Each bar is a quarter of a doubling wide."))
    said = (
        f"{with_noun(lengths.total, 'row')} of {lengths.least:,} to {lengths.most:,} "
        f"bytes, on average {lengths.sum / lengths.total:,.0f}."
    )
    parts.append(sentence(said))
    return [section("lengths", "Lengths of rows", parts)]


def cards(report: Report) -> list[tuple[str, str]]:
    """Return the counts of a report that are not 0, and those of files and records."""
    sums = report.summary()
    names = {"baseline": "in the baseline", "undetermined": "without a verdict"}
    names["baseline_unused"] = "unused in the baseline"
    always = {"files", "records", "errors"}
    return [
        (names.get(name, name), f"{count:,}")
        for name, count in sums.items()
        if count or name in always
    ]


def alerts(*reports: Report) -> list[str]:
    """Return which files could not be read, and why records have no verdict."""
    failures = [file for report in reports for file in report.failures]
    said = [
        f"{safe(file.path, _PATH)} was not read to its end: "
        f"{safe(file.reason or '', _PATH)}"
        for file in failures[:_ALERTS]
    ]
    if len(failures) > _ALERTS:
        more = len(failures) - _ALERTS
        said.append(f"{with_noun(more, 'more file')} could not be read to the end")
    return [*said, *(line for report in reports for line in report.no_verdict_lines())]


def findings_section(report: Report) -> Section:
    """Return the findings with their examples."""
    body = findings_markup(report.groups, report.problems)
    return Section("findings", "Findings", body)


def files_section(report: Report, title: str = "Files", name: str = "files") -> Section:
    """Return the table of files, those with errors first."""
    ordered = sorted(report.files, key=lambda file: not (file.errors or file.reason))
    parts = [table(title, _COLUMNS, map(_cells, ordered), _NUMBERS, optional=_OPTIONAL)]
    if not report.files:
        parts = [sentence("No file was read.")]
    if report.excluded:
        parts.append(sentence(f"{with_noun(report.excluded, 'file')} left out."))
    return section(name, title, parts)


def _cells(file: FileCount) -> tuple[str | Markup, ...]:
    names = ", ".join(part for part in (file.format, file.dialect) if part)
    return (
        code(file.path, _PATH),
        names,
        f"{file.records:,}",
        f"{file.valid:,}",
        f"{file.invalid:,}",
        f"{file.undetermined:,}",
        f"{file.errors:,}",
        f"{file.warnings:,}",
        f"{file.notes:,}",
        f"{file.bytes:,}",
        _state(file),
    )


def _state(file: FileCount) -> str:
    """Return why a file was not read to its end, "" if it was."""
    if file.skipped:
        return f"passed over: it {file.reason}"
    if file.reason:
        return f"not read to the end: {file.reason}"
    return "" if file.complete else "stopped as asked"
