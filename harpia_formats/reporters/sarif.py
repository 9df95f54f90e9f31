"""Findings as SARIF 2.1.0, which code scanning of GitHub and editors read.

Source: "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" of OASIS, and
"SARIF support for code scanning" of GitHub's documentation for the limits.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from harpia_formats._version import __version__
from harpia_formats.files.io.encodings import SUFFIXES
from harpia_formats.files.io.urls import is_url, scheme_of
from harpia_formats.formats.registry import all_rules, installed_rules
from harpia_formats.formats.rules import Rule, rule_url
from harpia_formats.model.problem import Because, Excerpt, Fix, Place, Problem, Severity
from harpia_formats.model.report import Report
from harpia_formats.model.safe_text import json_text, safe
from harpia_formats.reporters.equal_findings import (
    Finding,
    absolute,
    collected,
    fingerprint,
    first_sentences,
    is_local,
    path_from_root,
    shown_path,
    uri_path,
    worst_first,
)
from harpia_formats.reporters.phrases import SENTENCE, dotted_path
from harpia_formats.reporters.reporter import Options, Reporter

#: The base of URIs of files in the repository, which GitHub knows by this name.
ROOT = "%SRCROOT%"
#: The name of our fingerprint, with the version of what is hashed.
FINGERPRINT = "harpiaFormats/v1"
LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
}
#: What stands for itself in the URL of a file in a store, and in a web address.
_OF_STORE = ":@*"
_OF_WEB = f"{_OF_STORE}%!$&'()+,;="
_placeholder = re.compile(r"\{([0-9]+)\}")


class Artifacts:
    """The files of a run, and the members of archives in them, each once."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.items: list[dict[str, Any]] = []
        self._indices: dict[tuple[str, str], int] = {}

    def file(self, path: str) -> dict[str, Any]:
        """Note a file, and return its location."""
        index = self._indices.get((path, ""))
        if index is None:
            index = self._indices[path, ""] = len(self.items)
            is_stream = not is_local(path) and not is_url(path)
            roles = ["standardStream" if is_stream else "analysisTarget"]
            where = _location_of(path, self.options)
            self.items.append({"location": where, "roles": roles})
        return {**self.items[index]["location"], "index": index}

    def note_member(self, path: str, member: str) -> None:
        """Note a member of the archive or folder at `path`."""
        if (path, member) not in self._indices:
            parent = self.file(path)["index"]
            self._indices[path, member] = len(self.items)
            # Within its container the path of a member is absolute.
            uri = "/" + uri_path(member.lstrip("/"))
            self.items.append({"location": {"uri": uri}, "parentIndex": parent})


def _location_of(path: str, options: Options) -> dict[str, Any]:
    """Return where a file is: below the root of the repository, or by its own URI."""
    below = path_from_root(path, options)
    if below is not None:
        return {"uri": uri_path(below), "uriBaseId": ROOT}
    if is_url(path):
        scheme, _, rest = path.partition("://")
        # A web address is escaped; the name of a file in a store may have any sign.
        also = _OF_WEB if scheme_of(path) in {"http", "https"} else _OF_STORE
        return {"uri": f"{scheme}://{uri_path(rest, also)}"}
    full = absolute(path, options).replace("\\", "/") if is_local(path) else path
    return {"uri": f"file://{uri_path(full)}" if full[:1] == "/" else uri_path(full)}


def message(lines: Iterable[str]) -> dict[str, str]:
    """Return lines as a message in which nothing is a link or a placeholder."""
    text = "\n".join(lines).replace("](", "\\](")
    return {"text": _placeholder.sub(r"{{\1}}", text) or "(no message)"}


def location(
    artifact: dict[str, Any],
    region: dict[str, Any] | None = None,
    pointer: str = "",
) -> dict[str, Any]:
    """Return a location: a region of a file, and a JSON pointer inside the record."""
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if region:
        physical["region"] = region
    found: dict[str, Any] = {"physicalLocation": physical}
    if pointer:
        found["logicalLocations"] = [{"fullyQualifiedName": pointer, "kind": "value"}]
    return found


def result_of(
    finding: Finding, rule_index: int, artifacts: Artifacts
) -> dict[str, Any]:
    """Return the result of equal findings in a file, at the place of the first one."""
    group, place, first = finding.group, finding.place, finding.first
    lines = first_sentences(finding) or [safe(group.name)]
    if group.count > 1:
        lines.append(f"the first of {group.count:,} such findings in the file")
    path = shown_path(place.path, artifacts.options)
    result: dict[str, Any] = {
        "ruleId": group.code,
        "ruleIndex": rule_index,
        "level": LEVELS[group.severity],
        "message": message(lines),
        "locations": [_location(place, first, artifacts)],
        "occurrenceCount": max(1, group.count),
        "partialFingerprints": {FINGERPRINT: fingerprint(finding, path)},
        "properties": _properties(finding),
    }
    if first is not None:
        result["relatedLocations"] = [
            _related(number, one, place, artifacts)
            for number, one in enumerate(first.because, start=1)
        ]
        fix = first.fix and _fix(first, first.fix, artifacts)
        if fix:
            result["fixes"] = [fix]
    return result


def _properties(finding: Finding) -> dict[str, Any]:
    """Return what SARIF has no place for."""
    group, place = finding.group, finding.place
    found: dict[str, Any] = {"group": group.pointer}
    if group.key:
        found["key"] = group.key
    if group.baseline is not None:
        found["baseline"] = group.baseline
    if place.record is not None:
        found["record"] = place.record
    if place.record_id is not None:
        found["recordId"] = place.record_id
    if finding.first is not None:
        found["byteOffset"] = place.byte_offset
    return found


def _location(
    place: Place, first: Problem | None, artifacts: Artifacts
) -> dict[str, Any]:
    """Return the place of a finding.

    Lines and columns in a member of an archive are none of the archive itself: such a
    place is a logical one.
    """
    if place.member:
        return _member_location(place, artifacts)
    region = _region(place.line, place.column, place.end_column)
    marked = None if first is None else _marked(place, first.excerpt)
    if region and marked is not None:
        region["byteOffset"] = place.byte_offset
        region["byteLength"] = len(marked.encode())
        region["snippet"] = {"text": marked}
    return location(artifacts.file(place.path), region, place.pointer)


def _member_location(place: Place, artifacts: Artifacts) -> dict[str, Any]:
    """Return the place of a finding in a member of an archive or folder."""
    artifacts.note_member(place.path, place.member)
    name = f"{place.member}:{place.line}:{place.column}"
    found = location(artifacts.file(place.path))
    found["logicalLocations"] = [
        {"fullyQualifiedName": f"{name}{place.pointer}", "kind": "member"}
    ]
    return found


def _region(line: int, column: int, end_column: int) -> dict[str, Any] | None:
    """Return a region of one line, None if the line is not known."""
    if line < 1:
        return None
    if column < 1:
        return {"startLine": line}
    end = max(column, end_column)
    return {"startLine": line, "startColumn": column, "endLine": line, "endColumn": end}


def _marked(place: Place, excerpt: Excerpt | None) -> str | None:
    """Return the marked text of a problem if it is whole, as the file has it."""
    if excerpt is None:
        return None
    marked = excerpt.text[excerpt.start : excerpt.end]
    if not marked or len(marked) != place.end_column - place.column:
        return None
    # Bytes that are no UTF-8 are shown by these.
    has_others = "\ufffd" in marked or any(
        "\ud800" <= one <= "\udfff" for one in marked
    )
    return None if has_others else marked


def _related(
    number: int, because: Because, place: Place, artifacts: Artifacts
) -> dict[str, Any]:
    """Return the place of a value that made a rule apply."""
    path = because.path or place.path
    if place.member and path == place.path:
        found = location(artifacts.file(path))
    else:
        region = _region(because.line, because.column, because.column)
        found = location(artifacts.file(path), region, because.pointer)
    value = safe(because.value, SENTENCE)
    text = f"because {safe(dotted_path(because.pointer))} is {value}"
    return {"id": number, **found, "message": message([text])}


def _fix(problem: Problem, fix: Fix, artifacts: Artifacts) -> dict[str, Any] | None:
    """Return a repair as an edit of the marked text, None if it is no such edit."""
    place = problem.place
    marked = _marked(place, problem.excerpt)
    is_text = not place.member and not place.path.lower().endswith(SUFFIXES)
    if marked is None or not is_text or fix.pointer != place.pointer:
        return None
    if not _is_edited(marked, fix):
        return None
    try:
        new = json.dumps(fix.value, ensure_ascii=False).encode().decode()
    except (TypeError, ValueError):  # no JSON, or a lone surrogate
        return None
    region = _region(place.line, place.column, place.end_column)
    replacement = {"deletedRegion": region, "insertedContent": {"text": new}}
    change = {
        "artifactLocation": artifacts.file(place.path),
        "replacements": [replacement],
    }
    return {"description": message([problem.help]), "artifactChanges": [change]}


def _is_edited(marked: str, fix: Fix) -> bool:
    """Tell whether a repair replaces the marked text: a value, or the key it names."""
    try:
        value = json.loads(marked)
    except (ValueError, RecursionError):
        return False
    if fix.kind == "rename-key":
        step = fix.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        return bool(value == step)
    return fix.kind == "replace"


SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)
#: GitHub shows 5,000 results of a run.
MOST = 5_000
#: Ids of the notifications on the run itself, each with its name and text below.
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
