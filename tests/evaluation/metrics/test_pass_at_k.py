"""pass@k of one question: the estimate, what is correct, names with a number."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.evaluation.metrics import Measure, MetricError, measure_of, numbered
from harpia_formats.evaluation.metrics.question_metrics import pass_at_k


def question_scores(measure: Measure, answers: list[str]) -> tuple[float | None, ...]:
    """Return the scores of a question whose right answer is `yes`."""
    assert measure.question is not None
    counts: dict[tuple[float, ...], int] = {}
    for answer in answers:
        found = measure.statistics(answer, ["yes"])
        counts[found] = counts.get(found, 0) + 1
    return measure.question.scores(counts)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_pass_at_k_is_the_share_of_all_sets_of_k(
    right: list[bool], data: st.DataObject
) -> None:
    """It is the share of the sets of k answers in which one is correct."""
    k = data.draw(st.integers(1, len(right)))
    sets = list(combinations(right, k))

    found = pass_at_k(len(right), sum(right), k)

    assert found == float(Fraction(sum(map(any, sets)), len(sets)))


@given(st.integers(1, 3000), st.data())
def test_pass_at_k_is_rounded_once(answers: int, data: st.DataObject) -> None:
    """It is the exact fraction for any number of answers, from 0 to 1."""
    correct = data.draw(st.integers(0, answers))
    k = data.draw(st.integers(1, min(answers, 1000)))
    missed = Fraction(1)
    for drawn in range(k):
        missed *= Fraction(max(answers - correct - drawn, 0), answers - drawn)

    assert pass_at_k(answers, correct, k) == float(1 - missed)


def test_one_run_computes_any_k() -> None:
    """With a list of k there is a score for each, named by it."""
    measure = measure_of("pass@k", {"k": [1, 2, 3]})

    assert measure.names == ("pass@1", "pass@2", "pass@3")
    assert question_scores(measure, ["yes", "no", "no"]) == (1 / 3, 2 / 3, 1)
    assert question_scores(measure, ["no", "no"]) == (0, 0, None)


def test_a_name_may_have_the_number() -> None:
    """pass@5 is pass@k with k = 5; other names have no number."""
    assert numbered("pass@5") == ("pass@k", 5)
    for name in ("pass@k", "pass@", "pass@0", "pass@-1", "em@5", "em", "pass@5@5"):
        assert numbered(name) == (name, None)
    assert measure_of("pass@5", {}).names == ("pass@5",)
    assert measure_of("pass@5", {}).signature == measure_of("pass@k", {}).signature


@for_each_case(
    "parameters, answer, expected",
    [
        ({}, "Yes!", 1),
        ({"correct": "accuracy"}, "Yes!", 0),
        ({"correct": "em", "correct.normalisation": "none"}, "Yes!", 0),
        ({"correct": "em", "correct.scale": "0-100"}, "yes", 1),
        (
            {"correct": "string-check", "correct.operation": "contains"},
            "oh yes",
            1,
        ),
        ({"correct": "fuzzy-match"}, "oh yes", 1),
        ({"correct": "f1", "threshold": 0.5}, "oh yes", 1),
        ({"correct": "f1", "threshold": 0.7}, "oh yes", 0),
    ],
)
def test_another_metric_tells_what_is_correct(
    parameters: dict[str, Any], answer: str, expected: float
) -> None:
    """An answer is correct by the chosen metric, with that metric's parameters."""
    measure = measure_of("pass@1", parameters)

    assert measure.scores(measure.statistics(answer, ["yes"])) == (expected,)


@pytest.mark.parametrize(
    ("parameters", "part"),
    [
        ({}, "|correct:em|norm:squad|refs:max|scale:0-1"),
        ({"correct.normalisation": "none"}, "|correct:em|norm:none|refs:max|scale:0-1"),
        ({"correct": "f1", "threshold": 0.5}, "|refs:max|threshold:0.5of1|scale:0-1"),
        (
            {"correct": "f1", "correct.scale": 100, "threshold": 50},
            "|refs:max|threshold:50of100|scale:0-1",
        ),
    ],
)
def test_signature_names_what_is_correct(parameters: dict[str, Any], part: str) -> None:
    """The metric that tells, its parameters and the threshold are in the signature."""
    assert measure_of("pass@5", parameters).signature.endswith(part)


@for_each_case(
    "name, parameters, message",
    [
        ("pass@k", {"k": 0}, "k .* is 0, but must be a whole number from 1 to 1000"),
        ("pass@k", {"k": []}, "or a list of such numbers"),
        ("pass@k", {"k": [1, 1]}, "or a list of such numbers"),
        ("pass@k", {"k": True}, "or a list of such numbers"),
        ("pass@1001", {}, "is 1001, but must be"),
        ("pass@2", {"k": 3}, "the name pass@2 says k"),
        ("pass@2", {"correct": "f1"}, "those of f1 may be neither, unless .*threshold"),
        ("pass@2", {"correct": "pass@1"}, "scores questions and not answers"),
        ("pass@2", {"correct": "length"}, "has several scores .characters, words"),
        ("pass@2", {"correct": "bleu"}, "is computed of all answers together"),
        ("pass@2", {"correct": "f1-micro"}, "is computed of all answers together"),
        (
            "pass@2",
            {"correct": "accuray"},
            "mean accuracy.*parameter correct of pass@k",
        ),
        ("pass@2", {"correct": 1}, "the name of a metric"),
        ("pass@2", {"correct.x": 1}, "metric em has no parameter 'x'"),
        ("pass@2", {"threshold": "half"}, "a number of at least 0"),
        ("pass@2", {"correct": "f1", "threshold": 50}, "at most 1, the best score of"),
        ("pass@2", {"correct": "f1", "threshold": 0}, "more than 0 and at most 1"),
        ("pas@2", {}, "did you mean pass@2"),
        ("pass@0", {}, "; k of pass@k is a whole number from 1 to 1000, as in pass@5"),
        ("maj@x", {}, "; k of maj@k is a whole number from 1 to 1000, as in maj@5"),
    ],
)
def test_what_cannot_be_counted_is_refused(
    name: str, parameters: dict[str, Any], message: str
) -> None:
    """The error names the parameter, and what it must be."""
    pytest.importorskip("rapidfuzz", reason="the extra score is not installed")
    with pytest.raises(MetricError, match=message):
        measure_of(name, parameters)
