from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.formats.registry import all_rules
from harpia_formats.model.problem import Path, Place, Problem, Severity
from harpia_formats.model.report import Report
from harpia_formats.validation.merge.tally import GROUP_REST, Tally
from harpia_formats.validation.unit.collector import GROUP_LIMIT

RULES = all_rules()
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


def test_counts_by_severity() -> None:
    """Errors, warnings and notes are counted apart."""
    report = tallied([("S101", ()), ("S101", ()), ("J201", ()), ("J202", ())])
    (count,) = report.files

    assert (count.errors, count.warnings, count.notes) == (2, 1, 1)


def test_groups_have_exact_counts_and_their_first_place() -> None:
    """A group is a code at a pointer, with its count and where it was first."""
    report = tallied([("S102", ("a", 0, "b")), ("S101", ()), ("S102", ("a", 7, "b"))])
    groups = [
        (each.code, each.pointer, each.count, each.line) for each in report.groups
    ]

    assert groups == [("S102", "/a/*/b", 2, 1), ("S101", "", 1, 2)]


def test_keeps_the_first_examples_of_each_group() -> None:
    """As many examples are kept of each group as asked for, the first ones."""
    report = tallied([("S101", ()), ("S102", ("a",))] * 9, examples=2)

    assert [each.place.line for each in report.problems] == [1, 2, 3, 4]
    assert report.errors == 18


def test_keeps_so_many_in_all() -> None:
    """Not more examples are kept in all than asked for; counts stay exact."""
    report = tallied([("S102", (each,)) for each in "abcdefg"], max_problems=3)

    assert [each.place.line for each in report.problems] == [1, 2, 3]
    assert len(report.groups) == report.errors == 7


def test_zero_is_no_cap() -> None:
    """Without caps every problem is kept."""
    report = tallied([("S101", ())] * 2_000, examples=0, max_problems=0)

    assert len(report.problems) == 2_000


def test_files_have_groups_of_their_own() -> None:
    """The same finding in two files is two groups."""
    tally = Tally()
    for each in ("a", "b"):
        tally.begin(each)
        kept_problems(tally, "S101", ())
    groups = [(each.path, each.count) for each in tally.report().groups]

    assert groups == [("a", 1), ("b", 1)]


def test_groups_of_one_file_are_bounded() -> None:
    """Beyond the limit further pointers are one group, and every count is exact."""
    tally = Tally()
    for name in ("a", "b"):
        tally.begin(name)
        for number in range(GROUP_LIMIT + 5):
            kept_problems(tally, "S102", (f"k{number}",))
        kept_problems(tally, "S102", ("k0",))
    groups = tally.report().groups

    assert len(groups) == 2 * (GROUP_LIMIT + 1)
    assert [each.count for each in groups if each.pointer == GROUP_REST] == [5, 5]
    assert [each.count for each in groups if each.pointer == "/k0"] == [2, 2]


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


@pytest.mark.parametrize("path", [("a*b",), ("*",), ("a/b", "c~d")])
def test_pointers_of_groups_are_escaped(path: Path) -> None:
    """A group's pointer is a JSON pointer, odd keys included."""
    (group,) = tallied([("S102", path)]).groups

    assert group.pointer in {"/a*b", "/*", "/a~1b/c~0d"}


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


def test_groups_beyond_the_limit_need_no_problem_after_their_first() -> None:
    """Groups beyond the limit are one group, which needs one first problem."""
    tally = Tally(examples=0, max_problems=1)
    count = tally.begin("a")
    for number in range(GROUP_LIMIT + 1):
        kept_problems(tally, "S101", (str(number),))
    demand = tally.demand(count)

    assert not demand.needs(("S101", "/other", ""))
    assert demand.needs(("S102", "/other", ""))
