"""maj@k of one question: every set of k answers, and what the same answer is."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import HarpiaFormatsError, ScoreError
from metric_scores import totals

#: How often each different answer was given, and was correct.
QUESTIONS = st.lists(
    st.integers(1, 4).flatmap(
        lambda given: st.tuples(st.just(given), st.integers(0, given))
    ),
    min_size=1,
    max_size=4,
)


def by_enumeration(answers: Sequence[tuple[int, int]], k: int) -> float:
    """Return the share of all sets of k answers that a correct one wins."""
    every = [
        (which, Fraction(right, given))
        for which, (given, right) in enumerate(answers)
        for _ in range(given)
    ]
    won, sets = Fraction(0), list(combinations(every, k))
    for drawn in sets:
        counts = Counter(drawn)
        most = max(counts.values())
        winners = [right for (_, right), count in counts.items() if count == most]
        won += sum(winners, Fraction(0)) / len(winners)
    return float(won / len(sets))


def majority(answers: Sequence[tuple[int, int]], k: int) -> Any:
    """Return maj@k of a question: the same answer differs in its case where wrong."""
    texts = [
        text
        for at, (given, right) in enumerate(answers)
        for text in [f"w{at}"] * right + [f"W{at}"] * (given - right)
    ]
    references = [f"w{at}" for at in range(len(answers))]
    (found,) = totals(
        f"maj@{k}", [question(texts, references)], correct="accuracy", same="squad"
    )
    return found.value


def question(texts: Sequence[str], references: Sequence[str], **more: Any) -> Any:
    """Return a record with several answers."""
    outputs = [{"text": text} for text in texts]
    return {"references": [*references], "outputs": outputs, **more}


@given(QUESTIONS, st.data())
def test_majority_is_that_of_every_set_of_k(
    answers: list[tuple[int, int]], data: st.DataObject
) -> None:
    """It is the exact share over all sets, where tied answers share a set."""
    k = data.draw(st.integers(1, min(sum(given for given, _ in answers), 10)))

    assert majority(answers, k) == by_enumeration(answers, k)


@given(QUESTIONS)
def test_majority_of_one_or_two_is_the_mean(answers: list[tuple[int, int]]) -> None:
    """One answer wins alone and two different ones share: both are pass@1."""
    count, correct = (sum(column) for column in zip(*answers, strict=True))

    for k in (1, 2)[:count]:
        assert majority(answers, k) == correct / count


@given(st.integers(1, 60), st.data())
def test_majority_of_many_sets_is_within_bounds(
    count: int, data: st.DataObject
) -> None:
    """It is from 0 to 1, and 1 minus that of the wrong answers."""
    answers, left = [], count
    while left:
        given = data.draw(st.integers(1, left))
        answers.append((given, given * data.draw(st.integers(0, 1))))
        left -= given
    k = data.draw(st.integers(1, count))
    wrong = tuple((given, given - right) for given, right in answers)

    found = majority(answers, k)

    assert 0 <= found <= 1
    assert found + majority(wrong, k) == pytest.approx(1, abs=1e-12)


@for_each_case(
    "parameters, answers, expected",
    [
        ({}, ["The cat!", "cat", "dog", "dog"], 0.5),
        ({}, ["The cat!", "cat", "a cat", "dog"], 1),
        ({"correct": "accuracy"}, ["The cat!", "cat", "dog", "dog"], 0),
        ({"correct": "accuracy"}, ["The cat!", "cat", "a dog", "dog"], 0.25),
        ({"correct": "accuracy", "same": "squad"}, ["The cat!", "cat", "dog"], 0.5),
        (
            {"correct": "string-check", "correct.operation": "contains"},
            ["a cat", "the cat", "dog", "dog"],
            0,
        ),
        ({"correct": "f1", "threshold": 0.5}, ["the cat", "cat", "dog"], 1),
    ],
)
def test_the_metric_says_which_answers_are_the_same(
    parameters: dict[str, Any], answers: list[str], expected: float
) -> None:
    """Answers are the same by the text that the metric compares, or by `same`."""
    name = f"maj@{len(answers)}"
    (found,) = totals(name, [question(answers, ["cat"])], **parameters)

    assert found.value == expected


def test_numbers_are_the_same_answer_however_they_are_written() -> None:
    """With a check of numbers the extracted number is the answer."""
    for correct in ("number-check", "number-match"):
        texts = ["it is 4", "The answer is 4.0", "so 5", "6"]
        (found,) = totals("maj@4", [question(texts, ["4"])], correct=correct)

        assert found.value == 1


def test_what_a_tool_extracted_is_the_answer() -> None:
    """With a metric of what a filter kept, the same answer is that, too."""
    row = question(["so 0: 4", "so 1: 4", "so 2: 5"], ["4"])
    for output in row["outputs"]:
        kept = {"extraction_method": "none", "extracted_value": output["text"][-1]}
        output["attribution"] = [kept]

    (found,) = totals("maj@3", [row], correct="lm-eval-exact-match")

    assert found.value == 1


def test_choices_are_the_same_answer_by_letter_or_text() -> None:
    """With multiple choice the named choice is the answer."""
    texts = ("(B)", "blue", "A")
    row = question(texts, ["B"], choices=["red", "blue"])
    (found,) = totals("maj@3", [row], correct="multiple-choice")

    assert found.value == 1
    with pytest.raises(ScoreError, match="no choices"):
        totals("maj@3", [question(texts, ["B"])], correct="multiple-choice")


@for_each_case(
    "name, parameters, message",
    [
        ("maj@101", {}, "is 101, but must be a whole number from 1 to 100"),
        ("maj@3", {"same": "squat"}, "one of none, .*did you mean squad"),
        (
            "maj@3",
            {"correct": "rougeL", "threshold": 0.5},
            "same of the metric maj@k is None, but must be one of none, lower",
        ),
        ("maj@3", {"correct": "rougeL"}, "those of rougeL may be neither"),
        ("maj@3", {"correct": "inspect-match"}, "same .* must be one of none, lower"),
    ],
)
def test_what_has_no_majority_is_refused(
    name: str, parameters: dict[str, Any], message: str
) -> None:
    """The error names the parameter, and what it must be."""
    pytest.importorskip("rapidfuzz", reason="the extra score is not installed")
    pytest.importorskip("sacrebleu", reason="the extra score is not installed")
    with pytest.raises(ScoreError, match=message):
        totals(name, [question("aaa", ["a"])], **parameters)


def test_too_many_answers_are_refused() -> None:
    """The work grows with k and the answers, so that both are bounded."""
    row = question([str(number) for number in range(1001)], ["1"])

    with pytest.raises(
        HarpiaFormatsError, match="has 1,001 answers, of which maj@100 would"
    ):
        totals("maj@k", [row], k=[1, 100])
