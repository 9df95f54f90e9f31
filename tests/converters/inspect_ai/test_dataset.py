"""Samples of Inspect's data sets as records, and records as such samples."""

import json
from pathlib import Path

import pytest

from cases import for_each_case
from harpia_formats import convert
from harpia_formats.plugins import Row
from json_lines import jsonl, jsonl_rows
from known_formats import FORMATS

FIXTURES = Path(__file__).parents[3] / "fixtures"


@for_each_case(
    "row",
    [
        {"input": "q", "ideal": "4"},
        {"input": "q", "target": 4},
        {"input": {"prompt": "q", "ideal_response": "4"}, "target": "a"},
        {"input": [{"content": "q"}], "target": "4"},
        {"id": 1, "input": "q"},
        {
            "id": 1,
            "epoch": 1,
            "input": "q",
            "target": "4",
            "output": {},
            "messages": [],
        },
        {"input": "q", "target": "4", "output": "5"},
    ],
)
def test_rows_of_others_are_left_to_them(row: Row) -> None:
    """Rows of OpenAI, NeMo and HarpIA, and samples of a log, are no such samples."""
    assert FORMATS["inspect-dataset"].dialects[0].sniff(row) == ""


@pytest.mark.parametrize(
    "document",
    [
        {"run_name": "r", "inputs": {}, "results": {}},
        {"eval": "ok", "status": "done", "version": 2},
        {"eval": {"model": "m"}, "status": "done", "version": 2},
        {"eval": {"task": "t", "model": "m"}},
    ],
)
def test_documents_of_others_are_no_logs(document: Row) -> None:
    """A run of Haystack, and a document with some of the keys, is no log."""
    assert FORMATS["inspect-log"].dialects[0].sniff(document) == ""


def test_conversation_of_an_answer_is_not_asked(tmp_path: Path) -> None:
    """A sample of a log asks what it asked, whatever its agent did then."""
    log = FIXTURES / "inspect-log" / "valid" / "tools-and-scores.json"
    output = tmp_path / "data.jsonl"
    assert convert(log, to="inspect-dataset", output=output).ok
    rows = jsonl_rows(output)

    assert rows[0]["input"] == "Capital of Peru?"
    assert [each["role"] for each in rows[1]["input"]] == ["system", "user"]
    assert rows[1]["target"] == ["5", "five"]


def test_keys_of_a_message_stay_in_their_order(tmp_path: Path) -> None:
    """A content that is kept as a whole is written where it stood in its message."""
    content = [{"type": "text", "text": "Capital of Peru?", "more": 1}]
    asked = {"role": "user", "content": content, "name": "Ana"}
    row, output = {"input": [asked], "target": "Lima"}, tmp_path / "out.jsonl"

    assert convert(jsonl(row), to="inspect-dataset", output=output).ok
    assert json.dumps(jsonl_rows(output)) == json.dumps([row])


def test_targets_of_a_log_stay_letters(tmp_path: Path) -> None:
    """A target of a log is a letter, though it is the text of another choice."""
    record = {
        "prompt": "Blood type?",
        "references": ["A"],
        "choices": ["O", "A", "B", "AB"],
        "outputs": [{"text": "ANSWER: A", "extra": {"inspect": {"stop_reason": "x"}}}],
    }
    output = tmp_path / "data.jsonl"
    assert convert(
        jsonl(record), format="record", to="inspect-dataset", output=output
    ).ok

    assert jsonl_rows(output)[0]["target"] == "A"
