"""Samples of RAGAS: detected, checked and read, with the scores that they have."""

import json
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_converters.ragas.mapping import RAGAS
from harpia_formats import convert, detect, validate
from harpia_formats.model.record import as_dict
from json_lines import jsonl

ROW = {"user_input": "2+2?", "response": "4", "reference": "four"}
ASKED = {"type": "human", "content": "2+2?"}
CALLED = {
    "type": "ai",
    "content": "",
    "tool_calls": [{"name": "add", "args": {"x": 2, "y": 2}}],
}
SEEN = {"type": "tool", "content": "4"}
ANSWERED = {"type": "ai", "content": "4", "tool_calls": None}


def record_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a row."""
    return as_dict(RAGAS.read(row))


def scores_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the scores of the only answer, by their metrics."""
    (output,) = record_of(row)["outputs"]
    return {score["metric"]: score["value"] for score in output.get("scores", ())}


def test_sample_is_a_question_with_an_answer() -> None:
    """The question, the reference and the retrieved passages are fields."""
    found = record_of(ROW | {"retrieved_contexts": ["2+2=4"]})

    assert found == {
        "prompt": "2+2?",
        "references": ["four"],
        "contexts": ["2+2=4"],
        "outputs": [{"text": "4"}],
    }


def test_expected_passages_stand_in_for_retrieved_ones() -> None:
    """Passages that should have been found are contexts only if none were found."""
    both = {"retrieved_contexts": ["a"], "reference_contexts": ["b"]}

    assert record_of({"user_input": "q", **both})["contexts"] == ["a"]
    assert record_of(ROW | both)["extra"] == {"ragas": {"reference_contexts": ["b"]}}
    assert record_of(ROW | {"reference_contexts": ["b"]})["contexts"] == ["b"]
    assert record_of(ROW | both | {"retrieved_contexts": []})["contexts"] == []


def test_numbers_beside_a_sample_are_scores() -> None:
    """A column of numbers is a metric, with a signature that names the tool."""
    found = record_of(ROW | {"faithfulness": 0.5, "is_polite": True})
    (output,) = found["outputs"]

    assert scores_of(ROW | {"recall": 1}) == {"recall": 1}
    assert output["scores"] == [
        {
            "metric": "faithfulness",
            "value": 0.5,
            "signature": "faithfulness|impl:ragas",
        },
        {"metric": "is_polite", "value": True, "signature": "is_polite|impl:ragas"},
    ]


def test_what_is_no_number_is_no_score() -> None:
    """Null, text and row numbers are kept with the record, and are never 0."""
    others = {"recall": None, "relevancy": "n/a", "index": 3, "query_length": 2}
    found = record_of(ROW | others)

    assert found["outputs"] == [{"text": "4"}]
    assert found["extra"] == {"ragas": others}


def test_scores_without_an_answer_are_kept() -> None:
    """Metrics of the passages alone have scores, though there is no answer."""
    row = {"user_input": "q", "response": None, "context_recall": 0.5}

    assert scores_of(row) == {"context_recall": 0.5}
    assert "text" not in record_of(row)["outputs"][0]


def test_several_answers_are_outputs_in_order() -> None:
    """Scores next to several answers are of none of them, and stay as they are."""
    row = {"user_input": "q", "multi_responses": ["a", "b"], "recall": 1}
    found = record_of(row)

    assert found["outputs"] == [{"index": 0, "text": "a"}, {"index": 1, "text": "b"}]
    assert found["extra"] == {"ragas": {"recall": 1}}


def test_conversation_is_an_answer_of_turns() -> None:
    """The messages of a sample are turns; arguments of calls are named so."""
    (output,) = record_of({"user_input": [ASKED, CALLED, SEEN, ANSWERED]})["outputs"]
    plain = record_of({"user_input": [ASKED, ANSWERED]})

    assert output["interaction_type"] == "agentic"
    assert output["turns"][1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"name": "add", "arguments": {"x": 2, "y": 2}}],
        },
        {"role": "tool", "content": "4"},
        {"role": "assistant", "content": "4"},
    ]
    assert plain["prompt"] == "2+2?"
    assert plain["outputs"][0]["interaction_type"] == "multi_turn"


@for_each_case(
    "row, why",
    [
        (ROW, "`user_input` and `response`"),
        ({"user_input": [ASKED]}, "`type` and `content` in `user_input`"),
        ({"user_input": "2+2?"}, ""),
        ({"user_input": ["2+2?"], "response": ["4"]}, ""),
        ({"user_input": {"text": "2+2?"}, "response": "4"}, ""),
    ],
)
def test_samples_are_detected_by_their_keys(row: dict[str, Any], why: str) -> None:
    """A question needs another key of a sample next to it, a conversation its types."""
    (found,) = detect(json.dumps(row).encode())

    assert found.format == ("ragas" if why else None)
    assert found.why.startswith(why) or not why


@pytest.mark.parametrize(
    ("messages", "codes"),
    [
        ([ASKED, CALLED, SEEN, SEEN, ANSWERED], []),
        ([ASKED, ANSWERED, SEEN], ["D101"]),
        ([SEEN, ASKED], ["D101"]),
    ],
)
def test_result_of_a_tool_needs_a_call(
    messages: list[dict[str, Any]], codes: list[str]
) -> None:
    """A message of a tool behind none that calls one is reported."""
    data = json.dumps({"user_input": messages}).encode()

    assert [each.code for each in validate(data).problems] == codes


def test_file_has_samples_of_one_kind() -> None:
    """Single questions and conversations in one file are reported with --lint."""
    rows = [ROW, {"user_input": [ASKED, ANSWERED]}]
    data = jsonl(*rows)

    assert [each.code for each in validate(data, lint=True).problems] == ["D111"]
    assert not validate(data).problems


def test_sample_becomes_a_row_of_nemo(tmp_path: Path) -> None:
    """The answer of a sample and its reference arrive in a row of answers."""
    output = tmp_path / "out.json"
    convert(json.dumps(ROW).encode(), to="nemo-output", output=output)
    (row,) = json.loads(output.read_bytes())

    assert (
        row["input"]["prompt"],
        row["input"]["ideal_response"],
        row["response"],
    ) == (
        "2+2?",
        "four",
        "4",
    )
