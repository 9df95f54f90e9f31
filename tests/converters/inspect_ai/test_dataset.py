"""Samples of Inspect's data sets as records, and records as such samples."""

import json
from pathlib import Path

from harpia_formats import convert
from json_lines import jsonl, jsonl_rows

FIXTURES = Path(__file__).parents[3] / "fixtures"


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
