"""From findings to problems that are counted, and kept as far as they are wanted."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harpia_formats.framing.chunk import Cursor
from harpia_formats.model.problem import Excerpt, Path, Place, Problem, Severity
from harpia_formats.rules import Rule
from harpia_formats.schema.load import Schema
from harpia_formats.validation.file.tally import Tally

if TYPE_CHECKING:  # what is wrong costs its import only where something is
    from harpia_formats.validation.diagnosis.finding import Finding
    from harpia_formats.validation.diagnosis.row_context import Row
    from harpia_formats.validation.parallel.worker_tally import Notes

#: Returns the row that a finding is about.
RowOf = Callable[["Finding"], "Row"]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Says what the rules in force want said of one file."""

    rules: Mapping[str, Rule]
    tally: "Tally | Notes"
    path: str

    def say(
        self,
        code: str,
        message: str,
        help_: str,
        place: Place,
        excerpt: Excerpt | None = None,
    ) -> Iterator[Problem]:
        """Yield a problem of the file as a whole, if it is wanted."""
        rule = self.rules.get(code)
        if rule is None or not self.tally.wants(rule, ()):
            return
        problem = Problem(
            code,
            rule.name,
            rule.severity,
            place,
            message,
            help=help_,
            excerpt=excerpt,
        )
        if self.tally.add(problem, ()):
            yield problem

    def findings(
        self,
        findings: "Iterable[Finding]",
        row_of: RowOf,
        schema: Schema,
        prefix: Path = (),
    ) -> Iterator[Problem]:
        """Yield what is kept of findings that are in order of their rows.

        `prefix` is where in its record each row is.
        """
        kept: list[Problem] = []
        row: Row | None = None
        number = -1
        for each in findings:
            if each.row != number:
                yield from _in_reading_order(kept)
                kept, row, number = [], None, each.row
            rule = self.rules[each.code]
            path = (*prefix, *each.path) if prefix else each.path
            if not self.tally.wants(rule, path, each.missing_key):
                continue
            row = row or row_of(each)
            from harpia_formats.validation.diagnosis.to_problem import problem_of  # noqa: PLC0415 - as above

            problem = problem_of(each, rule, row, schema)
            if self.tally.add(problem, path, each.missing_key):
                kept.append(problem)
        yield from _in_reading_order(kept)

    def is_error(self, code: str) -> bool:
        """Tell whether a rule makes a record invalid."""
        return self.rules[code].severity is Severity.ERROR

    def place(self, start: Cursor, record: int | None = None) -> Place:
        """Return the place of a single character."""
        column = start.column + 1
        return Place(self.path, start.line, column, column + 1, start.offset, record)


def _in_reading_order(problems: list[Problem]) -> list[Problem]:
    """Return the problems of one row by their places."""
    problems.sort(key=lambda each: each.place.byte_offset)
    return problems
