"""The findings of a report by rule and field, with examples, for an HTML report."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from markupsafe import Markup

from harpia_formats.evaluation.plots import Bar, bars
from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import Group
from harpia_formats.reporters.fold import group_pointer
from harpia_formats.reporters.html.environment import macro, render
from harpia_formats.reporters.html.examples import Examples
from harpia_formats.reporters.html.room import Room
from harpia_formats.reporters.html.tables import charts
from harpia_formats.reporters.text import dotted_path

#: Bytes of all rules and fields without their examples.
_FIELDS = 200_000
#: Files that are named for one field.
_FILES = 8
#: Code points of the message of a field, and of what is left of it in one line.
_MESSAGE, _BRIEF = 500, 120
_order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


@dataclass(slots=True)
class Field:
    """The equal findings at one field, over all files."""

    first: Group
    count: int = 0
    baseline: int = 0
    #: How many there are in each file.
    files: Counter[str] = field(default_factory=Counter)
    examples: list[Problem] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The field in dotted form, with the key that is missing."""
        name = dotted_path(self.first.pointer) if self.first.pointer else ""
        if self.first.key:
            return f"{name}.{self.first.key}".removeprefix(".")
        return name or ("the file" if self.first.record is None else "the record")

    @property
    def message(self) -> str:
        """The message of the first one."""
        text = self.first.message
        return text if len(text) <= _MESSAGE else f"{text[:_MESSAGE]}…"

    @property
    def brief(self) -> str:
        """The beginning of the message, without the name of the field."""
        return self.first.message.removeprefix(f"{self.name} ")[:_BRIEF]

    @property
    def shown_files(self) -> list[tuple[str, int]]:
        """The files with the most findings, if there are several."""
        return self.files.most_common(_FILES) if len(self.files) > 1 else []


@dataclass(slots=True)
class FoundRule:
    """A rule with findings, and the fields at which they are."""

    code: str
    name: str
    severity: Severity
    summary: str
    fields: list[Field] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Findings at all fields."""
        return sum(field.count for field in self.fields)


def findings_markup(groups: Iterable[Group], problems: Iterable[Problem]) -> Markup:
    """Return the section of findings, or that there are none."""
    examples = Examples()
    rules = found_rules(groups, problems)
    fields = [(rule, field) for rule in rules for field in rule.fields]
    # Each field has an example before one has two.
    rendered = examples.of_fields(
        [field.examples for _, field in fields],
        [field.first.message for _, field in fields],
    )
    most = max((field.count for _, field in fields), default=0)
    room, one_field = Room(_FIELDS), macro("finding.html", "field")
    shown = room.kept(
        range(len(fields)),
        lambda at: one_field(fields[at][1], rendered[at], most=most, is_open=at == 0),
    )
    kept = iter(shown)
    parts = []
    for rule in rules:
        of_rule = [piece for _, piece in zip(rule.fields, kept, strict=False)]
        parts.append((rule, of_rule, len(rule.fields) - len(of_rule)))
    return render(
        "findings.html",
        rules=[part for part in parts if part[1]],
        rest=[part[0] for part in parts if not part[1]],
        total=sum(rule.count for rule in rules),
        chart=_chart(rules),
        examples=examples,
    )


def found_rules(
    groups: Iterable[Group], problems: Iterable[Problem]
) -> list[FoundRule]:
    """Return the rules with their fields, errors first, the most frequent first."""
    groups = list(groups)
    fields: dict[tuple[str, ...], Field] = {}
    shapes: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for group in groups:
        key = (group.code, group.pointer, group.key, group.cause)
        found = fields.setdefault(key, Field(group))
        found.count += group.count
        found.baseline += group.baseline or 0
        found.files[group.path] += group.count
        shapes[group.path, group.code][group.pointer] = None
    for problem in problems:
        place = problem.place
        shape = group_pointer(place.pointer, shapes[place.path, problem.code])
        key = (problem.code, shape, problem.key, problem.cause)
        if key in fields:
            fields[key].examples.append(problem)
    rules: dict[str, FoundRule] = {}
    for one in fields.values():
        first = one.first
        rule = FoundRule(first.code, first.name, first.severity, "")
        rules.setdefault(first.code, rule).fields.append(one)
    for rule in rules.values():
        rule.summary = _summary(rule.code)
        rule.fields.sort(key=lambda one: (-one.count, one.first.pointer))
    return sorted(
        rules.values(), key=lambda rule: (_order[rule.severity], -rule.count, rule.code)
    )


def _summary(code: str) -> str:
    """Return what a rule requires, "" for one that is not known here."""
    from harpia_formats.formats.registry import all_rules  # noqa: PLC0415 - a page without findings needs no rules

    rule = all_rules().get(code)
    return rule.summary if rule else ""


def _chart(rules: list[FoundRule]) -> Markup:
    """Return bars with the count of each rule."""
    ordered = sorted(rules, key=lambda rule: (-rule.count, rule.code))
    rows = [
        Bar(f"{rule.code} {rule.name}", rule.count, rule.severity.value)
        for rule in ordered
    ]
    chart = bars("plot-rules", "Findings by rule", rows, noun="findings", most=12)
    return Markup().join(charts([chart]))
