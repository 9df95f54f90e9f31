"""pass@k of one question: the estimate, what is correct, names with a number."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import ScoreError
from metric_scores import totals, value


def question(right: int, wrong: int) -> Any:
    """Return a record with right and wrong answers to a question."""
    texts = ["yes"] * right + ["no"] * wrong
    return {"references": ["yes"], "outputs": [{"text": text} for text in texts]}


@given(st.integers(1, 9), st.data())
def test_pass_at_k_is_the_share_of_all_sets_of_k(
    count: int, data: st.DataObject
) -> None:
    """It is the share of the sets of k answers in which one is correct."""
    correct = data.draw(st.integers(0, count))
    k = data.draw(st.integers(1, count))
    sets = list(combinations([at < correct for at in range(count)], k))

    (found,) = totals(f"pass@{k}", [question(correct, count - correct)])

    assert found.value == float(Fraction(sum(map(any, sets)), len(sets)))


def exact_pass_at_k(answers: int, correct: int, k: int) -> float:
    """Return the exact fraction, rounded once."""
    missed = Fraction(1)
    for drawn in range(k):
        missed *= Fraction(max(answers - correct - drawn, 0), answers - drawn)
    return float(1 - missed)


@given(st.integers(1, 300), st.data())
def test_pass_at_k_is_rounded_once(answers: int, data: st.DataObject) -> None:
    """It is the exact fraction for any number of answers, from 0 to 1."""
    correct = data.draw(st.integers(0, answers))
    k = data.draw(st.integers(1, answers))

    (found,) = totals(f"pass@{k}", [question(correct, answers - correct)])

    assert found.value == exact_pass_at_k(answers, correct, k)


def test_pass_at_k_of_thousands_of_answers_is_rounded_once() -> None:
    """So it is for the largest k."""
    for correct in (1, 2, 1501):
        (found,) = totals("pass@1000", [question(correct, 3000 - correct)])
        assert found.value == exact_pass_at_k(3000, correct, 1000)


def test_one_run_computes_any_k() -> None:
    """With a list of k there is a score for each, named by it."""
    found = totals("pass@k", [question(1, 2)], k=[1, 2, 3])
    of_fewer = totals("pass@k", [question(0, 2)], k=[1, 2])

    assert [one.name for one in found] == ["pass@1", "pass@2", "pass@3"]
    assert [one.value for one in found] == [1 / 3, 2 / 3, 1]
    assert [one.value for one in of_fewer] == [0, 0]
    with pytest.raises(ScoreError, match="3 answers to a question are needed"):
        totals("pass@3", [question(0, 2)])


def test_a_name_may_have_the_number() -> None:
    """pass@5 is pass@k with k = 5; other names have no number."""
    rows = [question(1, 9)]
    (by_name,), (by_parameter,) = totals("pass@5", rows), totals("pass@k", rows, k=5)

    assert (by_name.name, by_name.value) == ("pass@5", 0.5)
    assert by_name.value == by_parameter.value
    assert by_name.signature == by_parameter.signature
    for name in ("pass@", "pass@0", "pass@-1", "em@5", "pass@5@5"):
        with pytest.raises(ScoreError, match="no metric is called"):
            totals(name, rows)


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
    assert value("pass@1", answer, ["yes"], **parameters) == expected


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
    (found,) = totals("pass@5", [question(3, 3)], **parameters)

    assert found.signature.endswith(f"{part}|nrefs:1")


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
    with pytest.raises(ScoreError, match=message):
        totals(name, [question(3, 3)], **parameters)
