"""Repairs of EvalEval rows that can hide what was wrong."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from harpia_converters.eee.repairs import with_interactions, with_messages
from harpia_converters.eee.row_members import RECIPES
from known_formats import RULES

FIXTURES = Path(__file__).parents[3] / "fixtures"


def row_of(version: str, kind: str) -> dict[str, Any]:
    """Return a valid row of a version and an interaction type."""
    paths = sorted((FIXTURES / version / "valid").glob("*.jsonl"))
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    found: dict[str, Any] = next(
        row for row in map(json.loads, lines) if row["interaction_type"] == kind
    )
    return found


def fixed(row: Any, folder: Path, version: str) -> tuple[Any, list[str]]:
    """Return a row after unsafe repairs, and the codes of the changes in order."""
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    report = harpia_formats.fix(path, unsafe=True, format=version)
    return json.loads(path.read_text()), [one.code for one in report.changes]


@pytest.mark.parametrize("code", ["E103", "E104", "E109", "E110"])
def test_what_a_rule_finds_in_its_example_is_repaired(
    code: str, tmp_path: Path
) -> None:
    """The rule finds nothing in the file that is written."""
    rule = RULES[code]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rule.bad)
    before = harpia_formats.validate(path, select=(code,))
    harpia_formats.fix(path, unsafe=True)
    after = harpia_formats.validate(path, select=(code,))

    assert (len(before.problems) > 0, after.problems) == (True, ())


@pytest.mark.parametrize(
    ("version", "letter"),
    [("eee@0.2.0", "C"), ("eee@0.2.0-tag", "C"), ("eee@0.3.0", "A")],
)
def test_a_hash_is_computed_by_the_recipe_of_the_version(
    version: str, letter: str, tmp_path: Path
) -> None:
    """Any of the four recipes is kept; another hash is written anew."""
    row = row_of(version, "single_turn")
    given = row["input"]["reference"]
    references = [given] if isinstance(given, str) else given
    hashes = {key: of(row["input"]["raw"], references) for key, of in RECIPES.items()}
    for good in hashes.values():
        kept, _ = fixed({**row, "sample_hash": good}, tmp_path, version)
        assert kept["sample_hash"] == good

    wrong, _ = fixed({**row, "sample_hash": "0" * 64}, tmp_path, version)
    upper, _ = fixed({**row, "sample_hash": hashes["A"].upper()}, tmp_path, version)

    assert wrong["sample_hash"] == hashes[letter]
    assert upper["sample_hash"] == hashes["A"]


def with_step(indices: list[int], named: int, value: str) -> dict[str, Any]:
    """Return a row of turns with these indices, and an attribution to the `named` one.

    A user asks for "5" and "7" in turn; the answers are "it is 5" and "it is 7".
    """
    texts = ["ask 5", "it is 5", "ask 7", "it is 7"]
    turns = [
        {"turn_idx": index, "role": ("user", "assistant")[place % 2], "content": text}
        for place, (index, text) in enumerate(zip(indices, texts, strict=True))
    ]
    step = {
        "turn_idx": named,
        "source": f"interactions[{named}].content",
        "extracted_value": value,
        "extraction_method": "regex",
        "is_terminal": True,
    }
    row = row_of("eee@0.2.0", "multi_turn")
    return {**row, "interactions": turns, "answer_attribution": [step]}


@for_each_case(
    "indices, named, value, expected",
    [
        ([1, 2, 3, 4], 4, "7", 3),
        ([1, 2, 3, 4], 2, "5", 1),
        ([1, 2, 3, 4], 3, "7", 3),
        ([1, 2, 3, 4], 1, "5", 1),
        ([0, 1, 3, 3], 3, "7", 3),
        ([1, 1, 1, 1], 1, "5", 1),
        ([0, 2, 3, 5], 3, "7", 3),
    ],
)
def test_turns_are_numbered_and_attributions_keep_their_text(
    indices: list[int], named: int, value: str, expected: int, tmp_path: Path
) -> None:
    """An index that names its turn follows it; one that is its place stays."""
    row = with_step(indices, named, value)
    found, codes = fixed(row, tmp_path, "eee@0.2.0")

    assert [turn["turn_idx"] for turn in found["interactions"]] == [0, 1, 2, 3]
    (one,) = found["answer_attribution"]
    source = f"interactions[{expected}].content"
    assert (one["turn_idx"], one["source"]) == (expected, source)
    moved = sum(index != place for place, index in enumerate(indices))
    assert codes.count("E104") == moved + 2 * (expected != named)


@for_each_case(
    "indices, named, value",
    [
        ([1, 2, 3, 4], 4, "nowhere"),
        ([1, 2, 3, 4], 9, "7"),
        ([0, 0, 1, 1], 1, "7"),
        ([3, 2, 1, 0], 0, "7"),
        ([4, 3, 2, 1], 1, "7"),
        ([0, 2, 1, 3], 3, "7"),
        ([2, 3, 4, 1], 1, "7"),
    ],
)
def test_turns_keep_their_numbers_if_it_is_not_clear_what_they_name(
    indices: list[int], named: int, value: str, tmp_path: Path
) -> None:
    """So it is with an attribution of no one turn, and with turns in another order."""
    row = with_step(indices, named, value)
    found, codes = fixed(row, tmp_path, "eee@0.2.0")

    assert found["interactions"] == row["interactions"]
    assert found["answer_attribution"] == row["answer_attribution"]
    assert "E104" not in codes


def test_a_value_in_both_turns_moves_nothing(tmp_path: Path) -> None:
    """The turn of that index and the turn at that place may both be meant."""
    row = with_step([1, 2, 3, 4], 3, "7")
    for turn in row["interactions"]:
        turn["role"] = "assistant"
    found, codes = fixed(row, tmp_path, "eee@0.2.0")

    assert (found["interactions"], "E104" in codes) == (row["interactions"], False)


@for_each_case(
    "turns, is_removed",
    [
        ([], True),
        ([{"turn_idx": 0, "role": "user", "content": "?"}], True),
        (
            [
                {"turn_idx": 0, "role": "user", "content": "?"},
                {"turn_idx": 1, "role": "assistant", "content": "!"},
            ],
            True,
        ),
        ([{"turn_idx": n, "role": "user", "content": "?"} for n in range(2)], False),
        ([{"turn_idx": 0, "role": "tool", "content": "?"}], False),
    ],
)
def test_turns_of_one_exchange_leave_a_single_turn_record(
    turns: list[Any], *, is_removed: bool, tmp_path: Path
) -> None:
    """More than a prompt and its answer may be what is right, and stays."""
    row = {**row_of("eee@0.2.0", "single_turn"), "interactions": turns}
    found, _ = fixed(row, tmp_path, "eee@0.2.0")

    assert ("interactions" not in found) is is_removed


@pytest.mark.parametrize(
    ("contents", "lost"),
    [
        (("Be brief.", "ask", "answer"), "1 system turn"),
        (("", "ask", " answer "), ""),
        (("Be brief.", "other", "answer"), "1 system turn, 1 user turn"),
    ],
)
def test_text_that_is_lost_with_the_turns_is_told(
    contents: tuple[str, ...], lost: str, tmp_path: Path
) -> None:
    """The change names the turns whose text stands nowhere else in the row."""
    row = row_of("eee@0.2.0", "single_turn")
    row["input"]["raw"], row["output"]["raw"] = "I ask you", "the answer"
    roles = ("system", "user", "assistant")
    row["interactions"] = [
        {"turn_idx": place, "role": role, "content": text}
        for place, (role, text) in enumerate(zip(roles, contents, strict=True))
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    report = harpia_formats.fix(path, unsafe=True, format="eee@0.2.0")
    (change,) = [one for one in report.changes if one.code == "C201"]

    loss = f"; this loses text that stands nowhere else in the row, of {lost}"
    assert change.what == (
        "removed interactions, which single_turn rows do not have" + loss * bool(lost)
    )
    assert change.loses_text is bool(lost)


def test_an_output_that_the_turns_hold_is_removed(tmp_path: Path) -> None:
    """One with an answer of its own stays."""
    row = row_of("eee@0.3.0", "multi_turn")
    content = row["messages"][-1]["content"]
    same, _ = fixed({**row, "output": {"raw": [content]}}, tmp_path, "eee@0.3.0")
    other, _ = fixed({**row, "output": {"raw": ["other"]}}, tmp_path, "eee@0.3.0")

    assert "output" not in same
    assert other["output"] == {"raw": ["other"]}


def test_an_attribution_follows_from_the_turns_to_the_output(tmp_path: Path) -> None:
    """Where the value is in the output, that is its source."""
    row = row_of("eee@0.2.0", "single_turn")
    row["output"]["raw"] = "the answer is 4"
    row["interactions"] = [{"turn_idx": 0, "role": "assistant", "content": "4"}]
    row["answer_attribution"] = [
        {
            "turn_idx": 0,
            "source": "interactions[0].content",
            "extracted_value": "4",
            "extraction_method": "regex",
            "is_terminal": True,
        }
    ]
    found, _ = fixed(row, tmp_path, "eee@0.2.0")

    assert found["answer_attribution"][0]["source"] == "output.raw"


@for_each_case("value", [None, [], 7, "x", {"evaluation": 3, "input": []}])
def test_what_is_no_row_has_no_repairs(value: Any) -> None:
    """A value of any shape is taken."""
    assert list(with_interactions(value)) == list(with_messages(value)) == []


@for_each_case(
    "version, kind, output",
    itertools.product(
        ["eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"],
        ["single_turn", "singel_turn", "other", None],
        ["none", "null", "answer", "list"],
    ),
)
def test_nothing_is_counted_in_a_row_of_a_doubtful_type(
    version: str, kind: str | None, output: str, tmp_path: Path
) -> None:
    """Turns of a row that says `single_turn` may be right, and its label wrong."""
    row = row_of(version, "multi_turn")
    row["evaluation"] |= {"num_turns": 4, "tool_calls_count": 9}
    row["interaction_type"] = kind
    row.pop("output", None)
    given = {"null": None, "answer": {"raw": "other text"}, "list": ["x"]}
    if output in given:
        row["output"] = given[output]
    found, codes = fixed(row, tmp_path, version)

    assert not {"E109", "E110"} & set(codes)
    counts = found["evaluation"]
    assert (counts["num_turns"], counts["tool_calls_count"]) == (4, 9)


@for_each_case(
    "version, given",
    itertools.product(["eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"], [True, 1.5, "é"]),
)
def test_changes_are_worded_for_a_reader(
    version: str, given: Any, tmp_path: Path
) -> None:
    """The text on a change has values as in JSON, and says what is hashed in words."""
    row = row_of(version, "multi_turn")
    row["sample_hash"] = "0" * 64
    row["evaluation"] |= {"num_turns": given, "tool_calls_count": given}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    report = harpia_formats.fix(path, unsafe=True, format=version)
    described = {change.code: change.what for change in report.changes}

    recipe = "all references" if version == "eee@0.3.0" else "the first reference"
    assert "recipe" not in described["E103"]
    assert described["E103"].startswith("computed the hash again, of ")
    assert recipe in described["E103"]
    count = json.loads(path.read_text())["evaluation"]["num_turns"]
    shown = json.dumps(given, ensure_ascii=False)
    assert described["E109"] == f"counted num_turns again: {count} in place of {shown}"
