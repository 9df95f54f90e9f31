"""Answers of several rows that differ in their scores only."""

from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.questions import merged_answers
from harpia_formats.model.record import Output, Score


def answer(text: str | None, metric: str = "", **fields: Any) -> Output:
    """Return an answer with one score, or without one."""
    scores: Any = [Score(metric=metric, value=1)] if metric else UNSET
    return Output(text=text, scores=scores, **fields)


def test_answers_of_several_rows_get_all_scores() -> None:
    """The same answer of two rows is one, with the scores and attributions of both."""
    step, other = {"extracted_value": "4"}, {"extracted_value": "four"}
    rows = [
        [answer("4", "a", attribution=[step])],
        [answer("4", "b", attribution=[step])],
        [answer("4", attribution=[other])],
        [answer("4")],
    ]

    assert merged_answers(rows) == [
        Output(
            text="4",
            scores=[Score(metric="a", value=1), Score(metric="b", value=1)],
            attribution=[step, other],
        )
    ]


def test_answers_of_one_row_stay_apart() -> None:
    """Two equal answers of one row were given one after the other."""
    rows = [[answer("4", "a"), answer("4")], [answer("4", "b"), answer("4")]]

    found = merged_answers(rows)

    assert [output.text for output in found] == ["4", "4"]
    assert found[1].scores is UNSET


def test_other_answers_are_added() -> None:
    """Answers that differ in anything else stay what they are."""
    rows = [[answer("4", model="a")], [answer("4", model="b")], [answer(None)]]

    assert merged_answers(rows) == [row[0] for row in rows]
