"""Equal findings with their count and the first of them, and where their files are."""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from harpia_formats.files.io.urls import is_url
from harpia_formats.model.problem import Place, Problem, Severity
from harpia_formats.model.report import Group, Report
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.phrases import SENTENCE, dotted_path
from harpia_formats.reporters.reporter import Options

#: The severities, the worst first.
WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
_index = re.compile(r"/[0-9]+(?=/|\Z)")


@dataclass(frozen=True, slots=True)
class Finding:
    """Equal findings in one file, and the first of them."""

    group: Group
    #: The first problem of the group; None if it was not kept as an example.
    first: Problem | None

    @property
    def place(self) -> Place:
        """Where the first one is, as far as it is known."""
        if self.first is not None:
            return self.first.place
        group = self.group
        return Place(
            path=group.path,
            line=group.line,
            column=group.column,
            end_column=group.column,
            byte_offset=0,
            record=group.record,
            pointer=group.pointer,
            member=group.member,
        )


def collected(
    problems: Iterable[Problem], finish: Callable[[], Report]
) -> tuple[Report, list[Finding]]:
    """Return the report, and its findings in the order of the report.

    `problems` and `finish` are what a reporter gets. One problem of a group is kept.
    """
    firsts: dict[tuple[str, str, str, str], Problem] = {}
    for problem in problems:
        place = problem.place
        key = (place.path, problem.code, _shape(place.pointer), problem.cause)
        firsts.setdefault(key, problem)
    report = finish()
    return report, [Finding(group, _first_of(group, firsts)) for group in report.groups]


def _first_of(
    group: Group, firsts: dict[tuple[str, str, str, str], Problem]
) -> Problem | None:
    """Return the first problem of a group if it is among the `firsts`."""
    key = (group.path, group.code, _shape(group.pointer), group.cause)
    problem = firsts.get(key)
    if problem is None:
        return None
    place = problem.place
    found = (place.line, place.column, place.member)
    return problem if found == (group.line, group.column, group.member) else None


def _shape(pointer: str) -> str:
    """Return a pointer with `*` for each step that may be an index."""
    return _index.sub("/*", pointer)


def severity_rank(finding: Finding) -> int:
    """Return 0 for errors, 1 for warnings, 2 for notes."""
    return WORST_FIRST.index(finding.group.severity)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by severity, then by count, then as they come."""
    return sorted(findings, key=lambda one: (severity_rank(one), -one.group.count))


@dataclass(slots=True)
class Alike:
    """The findings of one rule at one field, in any number of files."""

    #: Those of the file that stands for all, one with an example if there is any.
    shown: Finding
    count: int = 0
    files: int = 0
    #: How many more the baseline holds.
    baseline: int = 0


def alike(findings: Iterable[Finding]) -> list[Alike]:
    """Return the findings of each rule and field, by severity, then by their number."""
    found: dict[tuple[str, str, str], Alike] = {}
    paths: dict[tuple[str, str, str], set[str]] = {}
    for finding in sorted(findings, key=severity_rank):
        group = finding.group
        key = (group.code, group.pointer, group.key)
        kind = found.setdefault(key, Alike(finding))
        if kind.shown.first is None and finding.first is not None:
            kind.shown = finding
        kind.count += group.count
        kind.baseline += group.baseline or 0
        names = paths.setdefault(key, set())
        names.add(group.path)
        kind.files = len(names)
    return sorted(
        found.values(), key=lambda kind: (severity_rank(kind.shown), -kind.count)
    )


def fingerprint(finding: Finding, path: str) -> str:
    """Return a text that identifies equal findings of a file in later runs.

    It is a hash of the rule, the field and the cause, and of the `path` as shown, but
    not of the place: findings that moved have the same one.
    """
    group = finding.group
    return digest(path, group.code, group.pointer, group.key, group.cause)


def digest(*parts: str) -> str:
    """Return a hash of texts as 64 hexadecimal digits."""
    # The length of each part tells ("a", "b") from ("ab", "").
    texts = (part.encode("utf-8", "surrogatepass") for part in parts)
    data = b"".join(b"%d:%b" % (len(text), text) for text in texts)
    return sha256(data).hexdigest()


def first_sentences(finding: Finding) -> list[str]:
    """Return the message of the first of equal findings, its reasons and its help."""
    problem = finding.first
    if problem is None:
        message = finding.group.message
        return [safe(message, SENTENCE)] if message else []
    lines = [safe(problem.message, SENTENCE)]
    lines += [
        f"because {safe(dotted_path(one.pointer))} is {safe(one.value)}"
        for one in problem.because
    ]
    if problem.help:
        lines.append(f"help: {safe(problem.help, SENTENCE)}")
    return lines


def file_faults(report: Report) -> list[tuple[str, str]]:
    """Return a path and a sentence for each file that was not read or has no verdict.

    The path is empty where a sentence names its files.
    """
    unread = [(file.path, file.reason or "") for file in report.failures]
    return [*unread, *(("", line) for line in report.no_verdict_lines())]


def path_from_root(path: str, options: Options) -> str | None:
    """Return the path of a local file below the root, from there, with slashes.

    It is None for other files, and for what is no file, such as standard input.
    """
    if not is_local(path):
        return None
    root = os.path.normpath(options.root or options.folder or os.curdir)
    full = absolute(path, options)
    if root == os.curdir:
        is_below = not full.startswith((os.sep, f"{os.pardir}{os.sep}"))
    else:
        start = root.rstrip(os.sep) + os.sep
        is_below = full.startswith(start)
        full = full.removeprefix(start)
    return full.replace(os.sep, "/") if is_below else None


def shown_path(path: str, options: Options) -> str:
    """Return the path from the root if the file is below it, else as it was named."""
    return path_from_root(path, options) or path


def is_local(path: str) -> bool:
    """Tell whether a name in a report is a path; `<stdin>` and URLs are not."""
    return not (is_url(path) or (path.startswith("<") and path.endswith(">")))


def absolute(path: str, options: Options) -> str:
    """Return the path without `.` and `..`, absolute if the working folder is known."""
    return os.path.normpath(os.path.join(options.folder, path))  # noqa: PTH118 - links are not resolved


def uri_path(path: str, also: str = "") -> str:
    """Return a path with slashes as the path of a URI.

    Names of files that are no UTF-8 are encoded byte by byte, and characters in `also`
    are left as they are.
    """
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        data = path.encode("utf-8", "surrogatepass")
    return quote(data, safe=f"/{also}")
