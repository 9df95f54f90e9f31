"""The map that is proposed for rows of keys that no format knows."""

from pathlib import Path

import pytest

from harpia_formats import read, validate
from harpia_formats.detection.likely_map import likely_map

FIXTURES = Path(__file__).parents[2] / "fixtures" / "json" / "valid"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "q", "answer": "a"}, "prompt=question,references=answer"),
        (
            {"prompt": "p", "gold": ["g"], "answer": "a", "topic": "t"},
            "prompt=prompt,references=gold,response=answer,category=topic",
        ),
        ({"Question": "q", "ID": 3}, "prompt=Question,id=ID"),
        ({"question": {"text": "q"}, "gold": "g"}, ""),
        ({"gold": "g"}, ""),
        ({}, ""),
    ],
)
def test_keys_are_proposed_by_name(row: dict[str, object], expected: str) -> None:
    """A key is proposed for one field, and nothing without a prompt."""
    assert likely_map(row) == expected


def test_proposed_map_reads_the_file_that_it_was_proposed_for() -> None:
    """The finding on a file of own keys names a map with which it is read."""
    path = FIXTURES / "quiz.jsonl"
    (problem,) = validate(path).problems
    proposed = problem.help.partition("--map ")[2].partition(";")[0]
    columns = dict(pair.split("=") for pair in proposed.split(","))

    records = list(read(path, columns=columns))

    assert "with --from in commands other than validate;" in problem.help
    assert [each.prompt for each in records] == [
        "Which river flows through Manaus?",
        "How many legs has a beetle?",
        "2 + 2 = ?",
    ]
    assert [each.references for each in records] == [
        ["Rio Negro", "the Rio Negro"],
        ["six", "6"],
        ["4"],
    ]
    assert [each.outputs[0].text if each.outputs else None for each in records[:2]] == [
        "Rio Negro",
        "It has 6 legs.",
    ]
