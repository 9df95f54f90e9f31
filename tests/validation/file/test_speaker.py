from collections.abc import Iterable
from dataclasses import replace

import pytest

from harpia_formats.framing.chunk import Cursor
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path, Problem
from harpia_formats.registry import all_rules
from harpia_formats.validation.diagnosis.finding import Finding
from harpia_formats.validation.diagnosis.row_context import Row
from harpia_formats.validation.file.emit import Speaker
from harpia_formats.validation.file.tally import Tally

TEXTS = [b'{"a": 1, "b": [1, 2]}', b'{"a": 3, "b": []}']
RULES = {each: all_rules()[each] for each in ("S102", "J201", "J202")}


def speaker(examples: int = 5) -> tuple[Speaker, Tally]:
    """Return a speaker on one file, and its tally."""
    tally = Tally(examples)
    tally.begin("a.jsonl")
    return Speaker(RULES, tally, "a.jsonl"), tally


def finding(row: int, *path: str | int) -> Finding:
    """Return a remark on a value of a row."""
    return Finding("S102", row, Remark("S102", path, f"wrong at {path}"))


def row_of(finding: Finding) -> Row:
    """Return the row that a finding is about."""
    start = Cursor(finding.row * 30, finding.row + 1)
    return Row("a.jsonl", TEXTS[finding.row], start, finding.row + 1)


def said(
    mine: Speaker, findings: Iterable[Finding], prefix: Path = ()
) -> list[Problem]:
    """Return what a speaker says of some findings."""
    return list(mine.findings(findings, row_of, True, prefix))


def test_findings_of_a_row_come_in_reading_order() -> None:
    """Within a row problems are sorted by their places; rows stay as they are."""
    mine, _ = speaker()
    findings = [finding(0, "b", 1), finding(0, "a"), finding(1, "b"), finding(1, "a")]
    places = [(each.place.line, each.place.pointer) for each in said(mine, findings)]

    assert places == [(1, "/a"), (1, "/b/1"), (2, "/a"), (2, "/b")]


def test_prefix_is_part_of_the_pointer() -> None:
    """Rows that are items of a column are told by where they are in their record."""
    mine, tally = speaker()
    (problem,) = said(mine, [finding(0, "a")], ("column",))
    (group,) = tally.report().groups

    assert group.pointer == "/column/a"
    assert problem.message == "wrong at ('a',)"


def test_caps_leave_counts_exact() -> None:
    """What is not kept as an example is counted, and not put into words."""
    mine, tally = speaker(examples=1)
    asked: list[int] = []

    def counted(each: Finding) -> Row:
        asked.append(each.row)
        return row_of(each)

    findings = [finding(0, "b", each) for each in (0, 1)] + [finding(1, "a")]
    problems = list(mine.findings(findings, counted, True))

    assert [each.place.pointer for each in problems] == ["/b/0", "/a"]
    assert tally.report().errors == 3
    assert asked == [0, 1]


def test_row_is_made_once_for_all_its_findings() -> None:
    """However many findings a row has, it is looked for once."""
    mine, _ = speaker(examples=0)
    asked: list[int] = []

    def counted(each: Finding) -> Row:
        asked.append(each.row)
        return row_of(each)

    list(mine.findings([finding(0, "a"), finding(0, "b"), finding(0)], counted, True))

    assert asked == [0]


def test_saying_is_a_problem_of_the_file() -> None:
    """What is said of a file as a whole has its rule's name and its place."""
    mine, tally = speaker()
    place = mine.place(Cursor(7, 3, 4), 2)
    (problem,) = mine.say("J201", "a message", "a help", place)

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
    assert tally.report().warnings == 1


def test_rule_that_is_not_in_force_is_silent() -> None:
    """What the rules in force do not want said is neither said nor counted."""
    mine, tally = speaker()
    place = mine.place(Cursor())

    assert list(mine.say("J112", "a message", "", place)) == []
    assert tally.report().errors == 0


def test_sayings_beyond_the_cap_are_counted() -> None:
    """Of equal sayings as many are kept as examples are, and all are counted."""
    mine, tally = speaker(examples=2)
    place = mine.place(Cursor())
    kept = [each for _ in range(4) for each in mine.say("J202", "blank", "", place)]

    assert len(kept) == 2
    assert tally.report().files[0].notes == 4


@pytest.mark.parametrize(("code", "expected"), [("S102", True), ("J201", False)])
def test_only_errors_make_a_record_invalid(code: str, expected: bool) -> None:
    """A warning or a note is no error, whatever it is about."""
    mine, _ = speaker()

    assert mine.is_error(code) == expected


def test_severity_is_that_of_the_rules_in_force() -> None:
    """A rule that was made milder is told as mild as it is."""
    mild = replace(RULES["S102"], severity=RULES["J202"].severity)
    tally = Tally()
    tally.begin("a.jsonl")
    mine = Speaker({"S102": mild}, tally, "a.jsonl")
    (problem,) = said(mine, [finding(0, "a")])

    assert problem.severity is mild.severity
    assert not mine.is_error("S102")
