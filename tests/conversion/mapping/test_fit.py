"""Fitting records to the capacity of a row."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from cases import for_each_case
from harpia_formats.conversion.mapping.chats import last_text_of, transcript
from harpia_formats.conversion.mapping.choices import (
    Choices,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.mapping.fit import fit_record
from harpia_formats.conversion.mapping.questions import base_id
from harpia_formats.model.adapter import Cardinality, RowCapacity
from harpia_formats.model.field_outcomes import FieldOutcomes, Outcome, Unconvertible
from harpia_formats.model.record import Output, Record, Score

ONE = RowCapacity()
ALL = RowCapacity(
    Cardinality.MANY, Cardinality.MANY, Cardinality.MANY, messages=True, turns=True
)
CHAT = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "q1"},
    {"role": "assistant", "content": "a1"},
    {"role": "user", "content": "q2"},
]


def parts_of(
    record: Record, capacity: RowCapacity = ONE, **choices: Any
) -> tuple[list[Record], set[tuple[Outcome, str]]]:
    """Return what a record becomes, and what is noted."""
    outcomes = FieldOutcomes()
    parts = list(fit_record(record, capacity, Choices(**choices), outcomes))
    return parts, {(each.outcome, each.path) for each in outcomes.entries}


def test_record_that_fits_is_unchanged() -> None:
    """A record that fits into a row is unchanged, without any loss."""
    record = Record(
        id="1",
        messages=CHAT,
        references=["a", "b"],
        outputs=[Output(text="x", scores=[Score(value=1), Score(value=2)]), Output()],
    )

    assert parts_of(record, ALL) == ([record], set())


def test_the_first_reference_is_taken() -> None:
    """By default one reference is kept, and the rest is noted as dropped."""
    (part,), noted = parts_of(Record(prompt="q", references=["a", "b"]))

    assert part.references == ["a"]
    assert noted == {(Outcome.DROPPED, "references")}


def test_references_can_be_a_row_each() -> None:
    """With expand each reference has its row, with an id of its own."""
    record = Record(id="x", references=["a", "b"], outputs=[Output(text="y")])
    parts, noted = parts_of(record, references=References.EXPAND)

    assert [(each.id, each.references) for each in parts] == [
        ("x#1", ["a"]),
        ("x#2", ["b"]),
    ]
    assert noted == {(Outcome.SPLIT, "references"), (Outcome.CHANGED, "id")}


@for_each_case(
    "record, choices",
    [
        (Record(references=["a", "b"]), {"references": References.FAIL}),
        (Record(outputs=[Output(), Output()]), {"responses": Responses.FAIL}),
        (Record(outputs=[Output(), Output()]), {"responses": Responses.LIST}),
        (Record(messages=CHAT), {"turns": Turns.FAIL}),
        (Record(messages=CHAT[:1]), {}),
        (Record(outputs=[Output(turns=CHAT)]), {"turns": Turns.FAIL}),
    ],
)
def test_forbidden_choice_is_an_error_with_help(
    record: Record, choices: dict[str, Any]
) -> None:
    """A choice that forbids a necessary change is an error with help."""
    with pytest.raises(Unconvertible) as caught:
        parts_of(record, **choices)

    assert "--" in str(caught.value)


def test_answers_are_a_row_each() -> None:
    """By default each answer has its row, and its number behind the id."""
    record = Record(id=7, outputs=[Output(text=each) for each in "xyz"])
    parts, noted = parts_of(record)

    assert [(each.id, each.outputs[0].text) for each in parts] == [
        ("7#1", "x"),
        ("7#2", "y"),
        ("7#3", "z"),
    ]
    assert (Outcome.SPLIT, "outputs") in noted


def test_answers_of_one_model_are_a_list_where_there_is_room() -> None:
    """With list each model has one row, with all of its answers."""
    record = Record(
        outputs=[Output(model=each, text="x") for each in ("m", "n", "m")],
    )
    capacity = RowCapacity(outputs=Cardinality.MANY_OF_ONE_MODEL)
    parts, _ = parts_of(record, capacity, responses=Responses.LIST)

    assert [[one.model for one in each.outputs] for each in parts] == [
        ["m", "m"],
        ["n"],
    ]


def test_the_first_answer_can_be_all() -> None:
    """With first the other answers are dropped, and all scores of the first stay."""
    scores = [Score(value=1), Score(value=2)]
    others = [Output(text="y", scores=scores)]
    record = Record(outputs=[Output(text="x", scores=scores), *others])
    capacity = RowCapacity(scores=Cardinality.ONE)
    parts, noted = parts_of(record, capacity, responses=Responses.FIRST)

    assert [part.outputs for part in parts] == [
        [Output(text="x", scores=[score])] for score in scores
    ]
    assert noted == {(Outcome.DROPPED, "outputs"), (Outcome.SPLIT, "outputs.scores")}


def test_scores_are_a_row_each() -> None:
    """Several scores of one answer are several rows where a row holds one."""
    record = Record(outputs=[Output(text="x", scores=[Score(value=1), Score(value=2)])])
    parts, noted = parts_of(record, RowCapacity(scores=Cardinality.ONE))

    assert [each.outputs[0].scores for each in parts] == [
        [Score(value=1)],
        [Score(value=2)],
    ]
    assert noted == {(Outcome.SPLIT, "outputs.scores")}


def test_scores_without_a_verdict_have_no_row_of_their_own() -> None:
    """Rows that need a verdict are made of the scores that have one, if any do."""
    capacity = RowCapacity(scores=Cardinality.ONE, needs_verdict=True)
    graded = Score(metric="f1", value=0.5)
    missing = Score(metric="judge", value=None, is_correct=False)
    right = Score(metric="em", value=1, is_correct=True)
    record = Record(id="1", outputs=[Output(scores=[graded, missing, right])])
    without = Record(id="1", outputs=[Output(scores=[graded, missing])])

    parts, noted = parts_of(record, capacity)
    refused, _ = parts_of(without, capacity)

    assert parts == [Record(id="1", outputs=[Output(scores=[right])])]
    assert noted == {(Outcome.DROPPED, "outputs.scores")}
    assert [part.outputs[0].scores for part in refused] == [[graded], [missing]]


def test_answers_of_one_model_only() -> None:
    """A model that is asked for is the only one whose answers are left."""
    record = Record(outputs=[Output(model="m"), Output(model="n"), Output()])
    (part,), noted = parts_of(record, ALL, model="n")

    assert part.outputs == [Output(model="n")]
    assert noted == {(Outcome.DROPPED, "outputs")}


def test_a_chat_is_its_last_question() -> None:
    """By default the last message of the user is the prompt, as Tencent has it."""
    (part,), noted = parts_of(Record(messages=CHAT))

    assert (part.prompt, part.system) == ("q2", "s")
    assert noted == {
        (Outcome.DROPPED, "messages"),
        (Outcome.DEFAULTED, "prompt"),
        (Outcome.DEFAULTED, "system"),
    }


def test_a_chat_of_one_question_is_changed() -> None:
    """Where every text of a chat is in the row, the chat is there in another form."""
    chat = [CHAT[0], {"role": "user", "content": "q2"}]
    (part,), noted = parts_of(Record(messages=chat))

    assert (part.prompt, part.system) == ("q2", "s")
    assert (Outcome.CHANGED, "messages") in noted
    assert (Outcome.DROPPED, "messages") not in noted


def test_a_chat_can_be_a_transcript() -> None:
    """With transcript the whole chat is the prompt."""
    (part,), _ = parts_of(Record(messages=CHAT), turns=Turns.TRANSCRIPT)

    assert part.prompt == "system: s\n\nuser: q1\n\nassistant: a1\n\nuser: q2"
    assert part.prompt == transcript(CHAT)


def test_a_conversation_is_its_last_question_and_answer() -> None:
    """Turns become the last prompt and the answer to it, with its reasoning."""
    answer = {"role": "assistant", "content": "a2", "reasoning": "why"}
    call: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    record = Record(outputs=[Output(turns=[*CHAT, answer, call])])
    (part,), _ = parts_of(record)

    assert part.prompt == "q2"
    assert part.outputs == [Output(text="a2", reasoning="why")]


def test_an_id_that_looks_expanded_stays_as_it_is() -> None:
    """An id that ends in a number behind # is not touched where nothing is split."""
    (part,), noted = parts_of(Record(id="x#1"))

    assert part.id == "x#1"
    assert noted == set()


@given(
    given_id=st.text(alphabet="a#12\n", max_size=6) | st.integers(0, 20),
    count=st.integers(1, 4),
)
def test_ids_of_rows_tell_the_id_of_their_record(given_id: Any, count: int) -> None:
    """The id of a record can be read from the id of each of its rows."""
    record = Record(id=given_id, outputs=[Output(index=each) for each in range(count)])
    parts, _ = parts_of(record)
    ids = [each.id for each in parts]
    bases = [base_id(each) for each in ids]

    assert len(set(ids)) == count
    assert ids == [given_id] or set(bases) == {str(given_id)}


def test_message_without_text_is_not_the_last_text() -> None:
    """A message without a text is skipped when the last text of a role is wanted."""
    texts: list[Any] = ["a", None]
    messages = [{"role": "user", "content": each} for each in texts]

    assert last_text_of(messages, "user") == "a"
    assert not last_text_of(messages, "assistant")


@for_each_case(
    "turns, text, answered, expected",
    [
        (2, UNSET, True, {Outcome.CHANGED}),
        (2, "a", True, {Outcome.CHANGED}),
        (2, "other", True, {Outcome.CHANGED, Outcome.DROPPED}),
        (2, UNSET, False, {Outcome.CHANGED, Outcome.DROPPED}),
        (3, UNSET, True, {Outcome.CHANGED, Outcome.DROPPED}),
    ],
)
def test_turn_that_is_not_written_is_dropped(
    turns: int, text: Any, answered: bool, expected: set[Outcome]
) -> None:
    """A turn whose text is in no row is dropped; others become messages."""
    chat = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "q2"},
    ]
    capacity = RowCapacity(
        outputs=Cardinality.ONE if answered else Cardinality.NONE, messages=True
    )
    record = Record(outputs=[Output(text=text, turns=chat[:turns])])
    _, noted = parts_of(record, capacity)

    assert {outcome for outcome, path in noted if path == "outputs.turns"} == expected
