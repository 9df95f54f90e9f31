"""Laws of what is counted, and of what is described of it, in units and in all."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import FileCount, Place, Problem, Report, Severity, validate
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.plugins import Path, Remark
from harpia_formats.validation.diagnosis.root_causes import Finding
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.merge.file_merge import Outcomes
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.plan.units import Demand
from harpia_formats.validation.unit.collector import GROUP_LIMIT, Collector
from harpia_formats.validation.unit.findings import (
    FIRST_RECORD,
    RecordNumbers,
    RecordSet,
    add_counts,
)
from known_formats import RULES

OUTCOMES = st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=60)


def bits_of(numbers: set[int]) -> bytes:
    """Return a set of record numbers as bits."""
    found = RecordSet()
    for number in numbers:
        found.add(number)
    return bytes(found.bits)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 20)), max_size=40))
def test_each_record_is_counted_once(notes: list[tuple[bool, int]]) -> None:
    """A record is invalid, undetermined or neither, however often it is noted."""
    count = FileCount("a", records=20)
    outcomes = Outcomes(count)
    for is_invalid, number in notes:
        if is_invalid:
            outcomes.add_invalid(number)
        else:
            outcomes.add(b"", FIRST_RECORD, number - 1)
    invalid = {number for is_invalid, number in notes if is_invalid}
    unknown = {number for _, number in notes} - invalid

    assert (count.invalid, count.undetermined) == (len(invalid), len(unknown))
    assert count.valid == 20 - len(invalid | unknown)


@given(OUTCOMES, OUTCOMES, st.integers(0, 70))
def test_results_of_units_add_up(
    first: list[tuple[bool, int]], second: list[tuple[bool, int]], before: int
) -> None:
    """Units give the counts and sets of one unit, wherever they begin or overlap."""
    units, whole = Outcomes(FileCount("a")), Outcomes(FileCount("a"))
    sets: list[tuple[set[int], set[int]]] = []
    for part, start in ((first, 0), (second, before)):
        invalid = {number for is_invalid, number in part if is_invalid}
        unknown = {number for is_invalid, number in part if not is_invalid}
        units.add(bits_of(invalid), bits_of(unknown), start)
        sets.append(
            ({start + each for each in invalid}, {start + each for each in unknown})
        )
    invalid, unknown = (set().union(*each) for each in zip(*sets, strict=True))
    whole.add(bits_of(invalid), bits_of(unknown), 0)

    assert units.count == whole.count
    assert units.count.invalid == len(invalid)
    assert units.count.undetermined == len(unknown - invalid)
    assert {each for each in range(200) if each in units.invalid} == invalid
    assert {each for each in range(200) if each in units.undetermined} == unknown


@given(st.sets(st.integers(1, 40)), st.sets(st.integers(1, 40)), st.data())
def test_accepted_records_are_known(
    invalid: set[int], undetermined: set[int], data: st.DataObject
) -> None:
    """Records are valid if none of them is invalid or without a verdict."""
    outcomes = Outcomes(FileCount("a"))
    for number in invalid:
        outcomes.invalid.add(number)
    for number in undetermined:
        outcomes.undetermined.add(number)
    before, count = data.draw(st.integers(0, 45)), data.draw(st.integers(0, 45))
    asked = set(range(before + 1, before + count + 1))

    assert outcomes.are_valid(before, count) == asked.isdisjoint(invalid | undetermined)


NUMBERS = st.lists(st.integers(1, 200), max_size=30)


@given(NUMBERS, NUMBERS)
def test_record_set_is_a_set(numbers: list[int], gone: list[int]) -> None:
    """It holds what was added and not removed, in whatever order that came."""
    records = RecordSet()
    for number in numbers:
        records.add(number)
    for number in gone:
        records.discard(number)
    left = set(numbers) - set(gone)

    assert {number for number in range(300) if number in records} == left
    assert records.count == len(left)


def test_record_set_needs_a_bit_for_each_record() -> None:
    """A million records need an eighth of a megabyte."""
    records = RecordSet()
    records.add(1_000_000)

    assert len(records.bits) == 125_001


@given(st.integers(0, 9), st.lists(st.booleans(), min_size=1, max_size=20))
def test_blank_rows_have_no_number(before: int, blank: list[bool]) -> None:
    """Records are numbered on from those before, past the blank rows."""
    numbers = RecordNumbers(
        before, [row for row, is_blank in enumerate(blank) if is_blank]
    )
    records = [row for row, is_blank in enumerate(blank) if not is_blank]
    expected = range(before + 1, before + 1 + len(records))

    assert [numbers.of(row) for row in records] == list(expected)


PROBLEM = Problem("S101", "missing-key", Severity.ERROR, Place("a", 1, 2, 3, 4, 5), "")


def kept_problems(tally: Tally, code: str, path: Path, line: int = 1) -> list[Problem]:
    """Have `tally` count a problem of the last file; return it if it is kept."""
    rule, count = RULES[code], tally.files[-1]
    problem = replace(
        PROBLEM,
        code=code,
        name=rule.name,
        severity=rule.severity,
        place=replace(PROBLEM.place, line=line, path=count.path),
    )
    kept = tally.add(count, rule, lambda: problem, path)
    return [] if kept is None else [kept]


def tallied(
    findings: list[tuple[str, Path]], examples: int = 5, max_problems: int = 1000
) -> Report:
    """Return the report on the findings of one file."""
    tally = Tally(examples, max_problems)
    tally.begin("a")
    kept = [
        problem
        for number, (code, path) in enumerate(findings, 1)
        for problem in kept_problems(tally, code, path, number)
    ]
    return replace(tally.report(), problems=tuple(kept))


KINDS = st.tuples(
    st.sampled_from(["S101", "J201", "J202"]),
    st.sampled_from([(), ("a",), ("a", 1), ("a", 2)]),
)


@given(st.lists(KINDS), st.integers(0, 3), st.integers(0, 5))
def test_groups_add_up(
    findings: list[tuple[str, Path]], examples: int, most: int
) -> None:
    """Whatever the caps, the groups hold every finding exactly once."""
    report = tallied(findings, examples=examples, max_problems=most)
    (count,) = report.files

    assert sum(each.count for each in report.groups) == len(findings)
    assert count.errors + count.warnings + count.notes == len(findings)
    assert not most or len(report.problems) <= most


def test_known_groups_need_no_problem_when_there_are_examples_enough() -> None:
    """After the last example, only the first problem of a new group is described."""
    tally = Tally(examples=0, max_problems=2)
    count = tally.begin("a")
    for path in (("a",), ("b",), ("c",)):
        kept_problems(tally, "S101", path)
    demand, sent = tally.demand(count), tally.demand(count, most=10)

    assert demand.firsts_only
    assert not any(demand.needs(("S101", f"/{key}", "")) for key in "abc")
    assert not any(sent.needs(("S101", f"/{key}", "")) for key in "abc")
    assert demand.needs(("S101", "/d", ""))


@for_each_case(
    "examples, most, kept",
    [(0, 0, 7), (1, 0, 2), (3, 0, 4), (0, 4, 4), (3, 2, 2), (3, 1, 1), (9, 9, 7)],
)
def test_as_many_examples_are_kept_as_are_wanted(
    examples: int, most: int, kept: int
) -> None:
    """The caps are those of each group, and of all problems; 0 is none."""
    findings: list[tuple[str, Path]] = [("S101", ()), *[("S101", ("a",))] * 6]

    assert len(tallied(findings, examples, most).problems) == kept


@pytest.mark.parametrize(("examples", "most"), [(0, 1), (1, 0)])
def test_groups_beyond_the_limit_need_no_problem_after_their_first(
    examples: int, most: int
) -> None:
    """Groups beyond the limit are one group, which needs one first problem."""
    tally = Tally(examples, most)
    count = tally.begin("a")
    for number in range(GROUP_LIMIT + 1):
        kept_problems(tally, "S101", (str(number),))
    demand = tally.demand(count)

    assert not demand.needs(("S101", "/other", ""))
    assert demand.needs(("S102", "/other", ""))


#: The lines of a file of two rows.
LINES = [b'{"a": 1, "b": [1, 2]}', b'{"a": 3, "b": []}']


def finding(row: int, *path: str | int) -> Finding:
    """Return a remark on a value of a row."""
    return Finding("S102", row, Remark("S102", path, f"wrong at {path}"))


def described(
    findings: Iterable[Finding], demand: Demand | None = None, examples: int = 5
) -> tuple[list[str], list[int], Any]:
    """Return where the described problems are, the rows that this took, and all."""
    asked: list[int] = []

    def row_of(found: Finding) -> RowContext:
        asked.append(found.row)
        return RowContext(
            "f", LINES[found.row], Cursor(0, found.row + 1), found.row + 1
        )

    rules = {code: RULES[code] for code in ("S102", "J201", "J202")}
    collector = Collector(rules, "f", examples, lambda: demand or Demand())
    collector.add_findings(findings, row_of, schema=True)
    taken = collector.take()
    assert not collector.take()
    rows = taken.described
    return [one.place.pointer for row in rows for _, one in row], asked, taken


@for_each_case(
    "demand, found",
    [
        # What the caller has examples of is not described, not even the first.
        (Demand(frozenset({("S102", "/a", "")})), ["/b"]),
        (Demand(firsts_only=True), ["/a", "/b"]),
        # A group that is counted with others needs no example if they have theirs.
        (
            Demand(
                satisfied_rest=frozenset({"S102"}),
                named=frozenset({("S102", "/a", "")}),
            ),
            ["/a", "/a"],
        ),
        (Demand(), ["/a", "/b", "/a"]),
    ],
)
def test_only_examples_that_are_needed_are_described(
    demand: Demand, found: list[str]
) -> None:
    """A unit describes what the whole file lacks examples of, and counts the rest."""
    findings = [finding(0, "a"), finding(0, "b"), finding(1, "a")]
    pointers, _, taken = described(findings, demand)

    assert pointers == found
    assert taken.errors == 3


def test_findings_beyond_the_examples_are_counted_and_not_described() -> None:
    """A problem that is not needed as an example costs no text; a row is made once."""
    findings = [finding(0, "b", 0), finding(0, "b", 1), finding(0), finding(1, "a")]
    pointers, asked, taken = described(findings, examples=1)

    assert pointers == ["/b/0", "", "/a"]
    assert taken.counted == ((("S102", "/b/*", ""), 1),)
    assert asked == [0, 1]


def test_what_is_needed_is_asked_again_for_each_unit() -> None:
    """A group that had its examples in one unit is not described in the next."""
    demands = iter([Demand(), Demand(frozenset({("S102", "/a", "")}))])
    collector = Collector({"S102": RULES["S102"]}, "f", 5, lambda: next(demands))
    row = RowContext("f", LINES[0], Cursor(), 1)
    taken = []
    for _ in range(2):
        collector.add_findings([finding(0, "a")], lambda _: row, schema=True)
        taken.append(collector.take())

    assert [each.errors for each in taken] == [1, 1]
    assert [len(each.described) for each in taken] == [1, 0]


def test_wrong_rows_are_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many rows with the same faults, those beyond the examples are only counted."""
    looked_at = 0
    count = Collector._count  # noqa: SLF001 - every finding that is made is added there

    def noted(self: Collector, *given: Any) -> bool:
        nonlocal looked_at
        looked_at += 1
        return count(self, *given)

    monkeypatch.setattr(Collector, "_count", noted)
    report = validate(b"{}\n" * 50_000, format="eee")

    assert [group.count for group in report.groups] == [50_000] * 9
    assert looked_at < 1000


def test_counts_of_more_than_10000_kinds_are_given_up() -> None:
    """So many kinds of values are counted; with one more, nothing is known of any."""
    many = {f"kind {number}": 1 for number in range(9_999)}
    counts: dict[str, int] = {}
    for more in (many, {"kind 0": 2, "last": 1}, {}):
        add_counts(counts, more)

    assert counts == many | {"kind 0": 3, "last": 1}
    for _ in range(2):
        add_counts(counts, {"other": 1})
        assert counts == {"": 1}
