"""Take the values of records out of problems, reports, reasons and exceptions."""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from traceback import extract_tb
from typing import Any

from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.sink import SinkError
from harpia_formats.formats.detection.result import Detected
from harpia_formats.formats.registry import all_rules
from harpia_formats.formats.rules.preflight_rules import CODES as PREFLIGHT
from harpia_formats.model.problem import HarpiaFormatsError, Place, Problem
from harpia_formats.model.report import (
    Check,
    FileCount,
    Group,
    Report,
    ValidationFailed,
    validation_failed,
)
from harpia_formats.validation.redaction.shown_words import MASK, SchemaWords

#: What a reason quotes, and behind which row or member reading ended. In the group is
#: what it advises at its end, which quotes nothing of a file.
_quoted = re.compile(
    r"(`(?:(?:-{2}from csv )?-{2}(?:delimiter|encoding) [^`\s]{1,16}"
    r"|validate -{2}unsafe-fixes|-{2}from|-{2}exclude)`(?=[^'\"`]*\Z))"
    r"|'.*'|\".*\"|`.*`| \((?:after|before) .*\)\Z",
    re.DOTALL,
)


class Redaction:
    """Takes the values of records out of what a run found.

    Of a problem that was not described without values, nothing is kept but its place
    and what its rule always says; so no way of wording problems can show a value.
    """

    def __init__(self, schema: Any = None) -> None:
        """Take the user's schema, if records are validated against one."""
        self.words = SchemaWords(schema)
        self._rules = all_rules()
        #: The name of the outputs as it was given, if parts of their names are values,
        #: such as those of models; else "".
        self.named_by_values = ""

    def problem(self, problem: Problem) -> Problem:
        """Return a problem without values."""
        place = self.place(problem.place)
        cause = problem.cause if problem.code in PREFLIGHT else ""
        if problem.hides_values:
            return replace(problem, place=place, cause=cause)
        rule = self._rules.get(problem.code)
        return Problem(
            code=problem.code,
            name=problem.name,
            severity=problem.severity,
            place=replace(place, pointer=self.pointer(place.pointer)),
            message=rule.summary if rule is not None else "",
            schema_pointer=problem.schema_pointer,
            key=self.words.masked(problem.key),
            cause=cause,
            hides_values=True,
        )

    def place(self, place: Place) -> Place:
        """Return a place without the id of its record; its pointer is kept."""
        return replace(place, record_id=None, member=self.member(place.member))

    def member(self, name: str) -> str:
        """Return the name of a member of an archive; many are named after ids."""
        path = PurePosixPath(name)
        return "/".join(
            self.words.masked(part.removesuffix(path.suffix)) + path.suffix
            if part == path.name
            else self.words.masked(part)
            for part in path.parts
        )

    def pointer(self, pointer: str) -> str:
        """Return a JSON pointer; an array index is one if it has up to three digits."""
        steps = pointer.split("/")
        masked = self.words.pointer(pointer).split("/")
        return "/".join(
            step if step.isdecimal() and len(step) <= _DIGITS else shown
            for step, shown in zip(steps, masked, strict=True)
        )

    def report(self, report: Report) -> Report:
        """Return a report without values; groups that then look the same are one."""
        return replace(
            report,
            files=tuple(map(self.file, report.files)),
            groups=self._groups(report.groups),
            problems=tuple(map(self.problem, report.problems)),
            checks=tuple(map(_check, report.checks)),
        )

    def _groups(self, groups: Iterable[Group]) -> tuple[Group, ...]:
        """Return groups without values, those of one file that look alike as one."""
        found: dict[tuple[str, ...], Group] = {}
        for group in groups:
            pointer, cause = group.pointer, group.cause
            if group.code not in PREFLIGHT:  # those of a preflight are in its file
                pointer, cause = self.words.pointer(pointer), ""
            key = self.words.masked(group.key)
            kind = group.path, group.code, pointer, key, cause
            if (first := found.get(kind)) is not None:
                first.count += group.count
                if group.baseline is not None:
                    first.baseline = (first.baseline or 0) + group.baseline
                continue
            rule = self._rules.get(group.code)
            found[kind] = replace(
                group,
                pointer=pointer,
                key=key,
                cause=cause,
                message=rule.summary if rule is not None else "",
                member=self.member(group.member),
            )
        return tuple(found.values())

    def file(self, file: FileCount) -> FileCount:
        """Return the counts of a file; what its reason quotes is masked."""
        if file.reason is None:
            return file
        return replace(file, reason=self.reason(file.reason))

    def reason(self, reason: str) -> str:
        """Return why a file cannot be read, without the names that it quotes."""
        return reason_without_names(reason)


def reason_without_names(reason: str) -> str:
    """Return why a file cannot be read, without what is quoted from it."""

    def shown(found: re.Match[str]) -> str:
        return found[1] or ("" if found[0].startswith(" ") else MASK)

    return _quoted.sub(shown, reason)


def _check(check: Check) -> Check:
    """Return a check without what was found, if that may hold values."""
    return check if check.hides_values else replace(check, found="")


#: Digits of an array index.
_DIGITS = 3


class HiddenError(HarpiaFormatsError):
    """An error whose message may hold values of records, and is not shown.

    It has the name of the exception, and in which line of harpia-formats it was raised.
    """

    hides_values = True

    def __init__(self, name: str, where: str) -> None:
        super().__init__(name, where)
        self.name = name
        self.where = where

    def __str__(self) -> str:
        return (
            f"{self.name} in {self.where}: its message may hold values of records, "
            "and is shown only without `--redact`"
        )


class HiddenBug(Exception):  # noqa: N818 - a bug is no error of the user
    """An exception that no data should cause, without its message."""


@contextmanager
def errors_without_values(redaction: Redaction) -> Generator[None, None, None]:
    """Replace an exception raised inside whose message may hold a value of a record.

    Raises `HiddenError` for an error of harpia-formats, `SourceError` and
    `ValidationFailed` without values, and `HiddenBug` for an exception that is none;
    errors of the system and of imports stay as they are.
    """
    found: Exception | None = None
    try:
        yield
    except (OSError, ImportError):
        raise
    except HarpiaFormatsError as error:
        if _is_shown(error, redaction):
            raise
        found = _hidden(error, redaction)
    except Exception as error:  # noqa: BLE001 - its message may hold a value
        found = HiddenBug(f"{type(error).__name__} in {_places(error)}")
    if found is None:
        return
    try:
        raise found from None
    finally:
        found.__context__ = None  # the error replaced, with its message


def problems_without_values(
    found: Generator[Problem, None, None], redaction: Redaction
) -> Generator[Problem, None, None]:
    """Yield problems without values, and raise errors without them.

    `found` is closed when this is.
    """
    try:
        with errors_without_values(redaction):
            for problem in found:
                yield redaction.problem(problem)
    finally:
        found.close()


def _is_shown(error: HarpiaFormatsError, redaction: Redaction) -> bool:
    is_output = isinstance(error, SinkError)
    return error.hides_values and not (is_output and redaction.named_by_values)


def _hidden(error: HarpiaFormatsError, redaction: Redaction) -> HarpiaFormatsError:
    if isinstance(error, ValidationFailed):
        return validation_failed(redaction.report(error.report))
    if isinstance(error, SourceError):
        path, mark, member = error.path.partition("!")
        name = f"{path}{mark}{redaction.member(member)}" if mark else path
        return SourceError(name, redaction.reason(error.reason))
    shown = error.without_values()
    if isinstance(error, SinkError):  # whose place may be named by a value
        is_shown = _is_of_system(error)
        place = redaction.named_by_values
        shown = type(error)(place, error.reason) if is_shown else None
    return shown or HiddenError(type(error).__name__, _places(error, 1))


def _is_of_system(error: SinkError) -> bool:
    """Tell whether the reason of an error is a text of the system, without names."""
    cause = error.__cause__
    if not isinstance(cause, OSError) or cause.strerror is None:
        return False
    return error.reason == error_reason(cause)


def _places(error: Exception, most: int = 5) -> str:
    """Return the lines that raised an error, the innermost first."""
    frames = extract_tb(error.__traceback__, -most)
    return ", ".join(
        f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames)
    )


def redacted_detection(found: Detected) -> Detected:
    """Return the format of a file without the evidence, which may name keys."""
    reason = found.reason and reason_without_names(found.reason)
    return replace(found, why="", nearest="", reason=reason)
