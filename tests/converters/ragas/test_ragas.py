"""Samples of RAGAS: detected, checked and read, with the scores that they have."""

import json
from typing import Any

from cases import for_each_case
from harpia_formats import detect, validate
from json_lines import jsonl

ROW = {"user_input": "2+2?", "response": "4", "reference": "four"}
ASKED = {"type": "human", "content": "2+2?"}
ANSWERED = {"type": "ai", "content": "4", "tool_calls": None}


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


def test_file_has_samples_of_one_kind() -> None:
    """Single questions and conversations in one file are reported with --lint."""
    rows = [ROW, {"user_input": [ASKED, ANSWERED]}]
    data = jsonl(*rows)

    assert [each.code for each in validate(data, lint=True).problems] == ["D111"]
    assert not validate(data).problems
