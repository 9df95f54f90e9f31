"""pass@k and maj@k of whole data sets against independent implementations.

The short form runs always, the long one with `-m long`.
"""

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import pytest

from json_lines import jsonl
from text_kinds import squad_text
from unchecked import score

np = pytest.importorskip("numpy", reason="the extra score is not installed")

SHORT, LONG, SEED = 200, 10_000, 20_261_123
ALL = [SHORT, pytest.param(LONG, marks=pytest.mark.long)]
#: Right and wrong answers of several scripts, some the same but for their spelling.
RIGHT = ("Paris", "paris.", "The Paris", "北京", "é", "القاهرة", "12,5%")
WRONG = ("Lyon", "lyon!", "上海", "", "no", "¿Qué?", "13")


def questions(count: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the right answer to each question, and three to eight answers."""
    chance = random.Random(SEED)  # noqa: S311 - a seed, not secrecy
    for _ in range(count):
        right, ease = chance.choice(RIGHT), chance.random()
        yield (
            right,
            [
                chance.choice(RIGHT if chance.random() < ease else WRONG)
                for _ in range(chance.randint(3, 8))
            ],
        )


def lines(data: list[tuple[str, list[str]]]) -> bytes:
    """Return a line for each answer, in an order that parts those of a question."""
    rows = [
        {
            "id": f"q{number}",
            "prompt": f"question {number}",
            "references": [right],
            "outputs": [{"model": "m", "text": text}],
        }
        for number, (right, answers) in enumerate(data)
        for text in answers
    ]
    random.Random(SEED).shuffle(rows)  # noqa: S311 - a seed, not secrecy
    return jsonl(*rows)


def human_eval_estimate(answers: int, correct: int, k: int) -> float:
    """Return pass@k as the code of Chen and others (2021) computes it."""
    if answers - correct < k:
        return 1.0
    drawn = np.arange(answers - correct + 1, answers + 1)
    return float(1.0 - np.prod(1.0 - k / drawn))


def majority_by_sets(texts: list[str], right: str, k: int) -> Fraction:
    """Return the share of all sets of k texts whose most frequent one is right."""
    won = Fraction(0)
    sets = list(combinations(texts, k))
    for drawn in sets:
        counts = Counter(drawn)
        most = max(counts.values())
        winners = [text for text, count in counts.items() if count == most]
        won += Fraction(winners.count(right), len(winners))
    return won / len(sets)


@pytest.mark.parametrize("count", ALL)
def test_pass_at_k_equals_that_of_human_eval(count: int) -> None:
    """It is the mean of the published estimate over questions, to 1e-9."""
    data = list(questions(count))

    found = score(lines(data), metrics=("pass@1", "pass@2", "pass@3", "pass@7"))

    for k in (1, 2, 3, 7):
        estimates = [
            human_eval_estimate(
                len(answers),
                [squad_text(one) for one in answers].count(squad_text(right)),
                k,
            )
            for right, answers in data
            if len(answers) >= k
        ]
        one = found[f"pass@{k}"]
        assert one.value == pytest.approx(float(np.mean(estimates)), abs=1e-9)
        assert one.questions == len(estimates)
        assert one.standard_error == pytest.approx(
            float(np.std(estimates, ddof=1)) / len(estimates) ** 0.5, abs=1e-9
        )


@pytest.mark.parametrize("count", ALL)
def test_majority_equals_that_of_all_sets(count: int) -> None:
    """It is the mean of the share of all sets over questions, to 1e-9."""
    data = list(questions(count))

    found = score(lines(data), metrics=("maj@3", "maj@5"), replicates=0)

    for k in (3, 5):
        shares = [
            majority_by_sets([squad_text(one) for one in answers], squad_text(right), k)
            for right, answers in data
            if len(answers) >= k
        ]
        expected = float(sum(shares) / len(shares))
        assert found[f"maj@{k}"].value == pytest.approx(expected, abs=1e-9)
