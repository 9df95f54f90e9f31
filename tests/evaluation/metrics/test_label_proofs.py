"""Metrics of labels against scikit-learn, on labels in eleven kinds of text."""

import random
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from harpia_formats.evaluation.metrics import measure_of
from harpia_formats.evaluation.metrics.label_counts import OTHER, LabelPair, LabelScores
from harpia_formats.evaluation.scoring.measures.label_totals import (
    confusion_of,
    label_values,
)
from harpia_formats.evaluation.scoring.measures.metric_score import Confusion
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


def counted(
    name: str, pairs: Pairs, /, **parameters: Any
) -> tuple[LabelScores, Counter[LabelPair]]:
    """Return a metric of labels, and the counts of answers and references by it."""
    labels = measure_of(name, parameters).labels
    assert labels is not None
    read = labels.reading.pair
    return labels, Counter(read(answer, [reference]) for answer, reference in pairs)


def value(name: str, pairs: Pairs, /, **parameters: Any) -> float | None:
    """Return the score of answers and references."""
    (found,) = label_values(*counted(name, pairs, **parameters))
    return found


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
        for average in ("macro", "micro", "weighted"):
            for zero in (0, 1):
                options = {"average": average, "zero_division": zero}
                for name in ("precision", "recall"):
                    theirs = expected(f"{name}_score", *columns, **options)
                    assert value(name, pairs, **options) == pytest.approx(
                        theirs, abs=1e-9
                    )
            theirs = expected("f1_score", *columns, average=average)
            assert value(f"f1-{average}", pairs) == pytest.approx(theirs, abs=1e-9)
        positive = columns[0][0]
        for name, function in (
            ("precision", "precision"),
            ("recall", "recall"),
            ("f1-binary", "f1"),
        ):
            theirs = expected(
                f"{function}_score", *columns, labels=[positive], average="macro"
            )
            ours = value(name, pairs, positive=positive)
            assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("count", ALL)
def test_correlation_and_kappa_are_those_of_scikit_learn(count: int) -> None:
    """MCC and kappa are equal; kappa is not defined where theirs is no number."""
    for pairs in data_sets(count):
        columns = columns_of(pairs)
        theirs = expected("matthews_corrcoef", *columns)
        assert value("mcc", pairs) == pytest.approx(theirs, abs=1e-9)
        theirs = expected("cohen_kappa_score", *columns)
        ours = value("kappa", pairs)
        if ours is None:
            assert len({*columns[0], *columns[1]}) == 1
        else:
            assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("count", ALL)
@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_is_that_of_scikit_learn(count: int, weights: str) -> None:
    """With labels in an order, distances weigh as there."""
    for pairs in data_sets(count):
        columns = columns_of(pairs)
        labels = list(dict.fromkeys((*columns[0], *columns[1])))
        if len(labels) > 1:
            theirs = expected(
                "cohen_kappa_score", *columns, labels=labels, weights=weights
            )
            ours = value("kappa", pairs, labels=labels, weights=weights)
            assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("count", ALL)
def test_other_answers_are_those_outside_of_the_labels(count: int) -> None:
    """With given labels, answers without one are as in scikit-learn's `labels`."""
    for pairs in data_sets(count):
        references, answers = columns_of(pairs)
        labels = list(dict.fromkeys((*references, "one more label")))
        mapped = [one if one in labels else OTHER for one in answers]
        present = [one for one in labels if one in {*references, *answers}]
        for average in ("macro", "micro", "weighted"):
            options: dict[str, Any] = {"average": average, "labels": present}
            for name in ("precision", "recall"):
                theirs = expected(
                    f"{name}_score", references, mapped, zero_division=0, **options
                )
                ours = value(name, pairs, average=average, labels=labels)
                assert ours == pytest.approx(theirs, abs=1e-9)
            theirs = expected("f1_score", references, mapped, **options)
            ours = value(f"f1-{average}", pairs, labels=labels)
            assert ours == pytest.approx(theirs, abs=1e-9)
        theirs = expected("matthews_corrcoef", references, mapped)
        assert value("mcc", pairs, labels=labels) == pytest.approx(theirs, abs=1e-9)


def test_confusion_is_that_of_scikit_learn() -> None:
    """Rows are references and columns are answers, in the order of sorted labels."""
    for pairs in data_sets(SHORT):
        columns = columns_of(pairs)
        theirs = expected("confusion_matrix", *columns).tolist()

        metric, counts = counted("mcc", pairs)
        assert confusion_of(metric.reading, counts) == Confusion(
            tuple(sorted({*columns[0], *columns[1]})),
            tuple(map(tuple, theirs)),
        )


def test_a_pair_is_read_as_labels() -> None:
    """The proofs above read labels as the metrics do."""
    labels = measure_of("mcc", {}).labels
    assert labels is not None
    for pairs in data_sets(1):
        assert [labels.reading.pair(one, [other]) for one, other in pairs] == [
            LabelPair(label_of(other), label_of(one)) for one, other in pairs
        ]
