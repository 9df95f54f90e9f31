"""The Code Quality report of GitLab: one JSON array.

Source: "Code Quality", section "Code Quality report format", of GitLab's documentation.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import INTERNAL_ERROR, Report
from harpia_formats.model.text.json_text import json_text
from harpia_formats.model.text.sanitize import safe
from harpia_formats.model.text.words import with_noun
from harpia_formats.reporters.findings import (
    Finding,
    collected,
    digest,
    file_faults,
    fingerprint,
    first_sentences,
)
from harpia_formats.reporters.places import shown_path
from harpia_formats.reporters.reporter import Options, Reporter
from harpia_formats.reporters.text import SENTENCE, position, rule

_SEVERITIES = {
    Severity.ERROR: "major",
    Severity.WARNING: "minor",
    Severity.NOTE: "info",
}
#: The check of files that could not be read to their end, or have no verdict.
UNREAD = "unread-file"


def write(
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


REPORTER = Reporter(
    name="gitlab",
    summary="a Code Quality report for merge requests of GitLab",
    write=write,
    begins=rb'\[\s*(\{"description":".{,3000}","check_name":"|\]\s*$)',
)
