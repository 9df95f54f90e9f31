"""Metrics of labels: their definitions, parameters and how labels are read."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from harpia_formats import ScoreError
from harpia_formats.evaluation.metrics import measure_of
from metric_scores import answered, totals

#: Pairs of an answer and its reference: 2 of 3 cats, 1 of 2 dogs, no bird is right.
PAIRS = [
    ("cat", "cat"),
    ("Cat ", "cat"),
    ("dog", "cat"),
    ("dog", "dog"),
    ("fish", "dog"),
    ("cat", "bird"),
]
LABELS = ["cat", "dog", "bird", "fish"]
#: How a matrix shows the label of an answer that is none of the labels.
OTHER = "(no label)"


def score(
    name: str, pairs: Sequence[tuple[str, str]] = PAIRS, /, **parameters: Any
) -> Any:
    """Return the score of answers with their references by a metric of labels."""
    rows = [answered(answer, [reference]) for answer, reference in pairs]
    (found,) = totals(name, rows, **{"labels": LABELS} | parameters)
    return found


def value(
    name: str, pairs: Sequence[tuple[str, str]] = PAIRS, /, **parameters: Any
) -> Any:
    """Return the value of that score."""
    return score(name, pairs, **parameters).value


def labels_of(
    answer: str, references: Sequence[str], /, **parameters: Any
) -> tuple[str, str]:
    """Return the label that references have, and the one that an answer has."""
    (found,) = totals("f1-macro", [answered(answer, references)], **parameters)
    ((row, column),) = (
        (row, column)
        for row, numbers in enumerate(found.confusion.counts)
        for column, number in enumerate(numbers)
        if number
    )
    names = found.confusion.labels
    return names[row], names[column]


@for_each_case(
    "name, parameters, expected",
    [
        ("precision", {}, (2 / 3 + 1 / 2) / 4),
        ("precision", {"zero_division": 1}, (2 / 3 + 1 / 2 + 1) / 4),
        ("precision", {"average": "micro"}, 3 / 6),
        ("precision", {"average": "weighted"}, (2 / 3 * 3 + 1 / 2 * 2) / 6),
        ("precision", {"positive": "CAT"}, 2 / 3),
        ("recall", {}, (2 / 3 + 1 / 2) / 4),
        ("recall", {"zero_division": 1}, (2 / 3 + 1 / 2 + 1) / 4),
        ("recall", {"positive": "bird"}, 0),
        ("f1-macro", {}, (4 / 6 + 2 / 4) / 4),
        ("f1-macro", {"scale": 100}, 100 * (4 / 6 + 2 / 4) / 4),
        ("f1-micro", {}, 3 / 6),
        ("f1-weighted", {}, (3 * 4 / 6 + 2 * 2 / 4) / 6),
        ("f1-binary", {"positive": "dog"}, 2 / 4),
        ("mcc", {}, (3 * 6 - 13) / ((36 - 14) * (36 - 14)) ** 0.5),
        ("kappa", {}, 1 - (6 - 3) * 6 / (36 - 13)),
    ],
)
def test_scores_are_those_of_the_definition(
    name: str, parameters: dict[str, Any], expected: float
) -> None:
    """Each score is what its definition gives for the counts of six answers."""
    assert value(name, **parameters) == pytest.approx(expected, abs=1e-12)


@for_each_case(
    "name, parameters",
    [
        ("f1-macro", {}),
        ("precision", {"average": "micro"}),
        ("recall", {"average": "weighted"}),
        ("mcc", {}),
        ("kappa", {}),
        ("kappa", {"weights": "linear"}),
        ("kappa", {"weights": "quadratic"}),
    ],
)
def test_statistics_of_answers_add_up_to_the_score(
    name: str, parameters: dict[str, Any]
) -> None:
    """The sums of what is counted of each pair of labels have the score of all."""
    scores = measure_of(name, {"labels": LABELS[:3], **parameters}).labels
    assert scores is not None
    pairs = [scores.reading.pair(answer, [one]) for answer, one in PAIRS]
    labels = scores.reading.ordered(chain.from_iterable(pairs))
    sums = [
        sum(column)
        for column in zip(*(scores.row(pair, labels) for pair in pairs), strict=True)
    ]

    (found,) = scores.scores_of(sums, labels)
    assert found == value(name, labels=LABELS[:3], **parameters)


@for_each_case(
    "name, parameters, is_remarked",
    [
        ("f1-macro", {}, True),
        ("f1-micro", {}, False),
        ("f1-weighted", {}, False),
        ("precision", {"average": "micro"}, False),
        ("precision", {"average": "micro", "positive": "cat"}, True),
        ("mcc", {}, True),
    ],
)
def test_intervals_of_few_references_are_remarked(
    name: str, parameters: dict[str, Any], is_remarked: bool
) -> None:
    """Scores of one label and means over labels say it; other averages do not."""
    pytest.importorskip("numpy", reason="intervals need the extra score")
    found = harpia_formats.score(
        [answered(answer, [one], id=at) for at, (answer, one) in enumerate(PAIRS)],
        from_="record",
        metrics=(name,),
        parameters={f"{name}.{key}": one for key, one in parameters.items()},
        replicates=20,
    )

    assert found[name].remark.startswith("few references") == is_remarked


def test_labels_that_do_not_occur_are_no_part_of_an_average() -> None:
    """A given label that no reference and no answer has changes no score."""
    more = [*LABELS, "cow", "horse"]

    assert value("f1-macro", labels=more) == value("f1-macro")
    assert value("recall", labels=more) == value("recall")
    assert value("mcc", labels=more) == value("mcc")


def test_an_answer_without_a_label_is_wrong_and_no_label() -> None:
    """Recall has it among the references, and precision among no label's answers."""
    labels = ["cat", "dog", "bird"]

    assert value("recall", labels=labels) == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert value("precision", labels=labels) == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert value("precision", labels=labels, average="micro") == 3 / 5
    assert value("recall", labels=labels, average="micro") == 3 / 6


@pytest.mark.parametrize(
    ("weights", "wrong", "distance"), [("linear", 2, 1), ("quadratic", 4, 1)]
)
def test_kappa_weighs_the_distance_of_ordered_labels(
    weights: str, wrong: int, distance: int
) -> None:
    """A pair of the first and the last label weighs more than one of neighbours."""
    pairs = [("low", "low"), ("high", "low"), ("mid", "high"), ("high", "high")]
    found = value("kappa", pairs, labels=["low", "mid", "high"], weights=weights)
    # Two references each are low and high; answers are low, mid, high, high.
    expected = 2 * (distance + 2 * wrong) + 2 * (wrong + distance)

    assert found == pytest.approx(1 - (wrong + distance) * 4 / expected)


def test_no_label_is_farthest_from_all_ordered_labels() -> None:
    """An answer without a label disagrees as the first label with the last one."""
    labels = ["low", "mid", "high"]
    pairs = [("low", "low"), ("other", "mid")]
    # The references are low and mid, each as far from no label as low from high.
    for weights, far in (("linear", 2), ("quadratic", 4)):
        found = value("kappa", pairs, labels=labels, weights=weights)
        assert found == pytest.approx(1 - far * 2 / (far + far + 1))


def test_one_label_has_no_kappa_and_a_correlation_of_0() -> None:
    """Where no disagreement is expected, kappa is not defined."""
    pairs = [("cat", "cat")] * 3

    with pytest.raises(ScoreError, match="kappa has no score"):
        value("kappa", pairs)
    assert value("mcc", pairs) == 0
    assert value("f1-macro", pairs) == 1


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_a_positive_label_without_a_reference_has_a_score(average: str) -> None:
    """The score of one label is the same by any average, and is no division by 0."""
    pairs = [("spam", "ham"), ("ham", "ham")]
    parameters = {"labels": None, "positive": "spam", "average": average}

    assert value("precision", pairs, **parameters) == 0
    assert value("recall", pairs, **parameters, zero_division=1) == 1


def test_a_positive_label_that_nothing_has_is_no_score_of_0() -> None:
    """A positive label that does not occur is not defined, and has a reason."""
    with pytest.raises(ScoreError, match="no reference and no answer"):
        value("f1-binary", labels=[*LABELS, "cow"], positive="cow")


@for_each_case(
    "parameters, references, expected",
    [
        ({}, ["dog", "Cat"], ("cat", "cat")),
        ({}, ["dog", "bird"], ("dog", "cat")),
        ({"references": "first"}, ["dog", "Cat"], ("dog", "cat")),
        ({"labels": ["dog", "bird"]}, ["cat", "dog"], ("dog", OTHER)),
        ({"normalisation": "none"}, ["Cat"], ("Cat", " CAT")),
    ],
)
def test_labels_are_read_by_the_parameters(
    parameters: dict[str, Any], references: list[str], expected: tuple[str, str]
) -> None:
    """The label of any reference is right, or that of the first one."""
    assert labels_of(" CAT", references, **parameters) == expected


def test_long_texts_are_no_labels() -> None:
    """A long answer has no label, and a long reference is a finding."""
    assert labels_of("a" * 201, ["a"]) == ("a", OTHER)
    assert labels_of(OTHER, [OTHER], normalisation="none") == (OTHER, OTHER)
    assert value("f1-macro", [(OTHER, OTHER)], labels=None, normalisation="none") == 1
    assert labels_of("a" * 200, ["a"]) == ("a", "a" * 200)
    with pytest.raises(ScoreError, match="more than 200 characters is no label"):
        labels_of("a", ["a" * 201])


def test_a_reference_must_be_one_of_the_given_labels() -> None:
    """A reference that is none of the given labels is a finding."""
    with pytest.raises(ScoreError, match="none of the labels"):
        labels_of("a", ["c"], labels="a,b")


@pytest.mark.parametrize(
    ("given", "reference", "shown"),
    [
        (None, "any", "|labels:data|"),
        ("No, YES", "yes", '|labels:["no","yes"]|'),
        ([1, 2, "a|b"], "2", '|labels:["1","2","a\\u007cb"]|'),
        ([str(number) * 9 for number in range(99)], "0" * 9, "|labels:99#"),
    ],
)
def test_a_signature_has_the_labels(given: object, reference: str, shown: str) -> None:
    """Given labels are in the signature, long lists of them by a digest."""
    found = score("mcc", [(reference, reference)], labels=given)

    assert shown in found.signature


@for_each_case(
    "name, parameters, message",
    [
        ("mcc", {"labels": "a"}, "list of 2 to 100 texts"),
        ("mcc", {"labels": ["a", "A"]}, "differ when normalised"),
        ("mcc", {"labels": ["a", None]}, "list of 2 to 100 texts"),
        ("mcc", {"labels": 5}, "list of 2 to 100 texts"),
        ("mcc", {"labels": list(range(101))}, "list of 2 to 100 texts"),
        ("kappa", {"weights": "linear"}, "none without labels in their order"),
        ("kappa", {"weights": "cubic"}, "one of none, linear, quadratic"),
        ("precision", {"zero_division": 2}, "be 0 or 1"),
        ("precision", {"average": "macros"}, "did you mean macro"),
        ("f1-binary", {"positive": [1]}, "the text of a label"),
        ("f1-binary", {"labels": "a,b"}, "one of the labels that are given"),
        ("mcc", {"scale": 100}, "no parameter"),
    ],
)
def test_wrong_parameters_are_refused(
    name: str, parameters: dict[str, Any], message: str
) -> None:
    """A wrong value is an error that says what is meant."""
    with pytest.raises(ScoreError, match=message):
        value(name, **{"labels": None} | parameters)


def test_a_correlation_lies_on_a_scale_with_two_ends() -> None:
    """Its name is in the score and in the signature."""
    for name in ("mcc", "kappa"):
        found = score(name)
        assert found.scale == "-1-1"
        assert "|scale:-1-1|nrefs:" in found.signature
