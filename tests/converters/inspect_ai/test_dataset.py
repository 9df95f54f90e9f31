"""Samples of Inspect's data sets as records, and records as such samples."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from cases import for_each_case
from harpia_converters.inspect_ai.dataset_mapping import DATASET
from harpia_converters.inspect_ai.formats import log_sign, sample_sign
from harpia_formats import convert
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_outcomes import BLANK, FieldOutcomes, Unconvertible
from harpia_formats.model.record import Record
from json_lines import jsonl_rows

FIXTURES = Path(__file__).parents[3] / "fixtures"
SYSTEM = {"role": "system", "content": "Be short."}
USER = {"role": "user", "content": "2+2?"}
ANSWER = {"role": "assistant", "content": "4"}


def written(record: Record) -> tuple[Row, list[str]]:
    """Return the sample for a record, and what becomes of its fields.

    The empty target that every sample has is left out: it is read as none.
    """
    outcomes = FieldOutcomes()
    row = DATASET.writer(record, outcomes)
    entries = [each for each in outcomes.entries if each.how != BLANK]
    return row, [f"{each.path}: {each.how}" for each in entries]


@for_each_case(
    "asked, target",
    itertools.product(
        ["2+2=", [SYSTEM, USER], [USER, ANSWER, USER]], ["4", ["4", "four"], "", []]
    ),
)
def test_a_sample_comes_back(asked: Any, target: Any) -> None:
    """A sample that is read and written again is the same, with its further keys."""
    row = {"input": asked, "target": target, "choices": ["3", "5"], "id": 7}
    row |= {"metadata": {"level": 1}, "files": {"a": "b"}, "sandbox": "docker"}

    assert written(DATASET.read(row)) == (row, [])


@for_each_case(
    "choices, references, target",
    [
        (["3", "4"], ["4"], "B"),
        (["3", "4"], ["4", "3"], ["B", "A"]),
        (["3", "4"], ["B"], "B"),
        (["3", "4"], ["four"], "four"),
        (["4", "4"], ["4"], "4"),
    ],
)
def test_references_among_choices_are_letters(
    choices: list[str], references: list[str], target: Any
) -> None:
    """References that are choices are written as letters, and that is reported."""
    row, outcomes = written(Record(prompt="q", choices=choices, references=references))
    is_changed = target not in (references, references[0])
    assert row["target"] == target
    assert outcomes == ["references: the letters of the choices"] * is_changed


def test_empty_target_is_no_reference() -> None:
    """A target of "" is none, and a record without references has such a target."""
    assert DATASET.read({"input": "q", "target": ""}).references is UNSET
    assert written(Record(prompt="q"))[0] == {"input": "q", "target": ""}
    assert written(Record(prompt="q", references=[""]))[0]["target"] == [""]


def test_parts_that_are_no_text_come_back() -> None:
    """A part of a message that is no text is kept, and written behind the text."""
    image = {"type": "image", "image": "dot.png"}
    chat = [{"role": "user", "content": [{"type": "text", "text": "What?"}, image]}]
    record = DATASET.read({"input": chat, "target": "a dot"})

    assert record.prompt == "What?"
    assert written(record) == ({"input": chat, "target": "a dot"}, [])


def test_reasoning_that_is_no_text_is_kept() -> None:
    """Reasoning in a form that Inspect does not have is kept, and is no text."""
    part = {"type": "reasoning", "reasoning": {"of": "another tool"}}
    asked = [{"role": "user", "content": [part], "reasoning": ["too"]}]

    record = DATASET.read({"input": asked, "target": "4"})

    assert record.messages == [{**asked[0], "content": None}]
    kept = {"input_parts": [{"message": 0, **part}]}
    assert record.extra == {"inspect-dataset": kept}


def test_parts_of_another_chat_are_lost_aloud() -> None:
    """Kept parts that fit no message are not written, and that is reported."""
    kept = {"inspect-dataset": {"input_parts": [{"message": 5, "type": "image"}]}}
    row, outcomes = written(Record(prompt="q", extra=kept))

    assert row["input"] == [{"role": "user", "content": "q"}]
    assert outcomes == ["extra.inspect-dataset.input_parts: they fit no message"]


def test_calls_of_tools_are_spelt_as_inspect_does() -> None:
    """A call of a record has the keys of Inspect in a sample, and comes back."""
    call = {"id": "c", "name": "add", "arguments": {"x": 2}}
    chat: list[Row] = [USER, {**ANSWER, "tool_calls": [call]}, USER]
    row, outcomes = written(Record(messages=chat))
    (own,) = row["input"][1]["tool_calls"]

    expected = {"id": "c", "function": "add", "arguments": {"x": 2}}
    assert own == {**expected, "type": "function"}
    assert outcomes == []
    assert DATASET.read(row).messages == chat


def test_a_record_that_asks_nothing_is_refused() -> None:
    """A sample needs an input."""
    with pytest.raises(Unconvertible, match="neither a prompt nor messages"):
        written(Record(references=["4"]))


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
    assert sample_sign(row) == ""


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
    assert log_sign(document) == ""


def test_conversation_of_an_answer_is_not_asked(tmp_path: Path) -> None:
    """A sample of a log asks what it asked, whatever its agent did then."""
    log = FIXTURES / "inspect-log" / "valid" / "tools-and-scores.json"
    output = tmp_path / "data.jsonl"
    assert convert(log, to="inspect-dataset", output=output).ok
    rows = jsonl_rows(output)

    assert rows[0]["input"] == "Capital of Peru?"
    assert [each["role"] for each in rows[1]["input"]] == ["system", "user"]
    assert rows[1]["target"] == ["5", "five"]
