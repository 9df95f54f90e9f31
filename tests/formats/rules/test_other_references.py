"""The same question with another reference is found (X105)."""

from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import validate
from json_lines import jsonl


def found(*rows: dict[str, Any], format_: str = "record") -> list[int | None]:
    """Return the numbers of the records that X105 reports."""
    data = jsonl(*rows)
    report = validate(data, format=format_, select=["X105"])
    assert not report.failures
    return [each.place.record for each in report.problems]


QUESTION = {"prompt": "Was kostet das?", "references": ["4 €", "vier Euro"]}


@pytest.mark.parametrize(
    "other",
    [
        {"references": ["5 €"]},
        {"references": ["4 €"]},
        {"references": ["4 €", "vier Euro", "fünf Euro"]},
    ],
)
def test_other_references_are_found(other: dict[str, Any]) -> None:
    """A reference more, less or instead of another one is a difference."""
    assert found(QUESTION, {**QUESTION, **other}) == [2]


@for_each_case(
    "other",
    [
        {},
        {"references": ["Vier Euro ", "4 €"]},
        {"references": []},
        {"prompt": "Was kostet dies?", "references": ["5 €"]},
        {"category": "Preise", "references": ["5 €"]},
        {"choices": ["5 €", "6 €"], "references": ["5 €"]},
        {"contexts": ["Es kostet 5 €."], "references": ["5 €"]},
        {"system": "Rechne in Dollar.", "references": ["5 $"]},
    ],
)
def test_equal_references_and_other_questions_are_not(other: dict[str, Any]) -> None:
    """Order, case and what a question depends on make a difference that is meant."""
    assert found(QUESTION, {**QUESTION, **other}) == []


def test_files_of_a_question_are_part_of_it() -> None:
    """Inspect's samples ask about files: the prompt alone is not the question."""
    rows = [
        {"input": "Find it.", "target": f"flag{n}", "files": {"a": f"{n}"}}
        for n in range(2)
    ]

    assert found(*rows, format_="inspect-dataset") == []
    assert found(
        *[{**row, "files": {}} for row in rows], format_="inspect-dataset"
    ) == [2]
