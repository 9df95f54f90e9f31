from collections.abc import Iterable
from dataclasses import replace

import pytest

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.registry import all_rules
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path, Problem
from harpia_formats.validation.diagnosis.root_causes import Finding
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.plan.units import Demand
from harpia_formats.validation.unit import collector as collectors
from harpia_formats.validation.unit.collector import Collector, TooManyFindings

TEXTS = [b'{"a": 1, "b": [1, 2]}', b'{"a": 3, "b": []}']
RULES = {code: all_rules()[code] for code in ("S102", "J201", "J202")}


def collector_of(examples: int = 5, demand: Demand | None = None) -> Collector:
    """Return a collector of problems of one file."""
    return Collector(RULES, "a.jsonl", examples, lambda: demand or Demand())


def finding(row: int, *path: str | int) -> Finding:
    """Return a remark on a value of a row."""
    return Finding("S102", row, Remark("S102", path, f"wrong at {path}"))


def row_of(finding: Finding) -> RowContext:
    """Return the row that a finding is about."""
    start = Cursor(finding.row * 30, finding.row + 1)
    return RowContext("a.jsonl", TEXTS[finding.row], start, finding.row + 1)


def described(
    collector: Collector, findings: Iterable[Finding], prefix: Path = ()
) -> list[Problem]:
    """Return the problems that are described of some findings."""
    collector.add_findings(findings, row_of, schema=True, prefix=prefix)
    return [problem for row in collector.take().described for _, problem in row]


def test_problems_come_row_by_row_with_their_groups() -> None:
    """The problems of a row are together, each with its code, pointer and key."""
    collector = collector_of()
    findings = [finding(0, "b", 1), finding(0, "a"), finding(1, "b")]
    collector.add_findings(findings, row_of, schema=True)
    found = collector.take().described

    assert [[group for group, _ in row] for row in found] == [
        [("S102", "/b/*", ""), ("S102", "/a", "")],
        [("S102", "/b", "")],
    ]


def test_prefix_is_part_of_the_pointer_of_the_group() -> None:
    """The group of an item of a column has the path of the column in its record."""
    collector = collector_of()
    collector.add_findings([finding(0, "a")], row_of, schema=True, prefix=("column",))
    ((row,),) = (collector.take().described,)

    assert row[0][0] == ("S102", "/column/a", "")


def test_findings_beyond_the_examples_are_counted_and_not_described() -> None:
    """A problem that is not needed as an example is counted, and costs no text."""
    asked: list[int] = []

    def counted(found: Finding) -> RowContext:
        asked.append(found.row)
        return row_of(found)

    collector = collector_of(examples=1)
    findings = [finding(0, "b", item) for item in (0, 1)] + [finding(1, "a")]
    collector.add_findings(findings, counted, schema=True)
    found = collector.take()

    assert len(found.described) == 2
    assert found.counted == ((("S102", "/b/*", ""), 1),)
    assert found.errors == 3
    assert asked == [0, 1]


def test_groups_that_have_their_examples_are_only_counted() -> None:
    """What the caller has examples of is not described, not even the first."""
    collector = collector_of(demand=Demand(frozenset({("S102", "/a", "")})))
    findings = [finding(0, "a"), finding(0, "b"), finding(1, "a")]

    assert [each.place.pointer for each in described(collector, findings)] == ["/b"]


def test_only_firsts_are_described_if_no_more_are_needed() -> None:
    """If there are examples enough, of each group only the first is described."""
    collector = collector_of(demand=Demand(firsts_only=True))
    findings = [finding(0, "a"), finding(0, "b"), finding(1, "a")]

    assert len(described(collector, findings)) == 2


def test_new_groups_of_a_full_file_are_only_counted() -> None:
    """A group that is counted with others needs no example if they have theirs."""
    known = frozenset({("S102", "/a", "")})
    demand = Demand(satisfied_rest=frozenset({"S102"}), named=known)
    collector = collector_of(demand=demand)
    findings = [finding(0, "a"), finding(0, "b"), finding(1, "b")]

    assert [each.place.pointer for each in described(collector, findings)] == ["/a"]


def test_take_forgets_what_it_returned() -> None:
    """What was taken is not returned again."""
    collector = collector_of()
    described(collector, [finding(0, "a")])

    assert not collector.take()


def test_row_is_made_once_for_all_its_findings() -> None:
    """A row with several findings is looked up once."""
    asked: list[int] = []

    def counted(found: Finding) -> RowContext:
        asked.append(found.row)
        return row_of(found)

    findings = [finding(0, "a"), finding(0, "b"), finding(0)]
    collector_of(examples=0).add_findings(findings, counted, schema=True)

    assert asked == [0]


def test_problem_of_the_file_has_its_rule_and_place() -> None:
    """A problem of a file as a whole has the name of its rule, and its place."""
    collector = collector_of()
    place = collector.place(Cursor(7, 3, 4), 2)
    collector.add("J201", "a message", "a help", place)
    found = collector.take()
    (((_, problem),),) = found.described

    assert (problem.name, problem.message, problem.help) == (
        "byte-order-mark",
        "a message",
        "a help",
    )
    assert (place.path, place.line, place.column, place.end_column) == (
        "a.jsonl",
        3,
        5,
        6,
    )
    assert (place.byte_offset, place.record) == (7, 2)
    assert (found.errors, found.warnings, found.notes) == (0, 1, 0)


def test_rule_that_is_not_active_adds_nothing() -> None:
    """A problem whose rule is not active is neither described nor counted."""
    collector = collector_of()
    collector.add("J112", "a message", "", collector.place(Cursor()))
    found = collector.take()

    assert not found
    assert found.errors == 0


@pytest.mark.parametrize("limit", ["DESCRIBED_LIMIT", "GROUP_LIMIT"])
def test_findings_that_are_sent_are_limited(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """More findings than are worth sending are an exception; others are not limited."""
    monkeypatch.setattr(collectors, limit, 1)
    findings = [finding(0, "a"), finding(0, "b"), finding(1, "a")]
    sent = Collector(RULES, "a.jsonl", 0, is_sent=True)

    assert len(described(collector_of(), findings)) == 3
    with pytest.raises(TooManyFindings):
        described(sent, findings)


@pytest.mark.parametrize(("code", "expected"), [("S102", True), ("J201", False)])
def test_only_errors_make_a_record_invalid(code: str, expected: bool) -> None:
    """A warning or a note is no error."""
    assert collector_of().is_error(code) == expected


def test_severity_is_that_of_the_active_rules() -> None:
    """A rule with a lower severity reports with it."""
    mild = replace(RULES["S102"], severity=RULES["J202"].severity)
    collector = Collector({"S102": mild}, "a.jsonl", 5)
    (problem,) = described(collector, [finding(0, "a")])

    assert problem.severity is mild.severity
    assert not collector.is_error("S102")
