"""What the messages and helps of findings say, over all fixtures of bad records."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import Problem, validate

FIXTURES = Path(__file__).parents[2] / "fixtures"
TYPES: dict[str, dict[str, Any]] = {
    "single_turn": {"output": {"raw": "4"}, "interactions": None},
    "multi_turn": {
        "output": None,
        "interactions": [{"turn_idx": 0, "role": "user", "content": "2+2?"}],
    },
}


@cache
def findings() -> tuple[Problem, ...]:
    """Return all findings on the fixtures with a fault."""
    folders = sorted(FIXTURES.glob("*/invalid")) + sorted(FIXTURES.glob("*/lint"))
    return validate(*folders, lint=True, examples=0, max_problems=0).problems


def helps(row: Any, schema: Any, tmp_path: Path, code: str) -> Problem:
    """Return the only finding of a rule on a row that is validated by a schema."""
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(schema))
    report = validate([row], schema=str(path))
    (problem,) = [each for each in report.problems if each.code == code]
    return problem


def test_message_names_another_record_once() -> None:
    """A record whose number is that of its line is named by one of the two."""
    for problem in findings():
        text = f"{problem.message} {problem.help}"
        assert not re.search(r"record ([0-9,]+), in line \1\b", text)


def test_help_names_all_missing_keys() -> None:
    """The help for several missing keys of a condition names each of them."""
    for problem in findings():
        if problem.code == "C101" and problem.help.startswith("add "):
            missing = re.findall(r"(\w+) is missing", problem.message)
            assert all(f'"{key}"' in problem.help for key in missing), problem.help


@pytest.mark.parametrize("keys", [["b"], ["b", "c"], ["b", "c", "d"]])
def test_help_of_a_condition_has_its_keys(keys: list[str], tmp_path: Path) -> None:
    """All keys that a condition requires are in its help, with or without a cause."""
    then = {"then": {"required": keys}}
    given = {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, **then}
    absent = {"if": {"properties": {"a": {"const": 1}}}, **then}

    for row, schema in (({"a": 1}, given), ({"x": 1}, absent)):
        help_ = helps(row, schema, tmp_path, "C101").help
        assert all(f'"{key}"' in help_ for key in keys)


def test_alternatives_are_given_as_requirements(tmp_path: Path) -> None:
    """The help for a value that is no alternative says what would make it one."""
    schema = {
        "properties": {
            "v": {
                "anyOf": [
                    {"required": ["b", "c"]},
                    {"properties": {"a": {"type": "integer", "minimum": 3}}},
                ]
            }
        }
    }

    problem = helps({"v": {"a": "1"}}, schema, tmp_path, "V109")

    assert problem.help == (
        'one of these must hold: v must have "b" and v must have "c"; '
        "or v.a must be a whole number"
    )
    for finding in findings():
        assert "must hold" not in finding.help or "is missing" not in finding.help


def test_valid_alternatives_are_named_in_each_row(tmp_path: Path) -> None:
    """Rows that match other alternatives of one `oneOf` have them in their messages."""
    keys = "bcd"
    path = tmp_path / "schema.json"
    path.write_text(
        json.dumps({"properties": {"v": {"oneOf": [{"required": [k]} for k in keys]}}})
    )
    rows = [{"v": {"b": 1, "c": 1}}, {"v": {"c": 1, "d": 1}}] * 12

    problems = validate(rows, schema=str(path), examples=0).problems

    named = [("1 and 2", '["b"]'), ("2 and 3", '["d"]')] * 12
    for problem, (numbers, key) in zip(problems, named, strict=True):
        assert problem.message.endswith(f"the numbers {numbers}")
        assert key in problem.help


def test_contained_item_is_described(tmp_path: Path) -> None:
    """A list without an item that it must contain is reported with that item."""
    schema = {"properties": {"v": {"contains": {"type": "string"}}}}

    for items in ([], [1], [1, 2]):
        problem = helps({"v": items}, schema, tmp_path, "V112")
        assert '{"type":"string"}' in problem.message


def test_unknown_file_without_keys_has_no_map() -> None:
    """Only a file with keys is advised to map them, and then before anything else."""
    (empty,) = validate([{}]).problems
    (known,) = validate([{"question": "2+2?", "nothing": {}}]).problems

    assert "map" not in empty.help
    assert "one of ;" not in empty.help
    assert "prompt" in known.help.split(";")[0]
    assert "question" in known.help.split(";")[0]


@pytest.mark.parametrize("kind", ["multi_turn", "agentic"])
def test_rows_with_turns_are_not_advised_to_be_single_turn(kind: str) -> None:
    """The turns of a row are never given up for its label."""
    base = {
        "schema_version": "0.2.0",
        "evaluation_id": "e",
        "model_id": "org/m",
        "evaluation_name": "n",
        "sample_id": "1",
        "interaction_type": kind,
        "input": {"raw": "2+2?", "reference": "4"},
        "answer_attribution": [],
        "evaluation": {"score": 1, "is_correct": True},
    }
    turns = TYPES["multi_turn"]["interactions"]
    output = TYPES["single_turn"]["output"]

    both = validate([{**base, "interactions": turns, "output": output}]).problems
    none = validate([{**base, "interactions": None, "output": output}]).problems

    (both_help,) = [each.help for each in both if each.code == "C201"]
    (none_help,) = [each.help for each in none if each.code == "C201"]
    assert "single_turn" not in both_help
    assert "single_turn" in none_help
