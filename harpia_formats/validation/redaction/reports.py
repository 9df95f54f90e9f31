"""Take the values of records out of problems, reports and reasons."""

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from harpia_formats.formats.registry import all_rules
from harpia_formats.model.check import Check
from harpia_formats.model.problem import Place, Problem
from harpia_formats.model.report import FileCount, Group, Report
from harpia_formats.validation.redaction.words import MASK, SchemaWords

#: What a reason quotes, and behind which row or member reading ended.
_quoted = re.compile(r"'.*'|\".*\"|`.*`| \((?:after|before) .*\)\Z", re.DOTALL)


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
        if problem.hides_values:
            return replace(problem, place=place)
        rule = self._rules.get(problem.code)
        return Problem(
            code=problem.code,
            name=problem.name,
            severity=problem.severity,
            place=replace(place, pointer=self.pointer(place.pointer)),
            message=rule.summary if rule is not None else "",
            schema_pointer=problem.schema_pointer,
            key=self.words.masked(problem.key),
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
        groups: dict[tuple[str, str, str, str], Group] = {}
        for group in report.groups:
            self._add(group, groups)
        return replace(
            report,
            files=tuple(map(self.file, report.files)),
            groups=tuple(groups.values()),
            problems=tuple(map(self.problem, report.problems)),
            checks=tuple(map(_check, report.checks)),
        )

    def _add(
        self, group: Group, groups: dict[tuple[str, str, str, str], Group]
    ) -> None:
        """Add a group to those of the same file, code, pointer and key."""
        pointer = self.words.pointer(group.pointer)
        key = self.words.masked(group.key)
        rule = self._rules.get(group.code)
        found = groups.get((group.path, group.code, pointer, key))
        if found is not None:
            found.count += group.count
            if group.baseline is not None:
                found.baseline = (found.baseline or 0) + group.baseline
            return
        groups[group.path, group.code, pointer, key] = replace(
            group,
            pointer=pointer,
            key=key,
            cause="",
            message=rule.summary if rule is not None else "",
            member=self.member(group.member),
        )

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
    return _quoted.sub(lambda found: "" if found[0].startswith(" ") else MASK, reason)


def _check(check: Check) -> Check:
    """Return a check without what was found, if that may hold values."""
    return check if check.hides_values else replace(check, found="")


#: Digits of an array index.
_DIGITS = 3
