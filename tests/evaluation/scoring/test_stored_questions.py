"""pass@k and maj@k by scores that a tool stored."""

from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ScoreError, compare_scores
from harpia_formats.plugins import MetricError
from json_lines import jsonl
from unchecked import score


def answer(text: str, *scores: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with stored scores."""
    return {"model": "m", "text": text, "scores": list(scores)}


def lines(*questions: list[dict[str, Any]]) -> bytes:
    """Return a record for each question, with its answers."""
    rows = [
        {"id": f"q{number}", "prompt": f"p{number}", "outputs": answers}
        for number, answers in enumerate(questions)
    ]
    return jsonl(*rows)


def right(value: Any = 1, metric: str = "match", **more: Any) -> dict[str, Any]:
    """Return a stored score."""
    return {"metric": metric, "value": value, **more}


TWO = lines(
    [answer("4", right(1)), answer("5", right(0)), answer(" 4", right(1))],
    [answer("7", right(False)), answer("7", right(False)), answer("8", right(True))],
)


def test_stored_scores_tell_what_is_correct() -> None:
    """Scores of 0 and 1, or true and false, are counted for each question."""
    metrics = ("pass@1", "pass@2", "maj@3")

    found = score(TWO, stored=True, metrics=metrics, missing="skip")

    assert found["pass@1"].value == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found["pass@2"].value == pytest.approx((1 + 2 / 3) / 2)
    assert found["maj@3"].value == 0.5
    assert found["pass@1"].signature == (
        "pass@k|" + found["pass@1"].signature.split("|")[1] + "|correct:stored|"
        "of:match;impl:unknown|scale:0-1"
    )


def test_stored_means_and_scores_of_questions_are_shown_together() -> None:
    """A stored metric may be named next to metrics of questions."""
    found = score(TWO, stored=True, metrics=("match", "pass@2"), missing="skip")

    assert [one.name for one in found] == ["match", "pass@2"]
    assert found["match"].value == 0.5


def test_a_stored_score_with_the_name_of_a_metric_is_shown_as_it_is() -> None:
    """What a tool calls pass@1 is its own score, and not computed again."""
    data = lines(
        [answer("a", right(0.25, "pass@1")), answer("b", right(0.75, "pass@1"))]
    )

    found = score(data, stored=True, metrics=("pass@1",), missing="skip")

    assert found["pass@1"].value == 0.5
    assert found["pass@1"].signature == "pass@1|impl:unknown"


def test_scores_of_questions_are_as_comparable_as_the_stored_ones() -> None:
    """Without signatures nothing proves that these were computed the same way."""

    def inputs(**signature: str) -> list[bytes]:
        return [
            lines(*([answer(f"{at}", right(at % 2, **signature))] for at in range(one)))
            for one in (8, 9)
        ]

    options: dict[str, Any] = {"stored": True, "metrics": ("pass@1",)}
    with pytest.raises(ScoreError, match="the signatures of pass@1 do not prove"):
        compare_scores(*inputs(), **options)
    (found,) = compare_scores(*inputs(signature="match|a"), **options).compared
    assert found.signature.startswith("pass@k|")


def test_a_score_that_is_no_number_is_wrong_where_it_counts_as_0() -> None:
    """As the mean counts it, so do the metrics of questions of the same scores."""

    def system(*values: Any) -> bytes:
        scores = (right(value, signature="match|a") for value in values)
        return lines(*([answer("4", one)] for one in scores))

    inputs = system(1, 1, None, 1), system(1, 0, 1, 1)
    metrics = ("match", "pass@1", "maj@1")
    missing: Any

    for missing, questions, first in (("skip", 3, 1), ("zero", 4, 0.75)):
        found = compare_scores(*inputs, stored=True, metrics=metrics, missing=missing)
        assert [one.name for one in found.compared] == [*metrics]
        assert {one.questions for one in found.compared} == {questions}
        assert {one.first for one in found.compared} == {first}


def test_is_correct_counts_before_the_value() -> None:
    """Where a score says whether the answer is correct, its value does not."""
    data = lines([answer("a", right(0.4, is_correct=True)), answer("b", right(0.9))])
    both = lines(
        [
            answer("a", right(0.4, is_correct=True)),
            answer("b", right(0.9, is_correct=False)),
        ]
    )

    assert score(both, stored=True, metrics=("pass@1",))["pass@1"].value == 0.5
    with pytest.raises(ScoreError, match=r"match has 0\.9; without"):
        score(data, stored=True, metrics=("pass@1",))


def test_each_stored_quantity_has_its_own_score() -> None:
    """Several quantities are distinguished, and `correct` chooses one of them."""
    data = lines(
        [
            answer("a", right(1), right(0, "other"), right(7, "length")),
            answer("b", right(0), right(0, "other"), right(1, "length")),
        ]
    )
    options: dict[str, Any] = {
        "stored": True,
        "metrics": ("pass@2",),
        "missing": "skip",
    }

    every = score(data, **options)
    one = score(data, **options, parameters={"pass@2.correct": "other"})

    assert {score.name: score.value for score in every} == {
        "pass@2 of match": 1,
        "pass@2 of other": 0,
    }
    assert (
        "pass@2 is not computed of length, whose values are neither right nor wrong"
        in every.notes
    )
    assert one["pass@2"].value == 0


@for_each_case(
    "parameters, error, message",
    [
        ({"pass@k.correct": "em"}, MetricError, "but must be one of match"),
        ({"pass@k.x": 1}, MetricError, "metric pass@k has no parameter 'x'"),
        ({"pass@k.threshold": 0.5}, MetricError, "no parameter 'threshold'"),
        ({"maj@2.same": "none"}, ScoreError, "of a metric that is not computed"),
        ({"em.scale": 1}, ScoreError, "leave out `--param`"),
    ],
)
def test_other_parameters_are_refused(
    parameters: dict[str, Any], error: type[Exception], message: str
) -> None:
    """Only parameters of the metrics of questions say anything of stored scores."""
    with pytest.raises(error, match=message):
        score(TWO, stored=True, metrics=("pass@1",), parameters=parameters)


def test_answers_of_several_filters_are_not_counted_again() -> None:
    """A row for each filter of lm-eval repeats the same answers."""
    rows = [
        {
            "id": "q1",
            "prompt": "p",
            "references": ["a"],
            "outputs": [
                answer(
                    "a",
                    right(1, evaluation_name="task", signature=f"match|filter:{name}"),
                ),
                {"model": "m", "text": "b"},
            ],
        }
        for name in ("strict", "loose")
    ]
    data = jsonl(*rows)

    found = score(data, metrics=("pass@2",))

    assert (found["pass@2"].count, found["pass@2"].value) == (2, 1)
