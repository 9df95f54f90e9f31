"""Collect the findings on a part of a file as problems, and describe some of them.

Apart from findings on rows, there are those on a broken container and on mixed line
ends.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.formats.rules import Rule
from harpia_formats.formats.rules.json_rules import MIXED_LINE_ENDS
from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.model.problem import (
    Excerpt,
    Path,
    Place,
    Problem,
    Severity,
)
from harpia_formats.validation.plan.units import Broken, Demand, GroupKey
from harpia_formats.validation.unit.findings import (
    FIRST_RECORD,
    NO_FINDINGS,
    Findings,
    KnownGroups,
    SharedGroups,
    UnitResult,
    group_of,
    group_pointer,
)

if TYPE_CHECKING:  # imported only where a row has a problem: start-up time
    from harpia_formats.files.io.unpacked_text import TextPlaces
    from harpia_formats.formats.detection.unexpected_format import DetectionNote
    from harpia_formats.validation.diagnosis.root_causes import Finding, SharedFindings
    from harpia_formats.validation.diagnosis.row_context import RowContext
    from harpia_formats.validation.redaction.shown_words import SchemaWords


#: Returns the row that a finding is about.
RowOf = Callable[["Finding"], "RowContext"]
#: Groups of one file; the tally counts further ones together.
GROUP_LIMIT = 10_000
_NONE = dict.fromkeys(Severity, 0)
#: Problems that are described at most in an answer to another process.
DESCRIBED_LIMIT = 20_000


class TooManyFindings(Exception):  # noqa: N818 - an answer, not an error
    """There are more findings than are worth sending to another process."""


class Collector:
    """Collects the problems of one unit of one file, for `take`."""

    def __init__(  # noqa: PLR0913 - what it collects, and how
        self,
        rules: Mapping[str, Rule],
        name: str,
        examples: int,
        demand: Callable[[], Demand] = Demand,
        *,
        is_sent: bool = False,
        hides_values: bool = False,
    ) -> None:
        """Take the active rules, the file's name and the examples of each group.

        `demand` is asked before the first problem after each `take`. `is_sent` tells
        that the findings go to another process, which limits them: `TooManyFindings`
        is raised beyond. `hides_values` tells that problems of rows are described
        without the values of the rows.
        """
        self.rules = rules
        self.name = name
        self._examples = examples
        self._ask_demand = demand
        self._demand: Demand | None = None
        self._is_sent = is_sent
        self._hides_values = hides_values
        #: The words of the schema by which rows were described last.
        self._words: tuple[Schema, SchemaWords] | None = None
        self._severities = _NONE.copy()
        #: How often each group was found, and how many of these are not described.
        self._times: dict[GroupKey, int] = {}
        self._rows: list[tuple[tuple[GroupKey, Problem], ...]] = []
        self._described: dict[GroupKey, int] = {}
        self._size = 0
        self._known = KnownGroups(rules)
        #: Groups of shared findings of which none is described until the next `take`.
        self._counted: list[SharedGroups] = []
        #: Where the text of the file stands in its members, if it was unpacked.
        self.places: TextPlaces | None = None

    @property
    def has_problems(self) -> bool:
        """Whether any problem was added since the last `take`."""
        return bool(self._times)

    def is_error(self, code: str) -> bool:
        """Return whether a rule makes a record invalid."""
        return self.rules[code].severity is Severity.ERROR

    def place(self, start: Cursor, record: int | None = None) -> Place:
        """Return the place of a single character."""
        column = start.column + 1
        return Place(self.name, start.line, column, column + 1, start.offset, record)

    def line_text(self, line: int) -> str:
        """Return where a line of the text is, such as "line 3"."""
        return f"line {line:,}" if self.places is None else self.places.line_text(line)

    def record_text(self, number: int, line: int) -> str:
        """Return which record a number is, such as "record 2, in line 3".

        The line is left out if it has the number of the record, as in JSON Lines.
        """
        record, where = f"record {number:,}", self.line_text(line)
        return record if where == f"line {number:,}" else f"{record}, in {where}"

    def add(
        self,
        code: str,
        message: str,
        help_: str,
        place: Place,
        excerpt: Excerpt | None = None,
    ) -> None:
        """Add a problem of the file as a whole, if its rule is active."""
        rule = self._described_rule(code)
        if rule is not None:
            problem = Problem(
                code,
                rule.name,
                rule.severity,
                place,
                message,
                help=help_,
                excerpt=excerpt,
            )
            self._describe([((code, "", ""), problem)])

    def add_note(self, note: "DetectionNote") -> None:
        """Add a note on the format of the file, if its rule is active."""
        rule = self._described_rule(note.code)
        if rule is not None:
            problem = Problem(
                note.code,
                rule.name,
                rule.severity,
                self.place(Cursor()),
                note.message,
                help=note.help,
                hides_values=note.hides_values,
            )
            self._describe([((note.code, "", ""), problem)])

    def _described_rule(self, code: str) -> Rule | None:
        """Count a problem of the file as a whole; return its rule if it is described.

        None also if the rule is not active.
        """
        rule = self.rules.get(code)
        is_described = rule is not None and self._count(rule, (code, "", ""))
        return rule if is_described else None

    def groups_of(self, found: "SharedFindings", prefix: Path = ()) -> SharedGroups:
        """Return the groups of findings; `prefix` is the path of rows in records."""
        return self._known.of(found, prefix)

    def add_row_findings(
        self,
        findings: "Iterable[Finding | SharedFindings]",
        row_of: RowOf,
        schema: Schema,
        prefix: Path = (),
    ) -> None:
        """Add findings as `add_findings` does, with those that many rows share.

        Rules of shared findings need not be active.
        """
        from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - imported only where a row has a problem

        held: list[Finding] = []
        for finding in findings:
            if isinstance(finding, Finding):
                held.append(finding)
                continue
            groups = self._known.of(finding, prefix)
            if groups.is_counted:
                groups.rows += 1
                continue
            held += [one for one in finding.findings() if one.code in self.rules]
            self.add_findings(held, row_of, schema, prefix)
            held = []
            if not self._is_described(groups):
                groups.is_counted = True
                self._counted.append(groups)
        self.add_findings(held, row_of, schema, prefix)

    def _is_described(self, shared: SharedGroups) -> bool:
        """Return whether the next findings of one of the groups are described."""
        demand = self._demand = self._demand or self._ask_demand()
        for _, group in shared.groups:
            times = self._times.get(group, 0) + 1
            if demand.needs(group) and not self._has_enough(demand, times):
                return True
        return False

    def _count_shared(self) -> None:
        """Add the findings of the rows that were only counted to the counts."""
        for shared in self._counted:
            for rule, group in shared.groups:
                self._severities[rule.severity] += shared.rows
                self._times[group] += shared.rows
            shared.rows, shared.is_counted = 0, False
        self._counted.clear()

    def add_findings(
        self,
        findings: "Iterable[Finding]",
        row_of: RowOf,
        schema: Schema,
        prefix: Path = (),
        also: str = "",
    ) -> None:
        """Add findings on rows, in order of the rows; all their rules are active.

        `prefix` is the path of each row in its record. `also` is a further help.
        """
        described: list[tuple[GroupKey, Problem]] = []
        row: RowContext | None = None
        number = -1
        for finding in findings:
            if finding.row != number:
                self._describe(described)
                described, row, number = [], None, finding.row
            rule = _of_finding(self.rules[finding.code], finding)
            group = group_of(finding, prefix)
            if not self._count(rule, group):
                continue
            row = row or row_of(finding)
            problem = self._problem_of(finding, rule, row, schema)
            if also:
                problem = replace(problem, help=f"{problem.help}, {also}")
            described.append((group, problem))
        self._describe(described)

    def _problem_of(
        self, finding: "Finding", rule: Rule, row: "RowContext", schema: Schema
    ) -> Problem:
        """Return the problem for a finding on a row."""
        if not self._hides_values:
            from harpia_formats.validation.diagnosis.messages import problem_of  # noqa: PLC0415 - imported only where a row has a problem

            return problem_of(finding, rule, row, schema)
        from harpia_formats.validation.diagnosis.hidden_values import hidden_problem_of  # noqa: PLC0415 - most runs show values
        from harpia_formats.validation.redaction.shown_words import SchemaWords  # noqa: PLC0415 - most runs show values

        if self._words is None or self._words[0] is not schema:
            self._words = schema, SchemaWords(schema)
        return hidden_problem_of(finding, rule, row, schema, self._words[1])

    def count_only(self, code: str, path: Path) -> bool:
        """Count a finding at `path` if it is not described; return whether it is not.

        Its rule is active, and findings on it differ in nothing but their path.
        """
        rule, group = self.rules[code], (code, group_pointer(path), "")
        demand = self._demand = self._demand or self._ask_demand()
        times = self._times.get(group, 0) + 1
        if demand.needs(group) and not self._has_enough(demand, times):
            return False
        self._count(rule, group)
        return True

    def needs(self, code: str, path: Path) -> bool:
        """Return whether some of the next findings at `path` may be described."""
        demand = self._demand = self._demand or self._ask_demand()
        return demand.needs((code, group_pointer(path), ""))

    def count_many(self, code: str, path: Path, times: int) -> None:
        """Count so many findings at `path`: `needs` is false, and their rule active."""
        group = (code, group_pointer(path), "")
        self._severities[self.rules[code].severity] += times
        self._times[group] = self._times.get(group, 0) + times

    def take(self) -> Findings:
        """Return what was added since the last call, and forget it."""
        self._count_shared()
        if not self._times:
            return NO_FINDINGS
        counts, described = self._severities, self._described
        rest = (
            (group, times - described.get(group, 0))
            for group, times in self._times.items()
        )
        found = Findings(
            counts[Severity.ERROR],
            counts[Severity.WARNING],
            counts[Severity.NOTE],
            tuple(self._rows),
            tuple((group, times) for group, times in rest if times),
        )
        self._severities = _NONE.copy()
        self._times, self._rows, self._described = {}, [], {}
        self._demand = None
        return found

    def _count(self, rule: Rule, group: GroupKey) -> bool:
        """Count a finding; return whether it may serve as an example.

        Raises `TooManyFindings`.
        """
        self._severities[rule.severity] += 1
        times = self._times[group] = self._times.get(group, 0) + 1
        if self._is_sent and len(self._times) > GROUP_LIMIT:
            raise TooManyFindings
        demand = self._demand = self._demand or self._ask_demand()
        if not demand.needs(group):
            return False
        return not self._has_enough(demand, times)

    def _has_enough(self, demand: Demand, times: int) -> bool:
        """Return whether finding number `times` of a group is no example any more."""
        # The first of a group is always described: it has the place of the group.
        if times == 1:
            return False
        return demand.firsts_only or bool(self._examples and times > self._examples)

    def _describe(self, row: list[tuple[GroupKey, Problem]]) -> None:
        """Keep the described problems of a row. Raises `TooManyFindings`."""
        if not row:
            return
        self._rows.append(tuple(row))
        for group, _ in row:
            self._described[group] = self._described.get(group, 0) + 1
        self._size += len(row)
        if self._is_sent and self._size > DESCRIBED_LIMIT:
            raise TooManyFindings


def _of_finding(rule: Rule, finding: "Finding") -> Rule:
    """Return the rule of a finding, with the severity of that if it is milder."""
    milder: Severity | None = getattr(finding.about, "severity", None)
    if milder is None or _order.index(milder) <= _order.index(rule.severity):
        return rule
    return replace(rule, severity=milder)


#: The severities, the most severe first.
_order = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


#: The rule, message and help for each kind of fault.
_messages = {
    "bom": (
        "J201",
        "the file begins with a byte order mark",
        "save it as UTF-8 without one",
    ),
    "oversize": (
        "J110",
        "a row of {size:,} bytes is longer than the limit of {limit:,}",
        "put line ends where they belong, or raise the limit with `--max-row-bytes`",
    ),
    "empty": (
        "J111",
        "the file holds no records",
        "run again what should have written it",
    ),
    "spread": (
        "J113",
        "several JSON values, spread over lines: neither one document nor JSON Lines",
        "write each record in a line of its own, as with: jq -c . FILE",
    ),
    "unclosed": (
        "J112",
        "the file ends before the array is closed",
        "add the missing ]",
    ),
    "trailing": ("J112", "there is more behind the end of the array", "remove it"),
    "missing-item": ("J112", "no record stands next to this comma", "remove the comma"),
}


def container_message(fault: FramingFault, limit: int) -> tuple[str, str, str]:
    """Return the code of the rule, the message and the help for `fault`.

    `limit` is the number of bytes that a row may have.
    """
    code, message, help_ = _messages[fault.kind]
    return code, message.format(size=fault.size, limit=limit), help_


def report_broken(unit: Broken, collector: Collector, limit: int) -> UnitResult:
    """Report bytes that are not rows to `collector`; a record may be lost in them.

    `limit` is the number of bytes that a row may have.
    """
    fault = unit.fault
    code, message, help_ = container_message(fault, limit)
    number = unit.before + 1 if fault.record else None
    lost = FIRST_RECORD if fault.record else b""
    collector.add(code, message, help_, collector.place(fault.start, number))
    is_active = code in collector.rules
    is_invalid = is_active and collector.is_error(code)
    return UnitResult(
        records=int(fault.record),
        invalid=lost if is_invalid else b"",
        undetermined=b"" if is_invalid else lost,
        unreported=() if is_active or not lost else (code,),
    )


#: The first LF and the first CRLF, as far as there are any.
LineEnds = tuple[Cursor | None, Cursor | None]


def line_ends_of(chunk: Chunk) -> LineEnds:
    """Return the first LF and the first CRLF of rows that are lines."""
    chunk = chunk.in_file
    data = chunk.data
    crlf = stringzilla.find(data, b"\r\n")
    lf = stringzilla.find(data, b"\n")
    while lf > 0 and data[lf - 1 : lf] == b"\r":
        lf = data.find(b"\n", lf + 1)
    return _cursor(chunk, lf), _cursor(chunk, crlf)


def _cursor(chunk: Chunk, at: int) -> Cursor | None:
    return None if at < 0 else chunk.start.after(chunk.data[:at])


def report_mixed(ends: LineEnds, collector: Collector) -> None:
    """Report that lines end differently, if they do."""
    lf, crlf = ends
    if lf is None or crlf is None:
        return
    is_crlf = crlf.offset > lf.offset
    names = ("CRLF", "LF") if is_crlf else ("LF", "CRLF")
    first, odd = (lf, crlf) if is_crlf else (crlf, lf)
    message = f"this line ends with {names[0]}, and line {first.line:,} with {names[1]}"
    help_ = "save the file with one kind of line ends"
    collector.add(MIXED_LINE_ENDS, message, help_, collector.place(odd))
