import itertools
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from corpora import CORPORA
from harpia_converters.openai_evals.formats import sample_sign
from harpia_converters.openai_evals.mapping import SAMPLES
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import Record, as_dict

ROOT = Path(__file__).parents[3]
REAL = CORPORA / "neighbours" / "openai" / "evals_samples.jsonl"

SYSTEM = {"role": "system", "content": "Be short."}
USER = {"role": "user", "content": "2+2?"}
ANSWER = {"role": "assistant", "content": "4"}


def read(asked: Any, ideal: Any = "4", **others: Any) -> Row:
    """Return the record of a sample as an object."""
    return as_dict(SAMPLES.read({"input": asked, "ideal": ideal, **others}))


def written(record: Record) -> tuple[Row, list[str]]:
    """Return the sample for a record, and what becomes of its fields."""
    outcomes = FieldOutcomes()
    row = SAMPLES.writer(record, outcomes)
    return row, [f"{each.path}: {each.how}" for each in outcomes.entries]


def test_every_ideal_answer_is_a_reference() -> None:
    """A text is one reference, a list is all of them."""
    assert read("q", "4")["references"] == ["4"]
    assert read("q", ["4", "four"])["references"] == ["4", "four"]
    assert read("q", [])["references"] == []


@for_each_case(
    "chat, expected",
    [
        ([USER], {"prompt": "2+2?"}),
        ([SYSTEM, USER], {"system": "Be short.", "prompt": "2+2?"}),
        ([USER, ANSWER, USER], {"messages": [USER, ANSWER, USER]}),
        ([USER, SYSTEM], {"messages": [USER, SYSTEM]}),
        ([SYSTEM], {"messages": [SYSTEM]}),
        ([USER | {"name": "n"}], {"messages": [USER | {"name": "n"}]}),
    ],
)
def test_a_chat_of_one_question_is_a_prompt(chat: list[Row], expected: Row) -> None:
    """A question, with or without a system message, is a prompt, all else messages."""
    found = read(chat)
    del found["references"], found["outputs"]

    assert found == expected


@for_each_case(
    "asked, ideal",
    itertools.product(
        ["2+2=", [USER], [SYSTEM, USER], [USER, ANSWER]], ["4", ["4", "four"], []]
    ),
)
def test_a_sample_comes_back(asked: Any, ideal: Any) -> None:
    """A sample that is read and written again is the same, with its further keys."""
    row = {"input": asked, "ideal": ideal, "id": 7, "note": {"level": 1}}

    assert written(SAMPLES.read(row)) == (row, [])


def test_a_prompt_of_another_tool_becomes_a_chat() -> None:
    """A prompt is written as a message of the user, as OpenAI's guide asks for."""
    row, outcomes = written(Record(prompt="2+2?", references=["4"]))

    assert row == {"input": [USER], "ideal": "4"}
    assert outcomes == []


def test_the_text_of_an_input_is_not_kept_for_another_question() -> None:
    """Where a record is asked with a system prompt, the input is a chat."""
    kept = {"openai-evals": {"input": "text"}}
    record = Record(prompt="2+2?", system="Be short.", references=["4"], extra=kept)
    row, outcomes = written(record)

    assert row["input"] == [SYSTEM, USER]
    assert outcomes == ["extra.openai-evals.input: the key belongs to another field"]


def test_changed_messages_are_noted() -> None:
    """A system prompt goes in front of messages, and null becomes empty text."""
    chat: list[Row] = [USER, {"role": "assistant", "content": None}, USER]
    record = Record(system="Be short.", messages=chat, references=["4"])
    row, outcomes = written(record)

    assert row["input"] == [SYSTEM, USER, ANSWER | {"content": ""}, USER]
    assert outcomes == [
        "system: a message of the system",
        "messages: empty text for null; with the system message",
    ]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Record(references=["4"]), "neither a prompt nor messages"),
        (Record(prompt="2+2?"), "nothing for `ideal`"),
        (Record(messages=[{"content": "a"}], references=["4"]), "has no role"),
        (
            Record(messages=[{"role": "user", "content": []}], references=["4"]),
            "is not text",
        ),
    ],
)
def test_a_record_without_a_question_or_an_answer_is_refused(
    record: Record, reason: str
) -> None:
    """What a sample must have is asked for."""
    with pytest.raises(Unconvertible, match=reason):
        SAMPLES.writer(record, FieldOutcomes())


@for_each_case(
    "row",
    [
        {"input": "q", "target": "4"},
        {"input": {"prompt": "q"}, "ideal": "4"},
        {"input": [{"content": "q"}], "ideal": "4"},
        {"input": {"prompt": "q", "ideal_response": "4"}, "response": "a"},
        {"id": 1, "input": "q"},
        {"ideal": "4"},
        {"input": "q", "ideal": 4},
    ],
)
def test_rows_of_others_are_left_to_them(row: Row) -> None:
    """Rows of Inspect, NeMo and HarpIA are no samples."""
    assert sample_sign(row) == ""


@pytest.mark.corpora
def test_samples_of_the_guide_are_read() -> None:
    """Two chats and a text are three questions with one, two and one references."""
    records = list(harpia_formats.read(REAL))

    assert [record.references for record in records] == [["Maputo"], ["2", "3"], ["4"]]
    assert [record.prompt for record in records][1:] == [
        "Name a prime below 5.",
        "2+2=",
    ]
    assert records[0].system == "Answer with one word."
