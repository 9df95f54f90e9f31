"""Turns whose texts are in no written message or answer are losses."""

from typing import Any

import pytest

from harpia_formats.conversion.mapping.choices import Choices, Turns
from harpia_formats.conversion.mapping.fit import fit_record
from harpia_formats.model.adapter import Cardinality, RowCapacity
from harpia_formats.model.field_outcomes import FieldOutcomes, Outcome
from harpia_formats.model.record import Output, Record

#: Rows with texts only, and rows with a chat before the answer.
TEXTS = RowCapacity()
CHATS = RowCapacity(Cardinality.MANY, messages=True)
USER = {"role": "user", "content": "q"}
LAST = {"role": "assistant", "content": "b"}
MORE: list[dict[str, Any]] = [
    USER,
    {"role": "assistant", "content": "first"},
    USER,
    LAST,
]
THOUGHT = {"role": "assistant", "content": None, "reasoning": "hm"}


def outcomes_of(
    said: list[dict[str, Any]], outputs: int = 1, **choices: Any
) -> set[Outcome]:
    """Return the outcomes of turns where a row holds the last answer only."""
    answers = [Output(model=f"m{at}", text="b", turns=said) for at in range(outputs)]
    record = Record(id="1", prompt="q", outputs=answers)
    outcomes = FieldOutcomes()
    list(fit_record(record, TEXTS, Choices(**choices), outcomes))
    return {each.outcome for each in outcomes.entries if each.path == "outputs.turns"}


@pytest.mark.parametrize("turns", [MORE, [USER, THOUGHT, LAST], [USER, LAST, THOUGHT]])
def test_what_a_lost_turn_says_is_a_loss(turns: list[dict[str, Any]]) -> None:
    """An earlier answer, or reasoning, is dropped, and not only changed."""
    assert outcomes_of(turns) == {Outcome.DROPPED}


def test_turns_that_say_no_more_than_the_row_are_changed() -> None:
    """The question and the answer are there, in another form."""
    assert outcomes_of([USER, LAST]) == {Outcome.CHANGED}


def test_transcript_holds_what_earlier_turns_say() -> None:
    """A transcript has every text before the answer, and no reasoning."""
    changed, dropped = Outcome.CHANGED, Outcome.DROPPED

    assert outcomes_of(MORE, turns=Turns.TRANSCRIPT) == {changed}
    lost: list[dict[str, Any]] = [USER, THOUGHT, LAST]
    assert outcomes_of(lost, turns=Turns.TRANSCRIPT) == {changed, dropped}


@pytest.mark.parametrize(
    ("content", "outcome"), [("q", None), ("other", Outcome.DROPPED)]
)
def test_messages_that_turns_replace(content: str, outcome: Outcome | None) -> None:
    """Messages are a loss if the turns that take their place do not say the same."""
    record = Record(
        id="1",
        messages=[{"role": "user", "content": content}],
        outputs=[Output(text="b", turns=[USER, LAST])],
    )
    outcomes = FieldOutcomes()
    list(fit_record(record, CHATS, Choices(), outcomes))

    found = {each.outcome for each in outcomes.entries if each.path == "messages"}
    assert found == ({outcome} if outcome else set())
