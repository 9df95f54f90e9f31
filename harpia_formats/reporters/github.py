"""Annotations on the lines of a pull request, by the commands of GitHub Actions.

Source: "Workflow commands for GitHub Actions" of GitHub's documentation, and
`packages/core/src/command.ts` of actions/toolkit for what is escaped.
"""

from collections.abc import Callable, Iterable

from harpia_formats.model.problem import Place, Problem, Severity
from harpia_formats.model.report import Report
from harpia_formats.model.text.sanitize import escaped, safe
from harpia_formats.model.text.words import with_noun
from harpia_formats.reporters import markdown
from harpia_formats.reporters.findings import (
    Alike,
    alike,
    collected,
    file_faults,
    first_sentences,
)
from harpia_formats.reporters.places import is_local, shown_path
from harpia_formats.reporters.reporter import Options, Reporter
from harpia_formats.reporters.text import PATH, SENTENCE, position, rule

#: The most annotations: GitHub shows ten errors and ten warnings of a step.
MOST = 10
_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
}


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write a command for each fault of a file, then for each rule and pointer."""
    report, findings = collected(problems, finish)
    faults = [_fault(*fault, options) for fault in file_faults(report)]
    commands = [*faults, *(_annotation(one, options) for one in alike(findings))]
    for command in commands[:MOST]:
        write_text(f"{command}\n")
    more = len(commands) - MOST
    if more > 0:
        where = "name a file with --report markdown=FILE to see them"
        if options.has_job_summary:
            where = "the summary of the job has them"
        kinds = with_noun(more, "more kind")
        write_text(f"{kinds} of findings without an annotation: {where}\n")


def _annotation(kind: Alike, options: Options) -> str:
    """Return the command for findings of one rule at one pointer."""
    finding = kind.shown
    group, place = finding.group, finding.place
    properties = {**_position(place, options), "title": rule(group)}
    lines = first_sentences(finding)
    if "line" not in properties:
        lines.append(f"at {position(place.full_path, place.line, place.column)}")
    if kind.count > 1:
        files = f" in {with_noun(kind.files, 'file')}" if kind.files > 1 else ""
        lines.append(f"the first of {kind.count:,} such findings{files}")
    return _command(_COMMANDS[group.severity], properties, lines)


def _position(place: Place, options: Options) -> dict[str, str]:
    """Return the properties of a place, as far as GitHub can show it.

    Standard input and remote files are none of the repository, and lines in a member
    are none of the archive.
    """
    if not is_local(place.path):
        return {}
    found = {"file": _file(place.path, options)}
    if place.line > 0 and not place.member:
        found["line"] = str(place.line)
        if place.column > 0:
            found["col"] = str(place.column)
        if place.end_column > place.column > 0:
            found["endColumn"] = str(place.end_column)
    return found


def _fault(path: str, reason: str, options: Options) -> str:
    """Return the command for a file that was not read, or records without a verdict."""
    if not path:
        return _command("error", {"title": "no verdict"}, [safe(reason, SENTENCE)])
    properties = {"file": _file(path, options)} if is_local(path) else {}
    properties["title"] = "not read to the end"
    shown = safe(shown_path(path, options), PATH)
    return _command("error", properties, [f"{shown}: {safe(reason, SENTENCE)}"])


def _file(path: str, options: Options) -> str:
    """Return the path of a file for a property, where `::` at its start is harmless."""
    return escaped(shown_path(path, options)[:PATH])


def _command(name: str, properties: dict[str, str], lines: Iterable[str]) -> str:
    """Return a workflow command; its message has several lines."""
    pairs = ",".join(f"{key}={_escaped_value(properties[key])}" for key in properties)
    # A command without a message is passed over.
    message = _escaped("\n".join(lines)) or _escaped(properties["title"])
    return f"::{name} {pairs}::{message}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_value(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


REPORTER = Reporter(
    name="github",
    summary="at most ten annotations in GitHub Actions, and the job summary",
    write=write,
    summary_apart=True,
    begins=rb"::(error|warning|notice) ",
    write_job_summary=markdown.write,
)
