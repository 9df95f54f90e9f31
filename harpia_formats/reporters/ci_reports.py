"""Reports that CI systems read: Code Quality of GitLab, and the XML of JUnit."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from harpia_formats.model.describe import with_noun
from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import INTERNAL_ERROR, Check, FileCount, Report, State
from harpia_formats.model.safe_text import json_text, safe
from harpia_formats.reporters.equal_findings import (
    Finding,
    collected,
    digest,
    file_faults,
    fingerprint,
    first_sentences,
    shown_path,
)
from harpia_formats.reporters.phrases import (
    PATH,
    SENTENCE,
    position,
    rule,
    undecided_because,
)
from harpia_formats.reporters.reporter import Options, Reporter

_SEVERITIES = {
    Severity.ERROR: "major",
    Severity.WARNING: "minor",
    Severity.NOTE: "info",
}
#: The check of files that could not be read to their end, or have no verdict.
UNREAD = "unread-file"


def write_gitlab(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write an entry for each fault of a file, and for equal findings of each file."""
    report, findings = collected(problems, finish)
    start = "["
    seen: dict[str, int] = {}
    for entry in _entries(report, findings, options):
        # Entries of one fingerprint would be shown once.
        times = seen[entry["fingerprint"]] = 1 + seen.get(entry["fingerprint"], 0)
        if times > 1:
            entry["fingerprint"] = digest(entry["fingerprint"], str(times))
        write_text(f"{start}\n{json_text(entry)}")
        start = ","
    write_text("[]\n" if start == "[" else "\n]\n")


def _entries(
    report: Report, findings: Iterable[Finding], options: Options
) -> Iterator[dict[str, Any]]:
    """Yield the entries of a report."""
    for path, reason in file_faults(report):
        # An entry needs the path of a file, also one on several.
        shown = shown_path(path or _without_verdict(report), options)
        text = f"not read to the end: {reason}" if path else reason
        yield {
            "description": safe(text, SENTENCE),
            "check_name": UNREAD,
            "fingerprint": digest(UNREAD, shown),
            "severity": "blocker",
            "location": {"path": shown, "lines": {"begin": 1}},
        }
    for finding in findings:
        yield _entry(finding, options)


def _without_verdict(report: Report) -> str:
    """Return the path of the first file with a record that has no verdict."""
    return next((file.path for file in report.files if file.undetermined), "-")


def _entry(finding: Finding, options: Options) -> dict[str, Any]:
    """Return the entry of equal findings in a file."""
    group, place = finding.group, finding.place
    path = shown_path(place.path, options)
    parts = [rule(group), *first_sentences(finding)]
    if group.count > 1:
        parts.append(f"the first of {with_noun(group.count, 'such finding')}")
    if place.member:
        parts.append(f"at {position(place.full_path, place.line, place.column)}")
    # Lines of a member are none of the archive.
    line = 1 if place.member else max(1, place.line)
    is_bug = group.code == INTERNAL_ERROR
    return {
        "description": "; ".join(parts),
        "check_name": safe(group.code),
        "fingerprint": fingerprint(finding, path),
        "severity": "critical" if is_bug else _SEVERITIES[group.severity],
        "location": {"path": path, "lines": {"begin": line}},
    }


GITLAB_REPORTER = Reporter(
    name="gitlab",
    summary="a Code Quality report for merge requests of GitLab",
    write=write_gitlab,
    # The description of a finding begins with its rule, and may be long.
    begins=rb'\[\s*(\{"description":"([A-Z]+\d{3} |.{,3000}","check_name":")|\]\s*$)',
)


#: The most fields of a rule that one case lists.
LISTED = 100
#: The cases of what is no finding.
NO_FINDINGS, READ, VERDICT = "no findings", "read to the end", "every record"
#: What XML cannot hold, and `safe` leaves as it is.
_illegal = re.compile("[\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case: its name, and the element of its result, "" if it passed."""

    name: str
    #: "failure", "error", "skipped", or "system-out" for a case that passed.
    kind: str = ""
    message: str = ""
    lines: tuple[str, ...] = ()


def write_junit(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write a suite for each file, with a case for each rule that was broken in it."""
    report, findings = collected(problems, finish)
    suites = [(name, list(cases)) for name, cases in _suites(report, findings, options)]
    counts = _counts([case for _, cases in suites for case in cases])
    del counts["skipped"]  # no attribute of the whole
    write_text('<?xml version="1.0" encoding="UTF-8"?>\n')
    write_text(f'<testsuites name="harpia-formats"{_attributes(counts)}>\n')
    for name, cases in suites:
        shown = _quoted(name)
        write_text(f"  <testsuite name={shown}{_attributes(_counts(cases))}>\n")
        for case in cases:
            write_text(_element(case, shown))
        write_text("  </testsuite>\n")
    write_text("</testsuites>\n")


def _suites(
    report: Report, findings: list[Finding], options: Options
) -> Iterator[tuple[str, Iterator[_Case]]]:
    """Yield the name and the cases of each suite: checks, files, then the run.

    Where expectations are checked, these decide, and findings explain them.
    """
    for name, checks in groupby(report.checks, key=lambda check: check.data_set):
        yield safe(name), map(_case_of_check, list(checks))
    fails = _failing(report, options)
    by_path: dict[str, list[Finding]] = {file.path: [] for file in report.files}
    for finding in findings:
        by_path.setdefault(finding.group.path, []).append(finding)
    for file in report.files:
        found = by_path.pop(file.path, [])
        yield _name(file.path, options), _cases_of_file(file, found, fails)
    for path, found in by_path.items():  # companions, which are no inputs
        yield _name(path, options), _cases(found, fails)
    faults = report.no_verdict_lines()
    if faults:
        cases = (_Case(VERDICT, "error", safe(line, SENTENCE)) for line in faults)
        yield "harpia-formats", cases


def _failing(report: Report, options: Options) -> set[Severity]:
    """Return the severities of findings that make a case fail, as they do the run."""
    if report.checks:
        return set()
    warning = [Severity.WARNING] if options.error_on_warning else []
    return {Severity.ERROR, *warning}


def _case_of_check(check: Check) -> _Case:
    """Return the case of an expectation of a preflight."""
    name = safe(check.expected, SENTENCE)
    if check.state in {State.MET, State.WARNED}:
        return _Case(name)
    place = f"{safe(check.path, PATH)}:{check.line}"
    if check.state is State.UNDECIDED:
        return _Case(name, "error", f"{undecided_because(check)} ({place})")
    return _Case(name, "failure", f"{safe(check.found, SENTENCE)} ({place})")


def _name(path: str, options: Options) -> str:
    return safe(shown_path(path, options), PATH)


def _cases_of_file(
    file: FileCount, findings: list[Finding], fails: set[Severity]
) -> Iterator[_Case]:
    """Yield the cases of a file, at least one."""
    if file.skipped:
        yield _Case(READ, "skipped", safe(f"passed over: {file.skipped}", SENTENCE))
    elif file.reason is not None:
        yield _Case(READ, "error", safe(file.reason, SENTENCE))
    elif not findings:
        yield _Case(NO_FINDINGS)
    yield from _cases(findings, fails)


def _cases(findings: list[Finding], fails: set[Severity]) -> Iterator[_Case]:
    """Yield a case for each rule."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        name = safe(f"{finding.group.code} {finding.group.name}")
        by_rule.setdefault(name, []).append(finding)
    for name, found in by_rule.items():
        is_failure = any(one.group.severity in fails for one in found)
        count = with_noun(sum(one.group.count for one in found), "finding")
        first = "; ".join(first_sentences(found[0]))
        lines = [line for one in found[:LISTED] for line in _lines(one)]
        if len(found) > LISTED:
            lines.append(f"and in {with_noun(len(found) - LISTED, 'more field')}")
        kind = "failure" if is_failure else "system-out"
        yield _Case(name, kind, f"{count}, first: {first}", tuple(lines))


def _lines(finding: Finding) -> Iterator[str]:
    """Yield the place and the count of equal findings, and the first of them."""
    place, group = finding.place, finding.group
    start = position(place.full_path, place.line, place.column)
    count = f" ({group.count:,} such findings)" if group.count > 1 else ""
    yield f"{start}: {group.severity.value} {rule(group)}{count}"
    yield from (f"  {line}" for line in first_sentences(finding))


def _element(case: _Case, class_name: str) -> str:
    """Return a test case as XML."""
    start = f"    <testcase classname={class_name} name={_quoted(case.name)}"
    if not case.kind:
        return f"{start}/>\n"
    kind, attributes = case.kind, ""
    if kind != "system-out":
        attributes = f" message={_quoted(case.message)}"
    if not case.lines:
        return f"{start}>\n      <{kind}{attributes}/>\n    </testcase>\n"
    from xml.sax.saxutils import escape  # noqa: PLC0415 - it imports a client of HTTP: help pages list this reporter

    text = escape(_legal("\n".join(case.lines)))
    return f"{start}>\n      <{kind}{attributes}>{text}</{kind}>\n    </testcase>\n"


def _counts(cases: list[_Case]) -> dict[str, int]:
    """Return the numbers of cases as attributes name them."""
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {
        "tests": len(cases),
        **{
            name: sum(case.kind == kind for case in cases)
            for name, kind in kinds.items()
        },
    }


def _attributes(counts: dict[str, int]) -> str:
    return "".join(f' {name}="{count}"' for name, count in counts.items())


def _quoted(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415 - it imports a client of HTTP: help pages list this reporter

    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    """Return text with the two characters that XML cannot hold as escapes."""
    return _illegal.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


JUNIT_REPORTER = Reporter(
    name="junit",
    summary="test results in the XML of JUnit, for CI systems",
    write=write_junit,
    suffixes=(".xml",),
    begins=rb'<\?xml [^>]*\?>\s*<testsuites name="harpia-formats"',
)
