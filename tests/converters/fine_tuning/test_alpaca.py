"""Instructions in Alpaca's form: detected, checked and read."""

import json
from typing import Any

import pytest

from corpora import CORPORA
from harpia_formats import detect, read, validate

CHATS = CORPORA / "neighbours" / "chat"
ROW = {"instruction": "Add.", "input": "2 2", "output": "4"}


@pytest.mark.corpora
def test_real_set_is_read() -> None:
    """The prompt of a real set is its instruction, with the input if there is one."""
    path = CHATS / "alpaca_en_demo.first5.json"
    rows, (found,) = json.loads(path.read_bytes()), detect(path)
    records = list(read(path))

    assert (found.format, found.confidence) == ("alpaca", 1.0)
    assert not validate(path).problems
    assert len(records) == len(rows) == 5
    assert [each.references for each in records] == [[row["output"]] for row in rows]
    for record, row in zip(records, rows, strict=True):
        parts = [row["instruction"], row["input"]]
        assert record.prompt == "\n\n".join(part for part in parts if part)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (ROW | {"label": True}, "instructions with verdicts for KTO, by `label`"),
        (ROW | {"kto_tag": False}, "instructions with verdicts for KTO, by `kto_tag`"),
        (
            {"instruction": "Add.", "chosen": "4", "rejected": "5"},
            "instructions with two outputs for DPO, by `chosen` and `rejected`",
        ),
    ],
)
def test_other_sets_of_instructions_are_refused_with_a_reason(
    row: dict[str, Any], reason: str
) -> None:
    """Nothing claims sets for KTO and DPO, and the message says what they are."""
    (problem,) = validate(json.dumps(row).encode()).problems

    assert problem.code == "S301"
    assert reason in problem.message
