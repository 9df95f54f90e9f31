"""The page of a validation: counts, files, and findings by rule and field."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from harpia_formats.formats.rules import rule_url
from harpia_formats.model.bins import LengthCounts, joined_lengths
from harpia_formats.model.describe import with_noun
from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import Check, FileCount, Group, Report, State
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.html.examples import Examples
from harpia_formats.reporters.html.page import (
    Page,
    Room,
    Section,
    bars,
    code,
    histogram,
    macro,
    render,
    section,
    sentence,
    table,
)
from harpia_formats.reporters.phrases import (
    dotted_path,
    group_pointer,
    position,
    verdict,
)
from harpia_formats.reporters.tables.table import Cell, table_of

_CHECK_COLUMNS = ("state", "data set", "expected", "found", "stated in")
_state_order = {State.BROKEN: 0, State.UNDECIDED: 1, State.WARNED: 2, State.MET: 3}
#: The classes of the style for each state.
_looks = {
    State.BROKEN: "error",
    State.UNDECIDED: "warning",
    State.WARNED: "warning",
    State.MET: "good",
}


def checks_sections(checks: Sequence[Check]) -> list[Section]:
    """Return the table of expectations, nothing if there are none."""
    if not checks:
        return []
    ordered = sorted(checks, key=lambda check: _state_order[check.state])
    parts = [
        table(table_of("Expectations", _CHECK_COLUMNS, map(_check_cells, ordered)))
    ]
    return [section("expectations", "Expectations", parts)]


def checks_verdict(checks: Sequence[Check]) -> str:
    """Return how many expectations are met in one line."""
    met = sum(check.state is State.MET for check in checks)
    return f"{met:,} of {len(checks):,} expectations are met"


def _check_cells(check: Check) -> tuple[str | Markup, ...]:
    look = _looks[check.state]
    return (
        macro("tables.html", "badge")(look, check.state.value),
        code(check.data_set),
        check.expected,
        check.found,
        code(position(check.path, check.line, 1)) if check.path else "",
    )


#: Bytes of all rules and fields without their examples.
_FIELDS = 200_000
#: Files that are named for one field.
_FILES = 8
#: Code points of the message of a field, and of what is left of it in one line.
_MESSAGE, _BRIEF = 500, 120
_severity_order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


@dataclass(slots=True)
class Field:
    """The equal findings at one field, over all files."""

    first: Group
    count: int = 0
    baseline: int = 0
    #: How many there are in each file.
    files: Counter[str] = field(default_factory=Counter)
    examples: list[Problem] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The field in dotted form, with the key that is missing."""
        name = dotted_path(self.first.pointer) if self.first.pointer else ""
        if self.first.key:
            return f"{name}.{self.first.key}".removeprefix(".")
        return name or ("the file" if self.first.record is None else "the record")

    @property
    def message(self) -> str:
        """The message of the first one."""
        text = self.first.message
        return text if len(text) <= _MESSAGE else f"{text[:_MESSAGE]}…"

    @property
    def brief(self) -> str:
        """The beginning of the message, without the name of the field."""
        return self.first.message.removeprefix(f"{self.name} ")[:_BRIEF]

    @property
    def only_file(self) -> str:
        """The file that has all of them, "" if several have."""
        return next(iter(self.files)) if len(self.files) == 1 else ""

    @property
    def shown_files(self) -> list[tuple[str, int]]:
        """The files with the most findings, if there are several."""
        return self.files.most_common(_FILES) if len(self.files) > 1 else []


@dataclass(slots=True)
class FoundRule:
    """A rule with findings, and the fields at which they are."""

    code: str
    name: str
    severity: Severity
    summary: str
    fields: list[Field] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of findings at all fields."""
        return sum(field.count for field in self.fields)

    @property
    def url(self) -> str:
        """The page on the rule, "" for a rule of a plug-in."""
        return rule_url(self.code)


def findings_section(report: Report) -> Section:
    """Return the findings with their examples, or that there are none."""
    examples = Examples()
    rules = found_rules(report.groups, report.problems)
    fields = [(rule, field) for rule in rules for field in rule.fields]
    # Each field has an example before one has two.
    rendered = examples.of_fields(
        [field.examples for _, field in fields],
        [field.first.message for _, field in fields],
    )
    most = max((field.count for _, field in fields), default=1)
    room, one_field = Room(_FIELDS), macro("finding.html", "field")
    # Of findings in one file only there is nothing to filter by file.
    one_file = len({path for _, one in fields for path in one.files}) < 2  # noqa: PLR2004
    shown = room.kept(
        range(len(fields)),
        lambda at: one_field(
            fields[at][1],
            rendered[at],
            most=most,
            is_open=at == 0,
            file="" if one_file else fields[at][1].only_file,
        ),
    )
    kept = iter(shown)
    parts = []
    for rule in rules:
        of_rule = [piece for _, piece in zip(rule.fields, kept, strict=False)]
        parts.append((rule, of_rule, len(rule.fields) - len(of_rule)))
    body = render(
        "findings.html",
        rules=[part for part in parts if part[1]],
        rest=[part[0] for part in parts if not part[1]],
        total=sum(rule.count for rule in rules),
        chart=_chart(rules),
        examples=examples,
    )
    return Section("findings", "Findings", body)


def found_rules(
    groups: Iterable[Group], problems: Iterable[Problem]
) -> list[FoundRule]:
    """Return the rules with their fields, errors first, the most frequent first."""
    groups = list(groups)
    fields: dict[tuple[str, ...], Field] = {}
    shapes: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for group in groups:
        key = (group.code, group.pointer, group.key, group.cause)
        found = fields.setdefault(key, Field(group))
        found.count += group.count
        found.baseline += group.baseline or 0
        found.files[group.path] += group.count
        shapes[group.path, group.code][group.pointer] = None
    for problem in problems:
        place = problem.place
        shape = group_pointer(place.pointer, shapes[place.path, problem.code])
        key = (problem.code, shape, problem.key, problem.cause)
        if key in fields:
            fields[key].examples.append(problem)
    rules: dict[str, FoundRule] = {}
    for one in fields.values():
        first = one.first
        rule = FoundRule(first.code, first.name, first.severity, "")
        rules.setdefault(first.code, rule).fields.append(one)
    for rule in rules.values():
        rule.summary = _summary(rule.code)
        rule.fields.sort(key=lambda one: (-one.count, one.first.pointer))
    return sorted(
        rules.values(),
        key=lambda rule: (_severity_order[rule.severity], -rule.count, rule.code),
    )


def _summary(code: str) -> str:
    """Return what a rule requires, "" for one that is not known here."""
    from harpia_formats.formats.registry import all_rules  # noqa: PLC0415 - a page without findings needs no rules

    rule = all_rules().get(code)
    return rule.summary if rule else ""


def _chart(rules: list[FoundRule]) -> Markup:
    """Return a table with the count of each rule."""
    ordered = sorted(rules, key=lambda rule: (-rule.count, rule.code))
    rows = [
        (f"{rule.code} {rule.name}", rule.count, rule.severity.value)
        for rule in ordered
    ]
    return bars("Findings by rule", ("rule", "findings"), rows)


_NUMBERS = (
    *("records", "valid", "invalid", "no verdict"),
    *("errors", "warnings", "notes", "bytes"),
)
_FILE_COLUMNS = ("file", "format", *_NUMBERS, "remark")
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
    text = (
        f"{with_noun(lengths.total, 'row')} of {lengths.least:,} to {lengths.most:,} "
        f"bytes, on average {lengths.sum / lengths.total:,.0f}."
    )
    drawn = histogram("Bytes of a row", lengths.bins(), "bytes", "rows")
    return [section("lengths", "Lengths of rows", [drawn, sentence(text)])]


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
    lines = [
        f"{safe(file.path, _PATH)} was not read to its end: "
        f"{safe(file.reason or '', _PATH)}"
        for file in failures[:_ALERTS]
    ]
    if len(failures) > _ALERTS:
        more = len(failures) - _ALERTS
        lines.append(f"{with_noun(more, 'more file')} could not be read to the end")
    return [*lines, *(line for report in reports for line in report.no_verdict_lines())]


def files_section(
    *reports: Report, title: str = "Files", name: str = "files"
) -> Section:
    """Return the table of the files of reports, those with errors first."""
    files = [file for report in reports for file in report.files]
    ordered = sorted(files, key=lambda file: not (file.errors or file.reason))
    rows = map(_file_cells, ordered)
    parts = [table(table_of(title, _FILE_COLUMNS, rows, _NUMBERS, _OPTIONAL))]
    if not files:
        parts = [sentence("No file was read.")]
    if excluded := sum(report.excluded or 0 for report in reports):
        parts.append(sentence(f"{with_noun(excluded, 'file')} left out."))
    return section(name, title, parts)


def _file_cells(file: FileCount) -> tuple[Cell, ...]:
    names = ", ".join(part for part in (file.format, file.dialect) if part)
    return (
        code(file.path, _PATH),
        names,
        *(file.records, file.valid, file.invalid, file.undetermined),
        *(file.errors, file.warnings, file.notes, file.bytes),
        _state(file),
    )


def _state(file: FileCount) -> str:
    """Return why a file was not read to its end, "" if it was."""
    if file.skipped:
        return f"passed over: it {file.reason}"
    if file.reason:
        return f"not read to the end: {file.reason}"
    return "" if file.complete else "stopped as asked"
