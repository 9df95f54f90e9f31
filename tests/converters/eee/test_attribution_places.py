"""Where an answer was found, after its chat and its scores were fitted to rows."""

from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from json_lines import jsonl_rows


def step(filter_: str) -> dict[str, Any]:
    """Return where a filter of a harness found an answer."""
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": "4",
        "extraction_method": filter_,
        "is_terminal": True,
    }


def score(filter_: str) -> dict[str, Any]:
    """Return the score of what a filter found."""
    return {
        "metric": "exact_match",
        "value": 1.0,
        "is_correct": True,
        "evaluation_id": "e",
        "evaluation_name": "sums",
        "signature": f"exact_match|impl:lm-eval-0.4.13|filter:{filter_}",
    }


def record() -> dict[str, Any]:
    """Return a record of a chat whose answer two filters read."""
    asked = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "2+2?"},
    ]
    answer = {
        "model": "m",
        "text": "It is 4.",
        "attribution": [step("strict"), step("loose")],
        "scores": [score("strict"), score("loose")],
    }
    return {
        "id": "1",
        "messages": asked,
        "system": "Be short.",
        "references": ["4"],
        "outputs": [answer],
    }


def rows(tmp_path: Path, target: str, **options: Any) -> list[dict[str, Any]]:
    """Return the rows that are written of the record."""
    path = tmp_path / "rows.jsonl"
    harpia_formats.convert([record()], to=target, output=str(path), **options)
    return jsonl_rows(path)


@pytest.mark.parametrize(
    ("target", "source"),
    [("eee@0.2.0", "interactions[2].content"), ("eee@0.3.0", "messages[2].content")],
)
def test_answer_of_a_chat_is_found_in_its_turn(
    target: str, source: str, tmp_path: Path
) -> None:
    """A step that named the answer names its turn, and no lint objects."""
    (row,) = rows(tmp_path, target)

    assert [each["turn_idx"] for each in row["answer_attribution"]] == [2]
    assert [each["source"] for each in row["answer_attribution"]] == [source]
    report = harpia_formats.validate(tmp_path / "rows.jsonl", lint=True)
    assert not {problem.code for problem in report.problems} & {"E112", "E113", "E114"}


@pytest.mark.parametrize("filter_", ["strict", "loose"])
def test_metric_of_a_filter_keeps_what_it_extracted(
    filter_: str, tmp_path: Path
) -> None:
    """The extraction of a row is that of the filter of its score."""
    (row,) = rows(tmp_path, "eee@0.2.0", metric=f"exact_match|filter:{filter_}")

    assert [step["extraction_method"] for step in row["answer_attribution"]] == [
        filter_
    ]


@pytest.mark.parametrize("is_scored", [True, False])
@pytest.mark.parametrize("key", ["source", "extraction_method"])
def test_step_that_says_where_in_no_text_is_left_out_and_named(
    key: str, is_scored: bool, tmp_path: Path
) -> None:
    """A step whose source or method is no text is a loss, whatever names the filter."""
    given, path = record(), tmp_path / "rows.jsonl"
    (answer,) = given["outputs"]
    answer["attribution"].append({**step("strict"), key: ["output.raw"]})
    if not is_scored:
        answer["scores"] = [{**score("strict"), "signature": "exact_match"}]
    report = harpia_formats.convert(
        [given], to="eee@0.3.0", output=path, filter="strict"
    )

    (row,) = jsonl_rows(path)
    lost = [each.how for file in report.losses for each in file.losses.counts]
    assert len(row["answer_attribution"]) == 1
    assert "without steps that are not complete" in lost
