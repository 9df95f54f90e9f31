"""Groups of findings: which findings are in one, how many, and which are shown."""

import json
import re
from collections import Counter
from itertools import islice
from typing import Any

import pytest

from effort import drawn
from fixture_files import ROOT, valid_files, valid_rows
from harpia_formats import Problem, validate
from harpia_formats.plugins import Container, mutants
from json_lines import jsonl
from known_formats import FORMATS

#: Formats whose records are values of their own.
ROW_FORMATS = sorted(
    each.id
    for each in FORMATS.values()
    if any(one.container is Container.ROWS for one in each.dialects)
    and (ROOT / "fixtures" / each.id).is_dir()
)
#: Rows that are no JSON, each by another mistake.
BROKEN = (
    "{'a': 1}",
    '{"a": 1,}',
    '{"a" 1}',
    '{"a": @}',
    '{"a": &}',
    '{"a": "\\q"}',
    '{"a": "\\w"}',
    '{"a": NaN}',
    '{"a": 1',
    '{"aaa": 1',
    '{"a": [1',
    '{"a": 01}',
)


def records_of(identifier: str) -> list[Any]:
    """Return the records of the valid fixtures of a format."""
    rows = valid_rows(identifier)
    for path in valid_files(identifier):
        if path.suffix == ".json":
            value = json.loads(path.read_bytes())
            rows += value if isinstance(value, list) else [value]
    return rows


def lines_of(identifier: str, count: int) -> bytes:
    """Return mutated records of a format as lines; some are equal."""
    return jsonl(*islice(mutants(records_of(identifier), 8), count))


def wording(problem: Problem) -> tuple[str, str, str]:
    """Return a problem's code, its place without indices, and what is wrong there."""
    found = re.sub(
        r", found .*?(?=; and |$)|(?<=must not be ).*"
        r"|(?<=before )\w(?= is not an escape)|(?<=^found )\S(?= instead of)",
        "",
        problem.message,
    )
    pointer = re.sub(r"(?<=/)\d+(?=/|$)", "*", problem.place.pointer)
    return problem.code, pointer, re.sub(r"\[\d+\]|-?\d+", "…", found)


@pytest.mark.parametrize("identifier", ROW_FORMATS)
def test_findings_of_a_group_have_one_cause(identifier: str) -> None:
    """All findings of a group word one thing, so one example of each says all."""
    data = lines_of(identifier, drawn(60)) + "\n".join(BROKEN).encode()
    options: Any = {"format": identifier, "max_problems": 0, "ignore": ("X101",)}
    groups: dict[Any, set[Any]] = {}
    for problem in validate(data, examples=0, **options).problems:
        code, pointer, text = wording(problem)
        is_null = code == "S102" and problem.message.endswith(", found null")
        group = (code, pointer, problem.cause)
        groups.setdefault(group, set()).add((text, problem.key, is_null))
    first = validate(data, examples=1, **options)
    wordings = Counter(map(wording, first.problems))

    assert {group: texts for group, texts in groups.items() if len(texts) > 1} == {}
    assert wordings.total() == len(groups) == len(first.groups)


CONDITIONS: dict[str, dict[str, Any]] = {
    "interactions": {"interaction_type": "multi_turn", "output": None},
    "output": {"interaction_type": "single_turn"},
}


@pytest.mark.parametrize("first", CONDITIONS)
def test_causes_of_one_rule_are_groups_of_their_own(first: str) -> None:
    """Rows that lack `output` and rows that lack `interactions` are distinguished."""
    row = valid_rows("eee@0.2.0")[0]
    rows = []
    for key in sorted(CONDITIONS, key=lambda key: key != first):
        spoilt = {**row, **CONDITIONS[key]}
        spoilt.pop(key, None)
        rows += [{**spoilt, "sample_id": f"{key} {n}"} for n in range(75)]
    report = validate(jsonl(*rows))
    messages = Counter(problem.message for problem in report.problems)

    assert messages == {"interactions is missing": 5, "output is missing": 5}
    assert {(group.code, group.key, group.count) for group in report.groups} == {
        ("C201", "interactions", 75),
        ("C201", "output", 75),
    }


@pytest.mark.parametrize("identifier", ["eee@0.2.0", "nemo-output", "tencent-outputs"])
def test_caps_change_no_count(identifier: str) -> None:
    """A run with caps has the counts and groups of one without, and fewer examples."""
    data = lines_of(identifier, drawn(150))
    capped = validate(data, format=identifier, examples=2)
    whole = validate(data, format=identifier, examples=0, max_problems=0)

    assert (capped.files, capped.groups) == (whole.files, whole.groups)
    assert [one for one in whole.problems if one in capped.problems] == [
        *capped.problems
    ]
    assert len(whole.problems) == sum(group.count for group in capped.groups)
    assert len(capped.problems) < len(whole.problems)


def test_groups_have_exact_counts_and_their_first_place() -> None:
    """A group is a code at a pointer without indices, with where it was first."""
    schema = {
        "required": ["id"],
        "properties": {"a": {"items": {"properties": {"b": {"type": "null"}}}}},
    }
    rows: list[Any] = [{"id": n, "a": [{}] * n + [{"b": n}]} for n in (1, 7)]
    rows.insert(1, {})
    report = validate(jsonl(*rows), schema=schema, examples=1)
    groups = [(one.code, one.pointer, one.count, one.line) for one in report.groups]

    assert groups == [("S102", "/a/*/b", 2, 1), ("S101", "", 1, 2)]


@pytest.mark.parametrize(
    ("key", "pointer"), [("a*b", "/a*b"), ("*", "/*"), ("a/b~", "/a~1b~0")]
)
def test_pointers_of_groups_are_escaped(key: str, pointer: str) -> None:
    """A group's pointer is a JSON pointer, odd keys included."""
    (group,) = validate([{key: 1}], schema={"additionalProperties": False}).groups

    assert group.pointer == pointer


def test_groups_of_each_file_are_bounded() -> None:
    """Beyond 10,000 further pointers are one group, and every count is exact."""
    limit, schema = 10_000, {"additionalProperties": {"type": "integer"}}
    rows = [{f"k{row}_{each}": "x" for each in range(25)} for row in range(limit // 25)]
    data = jsonl(*rows, {f"more {each}": "x" for each in range(5)}, {"k0_0": "x"})
    report = validate(data, data, schema=schema, max_problems=10)

    assert len(report.groups) == 2 * (limit + 1)
    assert report.errors == sum(one.count for one in report.groups) == 2 * (limit + 6)
    rest = [one.count for one in report.groups if one.pointer == "/…"]
    assert rest == [5, 5]
    assert [one.count for one in report.groups if one.pointer == "/k0_0"] == [2, 2]
