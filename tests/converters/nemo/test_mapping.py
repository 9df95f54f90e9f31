"""Rows of questions and answers as records, and back, with keys of the user's own."""

import json
from typing import Any

import pytest

from harpia_converters.nemo.mapping import INPUT, OUTPUT
from harpia_formats import detect
from harpia_formats.model.field_outcomes import FieldOutcomes, Outcome

QUESTION = {"prompt": "q", "ideal_response": "r"}


def record_of(row: dict[str, Any], dialect: str = "") -> Any:
    """Return the record of an answer in a dialect."""
    normalised = OUTPUT.dialect_normalizers[dialect](row) if dialect else row
    return OUTPUT.read(normalised)


def question_of(row: dict[str, Any], dialect: str = "") -> tuple[Any, set[Any]]:
    """Return the question of an answer's row, and the outcomes of its other fields."""
    outcomes = FieldOutcomes()
    written = INPUT.write(record_of(row, dialect), outcomes)  # type: ignore[misc]  # it is no read-only format
    return written, {(each.outcome, each.path) for each in outcomes.entries}


def test_keys_of_the_question_stand_beside_it() -> None:
    """What stood in `input` of an answer stands in the row of its question."""
    row = {"input": {**QUESTION, "id": 7}, "response": "a", "latency": 0.5}
    written, outcomes = question_of(row)

    assert written == {**QUESTION, "category": "", "source": "", "id": 7, **written}
    assert "input" not in written
    assert {
        (Outcome.MERGED, "extra.nemo.input.id"),
        (Outcome.DEFAULTED, "extra.nemo.id"),
    } <= outcomes
    assert [each.format for each in detect(json.dumps(written).encode())] == [
        "nemo-input"
    ]


@pytest.mark.parametrize("key", ["input", "response", "messages", "conversation"])
def test_keys_by_which_a_row_is_no_question_are_lost(key: str) -> None:
    """A key of an answer or of another tool is dropped, and declared by its path."""
    written, outcomes = question_of({"input": {**QUESTION, key: "x"}, "response": "a"})

    assert key not in written
    assert (Outcome.DROPPED, f"extra.nemo.input.{key}") in outcomes


def test_a_second_value_for_a_key_is_lost() -> None:
    """A key in the question and next to it keeps the one next to it."""
    row = {"input": {**QUESTION, "id": 7}, "id": 8, "actual_response": "x"}
    written, outcomes = question_of(row)

    assert written["id"] == 8
    assert "actual_response" not in written
    assert {
        (Outcome.DROPPED, "extra.nemo.input.id"),
        (Outcome.DROPPED, "extra.nemo.actual_response"),
    } <= outcomes


@pytest.mark.parametrize(
    ("dialect", "row"),
    [
        ("flat", {**QUESTION, "actual_response": "a"}),
        ("reference", {"input": "q", "reference": "r", "output": "a"}),
    ],
)
def test_other_dialects_keep_keys_whose_place_is_taken(
    dialect: str, row: dict[str, Any]
) -> None:
    """Keys called like those of documented answers do not take their places."""
    others = {"response": "x"} | ({"input": {"a": 1}} if "input" not in row else {})
    record = record_of({**row, **others}, dialect)

    assert (record.prompt, record.references) == ("q", ["r"])
    assert record.outputs[0].text == "a"
    assert record.extra == {"nemo": {"input": others}}
