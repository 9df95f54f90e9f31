import json
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from msgspec import UNSET, to_builtins

import harpia_formats
from corpora import CORPORA
from harpia_formats import validate
from harpia_formats.plugins import Row
from harpia_formats.validation import companion_checks
from harpia_formats.validation.dedup.repeated_digests import missing_digest_batches
from json_lines import jsonl, jsonl_rows

REAL = CORPORA / "neighbours" / "mt-bench"

QUESTION: Row = {
    "question_id": 202,
    "category": "math",
    "turns": ["7 + 5?", "Minus 3?"],
    "reference": ["12", "9"],
}
ANSWER: Row = {
    "question_id": 202,
    "answer_id": "a",
    "model_id": "finch-7b",
    "choices": [{"index": 0, "turns": ["12", "8"]}],
    "tstamp": 1.5,
}
JUDGEMENT: Row = {
    "question_id": 202,
    "model": "finch-7b",
    "judge": ["owl-1", "single-v1"],
    "user_prompt": "Rate it.",
    "judgment": "Good. [[9]]",
    "score": 9,
    "turn": 1,
}


def user(text: str) -> Row:
    """Return a message of the user."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Row:
    """Return a message of the model."""
    return {"role": "assistant", "content": text}


def test_turns_of_question_and_answer_alternate(asked: Path) -> None:
    """With its question, an answer is a conversation of user and assistant."""
    (record,) = harpia_formats.read(jsonl(ANSWER), companion=asked)

    assert record.outputs[0].turns == [
        user("7 + 5?"),
        assistant("12"),
        user("Minus 3?"),
        assistant("8"),
    ]
    assert record.prompt == "Minus 3?"
    assert record.references == ["9"]
    assert record.category == "math"
    assert record.extra
    assert record.extra["mt-bench"]["reference"] == ["12"]


@pytest.mark.parametrize(
    ("turn", "prompt", "reference", "other"),
    [
        (1, "7 + 5?", "12", "9"),
        (2, "Minus 3?", "9", "12"),
        (2.0, "Minus 3?", "9", "12"),
    ],
)
def test_a_judgement_is_about_its_turn(
    turn: float, prompt: str, reference: str, other: str, asked: Path
) -> None:
    """A judgement has the prompt and reference of its turn, and keeps the others."""
    row = JUDGEMENT | {"turn": turn}
    (record,) = harpia_formats.read(jsonl(row), companion=asked)

    assert record.prompt == prompt
    assert record.references == [reference]
    unjudged = [text for text in QUESTION["turns"] if text != prompt]
    assert record.extra == {"mt-bench": {"turns": unjudged, "reference": [other]}}
    (scored,) = record.outputs[0].scores or []
    assert str(scored.signature).endswith(f"|prompt:single-v1|turn:{turn:g}")


def test_keys_of_one_name_are_kept_of_question_and_answer(asked: Path) -> None:
    """What the question has with another value is next to what the answer has."""
    asked.write_bytes(jsonl(QUESTION | {"tstamp": 1, "source": "s"}))
    row = ANSWER | {"reference": "r"}
    (record,) = harpia_formats.read(jsonl(row), companion=asked)

    assert record.extra == {
        "mt-bench": {
            "answer_id": "a",
            "tstamp": 1.5,
            "source": "s",
            "reference": "r",
            "question": {"tstamp": 1, "reference": ["12"]},
        }
    }


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """Return a file with the question, and one of a single turn."""
    file = tmp_path / "question.jsonl"
    other = {"question_id": 203, "turns": ["2+2?"], "reference": ["4"]}
    file.write_bytes(jsonl(QUESTION, other))
    return file


def test_files_are_read_with_their_questions(asked: Path) -> None:
    """Answers and judgements of a file have the question that the other file has."""
    for row in (ANSWER, JUDGEMENT | {"turn": 2}):
        (record,) = harpia_formats.read(jsonl(row), companion=asked)

        assert record.prompt == "Minus 3?"
        assert record.references == ["9"]


def test_answers_become_rows_of_others(asked: Path) -> None:
    """With its question an answer is a row of NeMo, and a conversation of EvalEval."""
    given = {"evaluation_id": "e", "evaluation_name": "n"}
    found = {}
    for to, options in (
        ("nemo-output", {}),
        ("eee@0.3.0", {"constants": given, "score": "em"}),
    ):
        output = BytesIO()
        harpia_formats.convert(
            jsonl(ANSWER),
            to=to,
            output=output,
            companion=asked,
            **options,  # type: ignore[arg-type]  # options of two kinds
        )
        (found[to],) = decoded(output.getvalue())

    assert found["nemo-output"]["input"]["prompt"] == "Minus 3?"
    assert found["nemo-output"]["response"] == "8"
    assert [each["role"] for each in found["eee@0.3.0"]["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]


def decoded(data: bytes) -> list[Row]:
    """Return the rows of an array or of lines."""
    if data.startswith(b"["):
        return list(json.loads(data))
    return jsonl_rows(data)


def test_a_row_without_its_question_is_reported(asked: Path) -> None:
    """Validation with the questions names the answer whose question is missing."""
    data = jsonl(ANSWER, ANSWER | {"question_id": 9})
    found = [each.code for each in validate(data, companion=asked).problems]

    assert found == ["B103"]
    assert [each.prompt for each in harpia_formats.read(data, companion=asked)] == [
        "Minus 3?",
        UNSET,
    ]


def test_every_row_without_its_question_is_reported(
    asked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many questions are missing: the file is read again for some of them."""
    batches = partial(missing_digest_batches, held=1)
    monkeypatch.setattr(companion_checks, "missing_digest_batches", batches)
    rows = [ANSWER | {"question_id": number} for number in range(100, 104)]
    problems = validate(jsonl(ANSWER, *rows), companion=asked).problems

    found = [each.place.record for each in problems if each.code == "B103"]
    assert sorted(filter(None, found)) == [2, 3, 4, 5]


def test_an_answer_in_one_turn_of_two_answers_the_first(asked: Path) -> None:
    """What was asked later and not answered is kept, and is no turn or prompt."""
    row = ANSWER | {"choices": [{"index": 0, "turns": ["12"]}]}
    (record,) = harpia_formats.read(jsonl(row), companion=asked)

    assert record.outputs[0].turns == [user("7 + 5?"), assistant("12")]
    assert record.prompt == "7 + 5?"
    assert record.references == ["12"]
    assert record.extra
    assert record.extra["mt-bench"]["turns"] == ["Minus 3?"]
    assert record.extra["mt-bench"]["reference"] == ["9"]


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        (202, [["12"], ["12", "8"]]),
        (202, [["12", "8", "7"]]),
        (203, [["4"], ["4", "8"]]),
        (203, [["4", "8"]]),
    ],
)
def test_answers_to_no_common_turn_have_no_prompt(
    question: int, answers: list[list[str]], asked: Path
) -> None:
    """Where texts answer several turns, or none of the question's, none is asked."""
    choices = [{"index": at, "turns": turns} for at, turns in enumerate(answers)]
    row = ANSWER | {"question_id": question, "choices": choices}
    (record,) = harpia_formats.read(jsonl(row), companion=asked)
    references = {202: ["12", "9"], 203: ["4"]}[question]

    assert record.prompt is UNSET
    assert record.messages is UNSET
    assert record.references is UNSET
    assert record.extra
    assert record.extra["mt-bench"]["reference"] == references
    assert "turns" not in record.extra["mt-bench"]
    assert [
        [turn["content"] for turn in output.turns or () if turn["role"] == "assistant"]
        for output in record.outputs
    ] == answers


def test_a_question_may_have_an_empty_list_of_references() -> None:
    """That is none, which a question may have."""
    assert validate(jsonl(QUESTION | {"reference": []})).problems == ()


@pytest.mark.corpora
def test_questions_of_fastchat_are_read() -> None:
    """Of 22 questions, 81 has no reference and 101 one for each of its two turns."""
    records = {
        record.id: to_builtins(record)
        for record in harpia_formats.read(REAL / "question.first22.jsonl")
    }

    assert len(records) == 22
    assert records[81]["category"] == "writing"
    assert "references" not in records[81]
    assert len(records[81]["messages"]) == 2
    assert records[101]["category"] == "reasoning"
    assert records[101]["references"] == ["Uncertain."]
    assert records[101]["extra"]["mt-bench"]["reference"] == [
        "You are in second place."
    ]


@pytest.mark.corpora
def test_answers_of_fastchat_are_read() -> None:
    """Two answers of one model have two turns each."""
    records = list(harpia_formats.read(REAL / "reference_answer_gpt-4.first2.jsonl"))

    assert [record.id for record in records] == [101, 102]
    assert {output.model for record in records for output in record.outputs} == {
        "gpt-4"
    }
    assert all(len(record.outputs[0].turns or ()) == 2 for record in records)


@pytest.mark.corpora
def test_answers_of_fastchat_have_their_questions() -> None:
    """Joined by `question_id`, user and assistant alternate in the two turns."""
    records = harpia_formats.read(
        REAL / "reference_answer_gpt-4.first2.jsonl",
        companion=REAL / "question.first22.jsonl",
    )
    roles = [
        [turn["role"] for turn in output.turns or ()]
        for record in records
        for output in record.outputs
    ]

    assert roles == [["user", "assistant", "user", "assistant"]] * 2
