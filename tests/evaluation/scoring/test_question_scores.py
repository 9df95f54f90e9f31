"""Scores of questions by all answers to them, over a data set."""

import io
import json
import random
from typing import Any

import pytest

import harpia_formats
from harpia_formats import ScoreError
from json_lines import jsonl
from sample_rows import answered
from unchecked import score


def repeated(questions: int = 300, times: int = 5) -> list[dict[str, Any]]:
    """Return a line for each of several answers to each question."""
    chance = random.Random(5)  # noqa: S311 - a seed, not secrecy
    return [
        answered(number, str(number) if chance.random() < number / questions else "?")
        for _ in range(times)
        for number in range(questions)
    ]


def test_the_score_is_the_mean_over_questions() -> None:
    """Questions count alike, whatever the number of their answers, also by a mean."""
    rows = [answered(1, "1", "?", "1"), answered(2, "?", "?"), answered(3, *["3"] * 10)]

    found = score(jsonl(*rows), metrics=("pass@1", "pass@2", "em"))

    assert found["pass@1"].value == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert found["pass@2"].value == pytest.approx(2 / 3)
    assert found["em"].value == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert found["em"].over_answers is not None
    assert found["em"].over_answers.value == pytest.approx(12 / 15)
    assert (found["pass@2"].questions, found["pass@2"].count) == (3, 15)


def test_pass_at_1_is_the_mean_of_as_many_answers_to_each_question() -> None:
    """With as many answers to each question, pass@1 is em: value, error, interval."""
    found = score(jsonl(*repeated()), metrics=("pass@1", "em"))
    one, other = found["pass@1"], found["em"]

    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.standard_error == pytest.approx(other.standard_error)
    assert one.interval == pytest.approx(other.interval)
    assert one.method == other.method


def test_order_of_lines_and_jobs_change_no_digit() -> None:
    """The scores and intervals are the same for any order and number of workers."""
    rows = repeated()
    mixed = random.Random(7).sample(rows, len(rows))  # noqa: S311 - a seed, not secrecy
    metrics = ("pass@1", "pass@3", "pass@5", "maj@3")

    one, other = (
        score(jsonl(*each), metrics=metrics, jobs=jobs).table()
        for each, jobs in ((rows, 1), (mixed, 2))
    )

    assert one == other


def test_questions_with_too_few_answers_are_left_out_and_counted() -> None:
    """They have no score, and a note says how many they are."""
    rows = [answered(1, "1", "?", "?"), answered(2, "2", "2"), answered(3, "?")]

    found = score(jsonl(*rows), metrics=("pass@3",))
    only = found["pass@3"]

    assert only.value == 1
    assert (only.questions, only.count, only.unscored) == (1, 3, 3)
    assert only.left_out.questions == 2
    assert found.table()[0]["questions_left_out"] == 2
    assert (
        "pass@3 leaves out 2 of 3 questions: 3 answers are needed, and they have 1 to 2"
        in found.notes
    )
    with pytest.raises(ScoreError, match=r'2 of 3 questions: .* missing="skip"'):
        harpia_formats.score(jsonl(*rows), metrics=("pass@3",))
    with pytest.raises(ScoreError, match="2 of 3 questions"):
        harpia_formats.compare_scores(*[jsonl(*rows)] * 2, metrics=("pass@3",))


def test_no_question_with_enough_answers_is_no_score() -> None:
    """The message says how many answers the questions have."""
    message = (
        "pass@9 has no score: 9 answers to a question are needed, and questions have 2"
    )
    data = jsonl(answered(1, "1", "?"), answered(2, "2", "2"))

    found = score(data, metrics=("pass@9",))

    assert found["pass@9"].value is None
    assert not found.ok
    assert any(note.startswith(message) for note in found.notes)
    with pytest.raises(ScoreError, match=message):
        harpia_formats.score(data, metrics=("pass@9",))


def test_missing_answers_are_left_out_or_wrong() -> None:
    """A missing answer is no answer to its question, or a wrong one."""
    data = jsonl(answered(1, "1", None, None), answered(2, "2", "?", "?"))

    omitted = score(data, metrics=("pass@1", "pass@2"), missing="skip")
    counted = score(data, metrics=("pass@1", "pass@2"), missing="zero")

    assert omitted["pass@1"].value == pytest.approx((1 + 1 / 3) / 2)
    assert omitted["pass@2"].questions == 1
    assert omitted["pass@2"].unscored == 3
    assert counted["pass@1"].value == pytest.approx(1 / 3)
    assert counted["pass@2"].value == pytest.approx(2 / 3)


def test_models_with_left_out_questions_are_reported_briefly() -> None:
    """Of many models the first few are named, and the others counted."""
    outputs = [{"model": f"m{one}", "text": "1"} for one in range(50)]

    found = score(jsonl(answered(1) | {"outputs": outputs}), metrics=("pass@2",))
    notes = [note for note in found.notes if note.startswith("pass@2")]

    assert len(notes) == 6
    assert notes[-1] == "pass@2 leaves out questions of 45 more models"


def test_groups_and_models_have_questions_of_their_own() -> None:
    """Answers of a question count within their group and their model."""
    rows = [
        answered(number, str(number), "?", category=category)
        | {"outputs": [{"model": model, "text": text} for text in texts]}
        for number, category, model, texts in (
            (1, "a", "x", ["1", "?"]),
            (2, "b", "x", ["2", "2"]),
            (1, "a", "y", ["?", "?"]),
            (2, "b", "y", ["?", "2"]),
        )
    ]

    found = score(jsonl(*rows), metrics=("pass@1",), by=("category",))

    assert [system.scores[0].value for system in found.systems] == [0.75, 0.25]
    assert [group.scores[0].value for group in found.groups] == [0.5, 1, 0, 0.5]


def test_answers_of_a_question_in_several_groups_are_one_question_of_the_model() -> (
    None
):
    """Groups by metadata part the answers of a question, and the system joins them."""
    rows = [
        answered(1, text, metadata={"seed": seed}) for seed, text in enumerate("1?1?")
    ]

    found = score(jsonl(*rows), metrics=("pass@2",), by=("metadata.seed",))

    assert found["pass@2"].value == 5 / 6
    assert [group.scores[0].value for group in found.groups] == [None] * 4


@pytest.mark.parametrize("metric", ["lm-eval-exact-match", "pass@1", "maj@1"])
def test_a_metric_of_one_filter_is_compared(metric: str) -> None:
    """A metric that scores no answer without a filter has as many statistics."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    kept = [{"extraction_method": "strict", "extracted_value": "1"}]
    outputs = [{"model": "m", "text": "1", "attribution": kept}]
    data = jsonl(*[answered(number) | {"outputs": outputs} for number in range(3)])
    inner = "" if metric.startswith("lm") else "correct."
    parameters = {f"{metric}.{inner}filter": "strict"}
    if inner:
        parameters[f"{metric}.correct"] = "lm-eval-exact-match"

    found = harpia_formats.compare_scores(
        data, data, metrics=(metric,), parameters=parameters
    )

    assert found.compared[0].first == pytest.approx(1 / 3)


@pytest.mark.parametrize("to", ["csv", "record", "harpia-log", "haystack-results"])
def test_forms_with_scores_of_answers_refuse_scores_of_questions(to: str) -> None:
    """A score of a question has no place in one answer."""
    with pytest.raises(ScoreError, match=r"pass@1 scores questions: leave it out"):
        score(jsonl(answered(1, "1")), metrics=("pass@1",), to=to, output=io.BytesIO())


def test_results_of_all_answers_hold_scores_of_questions() -> None:
    """NeMo's results have the score, and statistics over questions."""
    target = io.BytesIO()
    data = jsonl(answered(1, "1", "?"), answered(2, "2", "2"))

    score(data, metrics=("pass@1",), to="nemo-results", output=target)
    document = json.loads(target.getvalue())
    metrics = document["tasks"]["evaluation"]["metrics"]
    found = metrics["pass@1"]["scores"]["pass@1"]

    assert found["value"] == 0.75
    assert (found["stats"]["count"], found["stats"]["min"]) == (2, 0.5)


def test_questions_of_both_systems_are_compared() -> None:
    """Each score is compared over the questions for which both systems have it."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    first = jsonl(
        answered(1, "1", "1"),
        answered(2, "2", "?"),
        answered(3, "3"),
        answered(4, "?", "?"),
    )
    second = jsonl(
        answered(1, "?", "?"),
        answered(2, "2", "2"),
        answered(3, "3", "3"),
        answered(4, "4"),
    )

    found = harpia_formats.compare_scores(
        first, second, metrics=("pass@1", "pass@2"), missing="skip"
    )
    one, two = found.compared

    assert (one.first, one.second, one.questions) == (0.625, 0.75, 4)
    assert (two.first, two.second, two.questions) == (1, 0.5, 2)


def test_one_answer_a_question_is_compared_as_its_score() -> None:
    """With one answer to each question, pass@1 has the p-value and interval of em."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    one, other = (
        jsonl(
            *[
                answered(number, str(number) if number % of else "?")
                for number in range(40)
            ]
        )
        for of in (3, 2)
    )

    found = harpia_formats.compare_scores(one, other, metrics=("pass@1", "em"))
    first, second = (score.comparison for score in found.compared)

    assert first is not None
    assert second is not None
    assert first.p_value == second.p_value
    assert (first.low, first.high) == (second.low, second.high)
