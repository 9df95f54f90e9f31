"""Metrics of labels against scikit-learn, on labels in eleven kinds of text."""

import random
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import harpia_formats
from harpia_formats import ScoreError
from metric_scores import answered, totals
from text_kinds import KINDS, SEED

sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")

#: The data sets of each kind of text.
SHORT, LONG = 2, 60
ALL = [SHORT, pytest.param(LONG, marks=pytest.mark.long)]
Pairs = list[tuple[str, str]]


def data_sets(count: int) -> Iterator[Pairs]:
    """Yield answers and references of labels: `count` lists for each kind of text.

    Some have labels that only answers or only references have, or one label.
    """
    chance = random.Random(SEED)  # noqa: S311 - a seed, not secrecy
    for words, space in KINDS.values():
        for number in range(count):
            names = [f"{word}{space}{at % 3}" for at, word in enumerate(words)]
            labels = chance.sample(names, chance.choice((1, 2, 3, 5, len(names))))
            spoken = chance.sample(names, 3) if number % 3 == 1 else labels
            found = []
            for _ in range(chance.choice((1, 2, 10, 50, 100))):
                reference = labels[min(int(chance.expovariate(0.7)), len(labels) - 1)]
                is_right = chance.random() < chance.choice((0.2, 0.6, 0.9))
                answer = reference if is_right else chance.choice(spoken)
                found.append((_varied(chance, answer), _varied(chance, reference)))
            yield found


def _varied(chance: random.Random, label: str) -> str:
    return chance.choice((label, label, f" {label}\n", label.upper(), label.lower()))


def label_of(text: str) -> str:
    """Return the label that a text is read as."""
    return text.strip().lower()


def rows_of(pairs: Pairs) -> list[Any]:
    """Return a record for each answer and its reference."""
    return [
        answered(answer, [reference], id=str(at))
        for at, (answer, reference) in enumerate(pairs)
    ]


def check(
    pairs: Pairs, expected_of: Sequence[tuple[str, dict[str, Any], float]]
) -> None:
    """Hold the scores of metrics with their parameters against what is expected."""
    names = [f"{at}={metric}" for at, (metric, _, _) in enumerate(expected_of)]
    given = {
        f"{at}.{name}": value
        for at, (_, parameters, _) in enumerate(expected_of)
        for name, value in parameters.items()
    }
    found = harpia_formats.score(
        rows_of(pairs), from_="record", metrics=names, parameters=given, replicates=0
    )
    theirs = [value for _, _, value in expected_of]
    assert [one.value for one in found] == pytest.approx(theirs, abs=1e-9)


def columns_of(pairs: Pairs) -> tuple[list[str], list[str]]:
    """Return the labels of references and of answers, as scikit-learn takes them."""
    return [label_of(one) for _, one in pairs], [label_of(one) for one, _ in pairs]


def expected(function: str, *columns: Sequence[str], **options: Any) -> Any:
    """Return what a function of scikit-learn returns, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(sklearn, function)(*columns, **options)


@pytest.mark.parametrize("count", ALL)
def test_averages_are_those_of_scikit_learn(count: int) -> None:
    """Precision, recall and F1 are equal by every average, and that of one label."""
    for pairs in data_sets(count):
        columns = columns_of(pairs)
        wanted: list[tuple[str, dict[str, Any], float]] = []
        for average in ("macro", "micro", "weighted"):
            for zero in (0, 1):
                options = {"average": average, "zero_division": zero}
                for name in ("precision", "recall"):
                    theirs = expected(f"{name}_score", *columns, **options)
                    wanted.append((name, options, theirs))
            theirs = expected("f1_score", *columns, average=average)
            wanted.append((f"f1-{average}", {}, theirs))
        positive = columns[0][0]
        for name in ("precision", "recall", "f1-binary"):
            theirs = expected(
                f"{name.removesuffix('-binary')}_score",
                *columns,
                labels=[positive],
                average="macro",
            )
            wanted.append((name, {"positive": positive}, theirs))
        check(pairs, wanted)


@pytest.mark.parametrize("count", ALL)
def test_correlation_and_kappa_are_those_of_scikit_learn(count: int) -> None:
    """MCC and kappa are equal; kappa is not defined where theirs is no number."""
    for pairs in data_sets(count):
        columns = columns_of(pairs)
        check(pairs, [("mcc", {}, expected("matthews_corrcoef", *columns))])
        if len({*columns[0], *columns[1]}) == 1:
            with pytest.raises(ScoreError, match="kappa has no score"):
                totals("kappa", rows_of(pairs))
        else:
            check(pairs, [("kappa", {}, expected("cohen_kappa_score", *columns))])


@pytest.mark.parametrize("count", ALL)
def test_weighted_kappa_is_that_of_scikit_learn(count: int) -> None:
    """With labels in an order, distances weigh as there."""
    for pairs in data_sets(count):
        columns = columns_of(pairs)
        labels = list(dict.fromkeys((*columns[0], *columns[1])))
        wanted: list[tuple[str, dict[str, Any], float]] = []
        for weights in ("linear", "quadratic"):
            options = {"labels": labels, "weights": weights}
            theirs = expected("cohen_kappa_score", *columns, **options)
            wanted.append(("kappa", options, theirs))
        if len(labels) > 1:
            check(pairs, wanted)


@pytest.mark.parametrize("count", ALL)
def test_other_answers_are_those_outside_of_the_labels(count: int) -> None:
    """With given labels, answers without one are as in scikit-learn's `labels`."""
    for pairs in data_sets(count):
        references, answers = columns_of(pairs)
        labels = list(dict.fromkeys((*references, "one more label")))
        mapped = [one if one in labels else "(no label)" for one in answers]
        present = [one for one in labels if one in {*references, *answers}]
        wanted: list[tuple[str, dict[str, Any], float]] = []
        for average in ("macro", "micro", "weighted"):
            options: dict[str, Any] = {"average": average, "labels": present}
            for name in ("precision", "recall"):
                theirs = expected(
                    f"{name}_score", references, mapped, zero_division=0, **options
                )
                wanted.append((name, {"average": average, "labels": labels}, theirs))
            theirs = expected("f1_score", references, mapped, **options)
            wanted.append((f"f1-{average}", {"labels": labels}, theirs))
        theirs = expected("matthews_corrcoef", references, mapped)
        check(pairs, [*wanted, ("mcc", {"labels": labels}, theirs)])


def test_confusion_is_that_of_scikit_learn() -> None:
    """Rows are references and columns are answers, in the order of sorted labels."""
    for pairs in data_sets(SHORT):
        columns = columns_of(pairs)
        theirs = expected("confusion_matrix", *columns).tolist()
        (found,) = totals("mcc", rows_of(pairs))

        assert found.confusion.to_dict() == {
            "labels": sorted({*columns[0], *columns[1]}),
            "counts": theirs,
        }
