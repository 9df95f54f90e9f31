"""Findings as SARIF 2.1.0, which code scanning of GitHub and editors read.

Source: "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" of OASIS, and
"SARIF support for code scanning" of GitHub's documentation for the limits.
"""

from collections.abc import Callable, Iterable
from typing import Any

from harpia_formats._version import __version__
from harpia_formats.formats.registry import all_rules, installed_rules
from harpia_formats.formats.rules import Rule
from harpia_formats.formats.rules.documentation import rule_url
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.text.json_text import json_text
from harpia_formats.reporters.findings import Finding, collected, worst_first
from harpia_formats.reporters.reporter import Options, Reporter
from harpia_formats.reporters.sarif_objects import (
    LEVELS,
    ROOT,
    Artifacts,
    location,
    message,
    result_of,
)

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)
#: GitHub shows 5,000 results of a run.
MOST = 5_000
#: What is told of the run itself: the ids, and for each its name and what it means.
UNREAD, NO_VERDICT, LEFT_OUT = "RUN001", "RUN002", "RUN003"
_NOTIFICATIONS = {
    UNREAD: ("unread-file", "A file could not be read to its end."),
    NO_VERDICT: ("no-verdict", "Records have no verdict, and no finding says why."),
    LEFT_OUT: ("results-left-out", f"There are more than {MOST:,} kinds of findings."),
}


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write one run with a result for equal findings of a file, the worst first."""
    report, findings = collected(problems, finish)
    shown = worst_first(findings)[:MOST]
    codes = list(dict.fromkeys(one.group.code for one in shown))
    artifacts = Artifacts(options)
    index = {code: number for number, code in enumerate(codes)}
    results = [result_of(one, index[one.group.code], artifacts) for one in shown]
    left_out = len(findings) - len(shown)
    invocation = _invocation(report, artifacts, options, left_out)
    run = {
        "tool": {"driver": _driver(shown)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            ROOT: {"description": {"text": "The root of the repository."}}
        },
        "invocations": [invocation],
        "artifacts": artifacts.items,
        "results": results,
        "properties": {"summary": report.summary(), "resultsLeftOut": left_out},
    }
    whole = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    write_text(json_text(whole, indent=True) + "\n")


def _driver(shown: Iterable[Finding]) -> dict[str, Any]:
    """Return the tool, with the rules of the results in the order of their indices."""
    names = {one.group.code: one.group.name for one in shown}
    known = all_rules() if names.keys() <= all_rules().keys() else installed_rules()
    rules = [_rule(code, names[code], known.get(code)) for code in names]
    return {
        "name": "harpia-formats",
        "fullName": f"harpia-formats {__version__}",
        "version": __version__,
        "informationUri": "https://github.com/harpia-formats/harpia-formats",
        "rules": rules,
        "notifications": [
            _descriptor(identifier, name, text, text, text)
            for identifier, (name, text) in _NOTIFICATIONS.items()
        ],
    }


def _rule(code: str, name: str, rule: Rule | None) -> dict[str, Any]:
    """Return the descriptor of a rule; one that is not known has its name only."""
    if rule is None:
        text = name or code
        return _descriptor(code, text, text, text, text)
    url = rule_url(code)
    help_text = f"{rule.explanation} `harpia-formats rule {code}` shows an example."
    return {
        **_descriptor(code, rule.name, rule.summary, rule.explanation, help_text),
        **({"helpUri": url} if url else {}),
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"precision": "very-high", "tags": ["data"]},
    }


def _descriptor(
    identifier: str, name: str, summary: str, explanation: str, help_text: str
) -> dict[str, Any]:
    """Return what code scanning of GitHub and Azure requires of a rule."""
    return {
        "id": identifier,
        "name": name,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": explanation},
        "help": {"text": help_text},
    }


def _invocation(
    report: Report, artifacts: Artifacts, options: Options, left_out: int
) -> dict[str, Any]:
    """Return how the run ended, with what kept it from a verdict on each record."""
    notifications = [
        {
            **_notification(UNREAD, "error", file.reason or ""),
            "locations": [location(artifacts.file(file.path))],
        }
        for file in report.failures
    ]
    notifications += [
        _notification(NO_VERDICT, "error", line) for line in report.no_verdict_lines()
    ]
    if left_out:
        text = (
            f"{left_out:,} more kinds of findings are left out, since GitHub shows "
            f"{MOST:,} results; the summary in the properties of the run counts all"
        )
        notifications.append(_notification(LEFT_OUT, "warning", text))
    ended: dict[str, Any] = {
        "executionSuccessful": not (report.failures or report.has_internal_errors)
    }
    if options.exit_code is not None:
        ended["exitCode"] = options.exit_code(report)
    return {**ended, "toolExecutionNotifications": notifications}


def _notification(identifier: str, level: str, text: str) -> dict[str, Any]:
    index = list(_NOTIFICATIONS).index(identifier)
    return {
        "descriptor": {"id": identifier, "index": index},
        "level": level,
        "message": message([text]),
    }


REPORTER = Reporter(
    name="sarif",
    summary="SARIF 2.1.0, for code scanning of GitHub and for editors",
    write=write,
    suffixes=(".sarif", ".sarif.json"),
    begins=rb'\{\s*"\$schema": "[^"]*sarif[^}]*"driver": \{\s*"name": "harpia-formats"',
)
