"""Scores of labels over whole data sets: totals, intervals, groups, errors."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats import ScoreError
from json_lines import jsonl

ALL = ("precision", "recall", "f1-macro", "f1-micro", "f1-weighted", "mcc", "kappa")


def rows_of(
    pairs: Sequence[tuple[str | None, str]], **more: Any
) -> list[dict[str, Any]]:
    """Return a record for each pair of an answer and a reference."""
    return [
        {
            "id": number,
            "prompt": f"question {number}",
            "references": [reference],
            "outputs": [{"model": "m", "text": answer} if answer is not None else {}],
            **more,
        }
        for number, (answer, reference) in enumerate(pairs)
    ]


def random_pairs(count: int, seed: int = 7) -> list[tuple[str, str]]:
    """Return answers and references, of which about two thirds agree."""
    chance = random.Random(seed)  # noqa: S311 - a seed, not secrecy
    names = ["pos", "neg", "neu", "Neg "]
    found = []
    for _ in range(count):
        reference = chance.choice(names)
        answer = reference if chance.random() < 0.6 else chance.choice(names)
        found.append((answer, reference))
    return found


def compared(*inputs: list[dict[str, Any]], **options: Any) -> Any:
    """Return the report of a comparison of records, which needs the extra score."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    options = {"metrics": ALL, "from_": "record", "replicates": 100, **options}
    return harpia_formats.compare_scores(*inputs, **options)


def score(data: Any, **options: Any) -> Any:
    """Return the scores of records, or of a file of them."""
    options = {"metrics": ALL, "from_": "record", "replicates": 100, **options}
    return harpia_formats.score(data, **options)


def test_confusion_counts_answers_by_both_labels() -> None:
    """A row has the answers to references with its label, a column those of answers."""
    pairs = [("b", "a"), ("a", "a"), ("A ", "a"), ("c", "b"), ("b", "b")]
    found = score(rows_of(pairs))
    confusion = found["mcc"].confusion

    assert confusion.labels == ("a", "b", "c")
    assert confusion.counts == ((2, 1, 0), (0, 1, 1), (0, 0, 0))
    (system,) = found.to_dict()["systems"]
    assert system["scores"][0]["confusion"] == {
        "labels": ["a", "b", "c"],
        "counts": [[2, 1, 0], [0, 1, 1], [0, 0, 0]],
    }


def test_given_labels_keep_their_order() -> None:
    """Given labels are in their order, also those that do not occur, then no label."""
    options = {"metrics": ("mcc",), "parameters": {"mcc.labels": ["c", "b", "a"]}}
    found = score(rows_of([("x", "b"), ("b", "b")]), **options)["mcc"].confusion

    assert found.labels == ("c", "b", "a", "(no label)")
    assert found.counts[1] == (0, 1, 0, 1)


def test_scores_are_equal_for_any_number_of_workers(tmp_path: Path) -> None:
    """Two processes give the same scores, intervals and counts as one."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(jsonl(*rows_of(random_pairs(700)), ensure_ascii=False))
    one, two = (score(path, jobs=jobs) for jobs in (1, 2))

    assert one.systems == two.systems
    assert {each.questions for each in one} == {700}
    assert all(each.interval and each.interval[0] < each.interval[1] for each in one)
    assert {each.count for each in one} == {700}


def test_order_of_answers_changes_no_digit() -> None:
    """The same records in another order have the same scores and intervals."""
    rows = rows_of(random_pairs(300))
    turned = random.Random(3).sample(rows, len(rows))  # noqa: S311 - a seed

    assert score(rows).systems == score(turned).systems


def test_groups_and_models_have_labels_of_their_own() -> None:
    """The counts of groups of a model add up to those of the model."""
    pairs = random_pairs(200)
    rows = [
        {**row, "category": "xy"[number % 2], "outputs": [{"model": model, "text": a}]}
        for model in ("m1", "m2")
        for number, (row, (a, _)) in enumerate(zip(rows_of(pairs), pairs, strict=True))
    ]
    found = score(rows, by=("category",))

    assert [dict(group.key) for group in found.groups] == [
        {"model": model, "category": name} for model in ("m1", "m2") for name in "xy"
    ]
    assert len({system.scores for system in found.systems}) == 1
    wholes = [group["mcc"].confusion.counts for group in found.groups[:2]]
    sums = [
        tuple(map(sum, zip(*rows, strict=True))) for rows in zip(*wholes, strict=True)
    ]
    assert tuple(sums) == found.systems[0]["mcc"].confusion.counts


def test_repeated_answers_are_one_question() -> None:
    """Ten copies of each answer do not make an interval narrower."""
    rows = rows_of(random_pairs(60))
    one = score(rows)
    ten = score([{**row, "outputs": row["outputs"] * 10} for row in rows])

    assert [each.questions for each in ten] == [each.questions for each in one]
    assert [each.count for each in ten] == [600] * len(ALL)
    for single, copied in zip(one, ten, strict=True):
        assert copied.value == pytest.approx(single.value)
        assert copied.interval == pytest.approx(single.interval)


def test_missing_answers_are_wrong_if_they_count() -> None:
    """With missing="zero" an answer that is not there has no label."""
    rows = rows_of([("a", "a"), (None, "b"), (None, "a")])
    skipped, zero = (
        score(rows, missing=how, metrics=("recall", "mcc")) for how in ("skip", "zero")
    )

    assert skipped["recall"].value == 1
    assert skipped["recall"].unscored == 2
    assert zero["recall"].value == pytest.approx(1 / 4)
    assert zero["mcc"].confusion.labels == ("a", "b", "(no label)")


def test_texts_are_refused() -> None:
    """More than 100 labels are an error with examples, which redaction hides."""
    rows = rows_of([(f"secret answer {number}", "yes") for number in range(101)])
    with pytest.raises(ScoreError, match="'secret answer 0'") as caught:
        score(rows)
    with pytest.raises(ScoreError, match="more than 100 labels: these") as hidden:
        score(rows, redact=True)

    assert 'parameters={"precision.labels": [' in str(caught.value)
    assert "secret" not in str(hidden.value)


def test_redaction_numbers_the_labels() -> None:
    """A confusion matrix shows no label of the data if values are hidden."""
    rows = rows_of([("x", "y"), ("y", "y")])
    found = score(rows, redact=True, metrics=("mcc",), missing="skip")

    assert found["mcc"].confusion.labels == ("label 1", "label 2")


def test_one_label_has_no_kappa_but_a_reason() -> None:
    """Where kappa is not defined, the error says why."""
    with pytest.raises(ScoreError, match="all references and answers have one label"):
        score(rows_of([("a", "a"), ("a", "a")]), metrics=("kappa",))


def test_replicates_without_a_score_are_counted() -> None:
    """The interval leaves them out, and a remark says how many they are."""
    same = ("a", "a"), ("b", "b")
    right, wrong = (
        score(rows_of([*same, pair]), metrics=("kappa",), replicates=1000)["kappa"]
        for pair in (("a", "a"), ("a", "b"))
    )

    assert right.value == 1
    assert right.interval == (1, 1)
    assert "no replicate differs" in right.remark
    assert "replicates have no score" in right.remark
    assert wrong.remark.endswith(
        "replicates have no score: the interval is approximate"
    )


def test_few_references_with_a_label_are_remarked() -> None:
    """Averages over labels say it below ten questions, and micro averages do not."""
    pairs = [("ab"[number % 2], "ab"[number % 3 == 0]) for number in range(60)]
    copied = rows_of([*pairs, *[("c", "c")] * 9, ("d", "a")])
    usual, few, several = map(
        score,
        (
            rows_of(pairs),
            rows_of([*pairs, *[("c", "c")] * 9]),
            [{**row, "outputs": row["outputs"] * 5} for row in copied],
        ),
    )

    assert {each.remark for each in usual} == {""}
    for found in (few, several):
        remarks = {each.name: each.remark.partition(":")[0] for each in found}
        assert remarks["f1-micro"] == remarks["f1-weighted"] == ""
        assert remarks["f1-macro"] == remarks["mcc"] == "few references with a label"


def test_labels_of_one_reference_each_may_be_texts() -> None:
    """Metrics of labels say of a file of texts that it may hold no labels."""
    texts = [(f"answer {at // 2}", f"answer {at}") for at in range(60)]
    labels = [("a", "ab"[at % 2]) for at in range(60)]
    metrics = ("f1-macro",)
    rows, other = rows_of(texts), rows_of([*labels, *texts[:9]])
    found, usual = (score(one, metrics=metrics)["f1-macro"] for one in (rows, other))
    (row,) = compared(rows, rows, metrics=metrics).compared

    assert found.remark.startswith("most labels are in one reference only")
    assert usual.remark.startswith("few references with a label")
    assert "most labels are in one reference only" in row.comparison.remark


# Results and comparisons


def test_formats_of_single_answers_refuse_labels(tmp_path: Path) -> None:
    """Where scores of single answers are written, the error says what takes labels."""
    rows = rows_of(random_pairs(10))
    for target in ("csv", "record", "harpia-log", "haystack-results"):
        with pytest.raises(ScoreError, match="precision scores the labels of all"):
            score(rows, to=target, output=tmp_path / "out")
    score(rows, to="nemo-results", output=tmp_path / "out", metrics=("mcc",))

    found = json.loads((tmp_path / "out").read_text())
    metric = found["tasks"]["evaluation"]["metrics"]["mcc"]["scores"]["mcc"]
    assert metric["value"] == score(rows)["mcc"].value


@pytest.mark.parametrize(
    "test", [None, pytest.param("permutation", marks=pytest.mark.long)]
)
def test_systems_are_compared_by_their_labels(test: str | None) -> None:
    """Each system has its own scores, also if the other one has other labels."""
    pairs = random_pairs(60)
    others = [
        ("other" if number % 3 else reference, reference)
        for number, (_, reference) in enumerate(pairs)
    ]
    # The same questions, in another order.
    inputs = rows_of(pairs), rows_of(others)[::-1]
    found = compared(*inputs, replicates=40, test=test).compared

    one, other = map(score, inputs)
    assert [each.first for each in found] == [each.value for each in one]
    assert [each.second for each in found] == [each.value for each in other]
    for each in found:
        assert each.comparison.low <= each.comparison.difference <= each.comparison.high
        assert each.comparison.test.startswith(test or "bootstrap")
        if each.name == "recall":
            assert each.comparison.p_value < 0.05


@pytest.mark.parametrize("test", [None, "permutation"])
def test_replicates_without_a_score_are_no_evidence(test: str | None) -> None:
    """They count as far in the p-value; the difference is marked and has no size."""
    pairs = [("yes", "yes"), *[("no", "no")] * 59]
    wrong = [("no", "yes"), ("yes", "no"), *pairs[2:]]
    found = compared(
        rows_of(pairs),
        rows_of(wrong),
        metrics=("kappa", "f1-binary"),
        parameters={"f1-binary.positive": "yes"},
        replicates=200,
        test=test,
    )

    for each in (score.comparison for score in found.compared):
        assert each.p_value > 0.3
        assert each.detectable is each.beyond_scale is None
        assert "replicates have no score, few references" in each.remark


def test_comparisons_with_few_references_are_marked() -> None:
    """Below ten references with a label of averages over labels, and not of others."""
    found = {}
    for few in (19, 20):
        pairs = [(("a", "b")[number % 3 == 0], "a") for number in range(60)]
        pairs += [("b", "b")] * few
        both = rows_of(pairs), rows_of([*[("b", "a")] * 20, *pairs[20:]])
        found[few] = {
            each.name: each.comparison.remark
            for each in compared(*both, replicates=50).compared
        }

    approximate = (
        "few references with a label: the interval and the p-value are approximate"
    )
    assert found[19]["recall"] == found[19]["mcc"] == approximate
    assert found[19]["f1-micro"] == ""
    assert set(found[20].values()) == {""}


def test_systems_without_answers_or_with_several_are_compared() -> None:
    """Labels of several answers add up, and a system without answers has no score."""
    rows = rows_of(random_pairs(30))
    several = [{**row, "outputs": row["outputs"] * 3} for row in rows]
    none = [{**row, "outputs": [{"model": "m"}]} for row in rows]

    (found,) = compared(rows, several, metrics=("mcc",)).compared
    assert found.first == found.second == score(rows)["mcc"].value
    with pytest.raises(ScoreError, match="mcc"):
        compared(rows, none, missing="skip", metrics=("mcc",))


def test_correlations_differ_by_two_at_most() -> None:
    """A difference from -1 to 1 can be detected, and a larger one is an error."""
    rows = rows_of(random_pairs(30))
    for name, widest in (("mcc", 2), ("kappa", 2), ("f1-macro", 1)):
        found = compared(rows, rows, detect=widest, metrics=(name,))
        assert found.detect == widest
        with pytest.raises(ScoreError, match=f"of {name}, which is 0 to {widest}$"):
            compared(rows, rows, detect=widest + 0.5, metrics=(name,))


def test_equal_systems_do_not_differ() -> None:
    """A system does not differ from itself."""
    rows = rows_of(random_pairs(30))
    found = [each.comparison for each in compared(rows, rows).compared]

    assert [(one.difference, one.p_value) for one in found] == [(0, 1)] * len(ALL)


def test_stored_scores_of_these_names_are_those_of_other_tools() -> None:
    """A score of one answer that a tool calls recall is averaged as any other."""
    rows = rows_of(random_pairs(4))
    for number, row in enumerate(rows):
        row["outputs"][0]["scores"] = [{"metric": "recall", "value": number / 4}]
    found = score(rows, stored=True, metrics=())

    assert found["recall"].value == 6 / 16
    assert found["recall"].confusion is None
    assert not [note for note in found.notes if "not the score" in note]
