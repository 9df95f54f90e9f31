"""Scores of labels over whole data sets: totals, intervals, groups, errors."""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import harpia_formats
from harpia_formats import ScoreError
from json_lines import jsonl_rows

ALL = ("precision", "recall", "f1-macro", "f1-micro", "f1-weighted", "mcc", "kappa")
LABELS = st.sampled_from(["yes", "no", "não", "نعم", ""])


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write rows as JSON Lines."""
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


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


def score(path: Path, **options: Any) -> Any:
    """Return the scores of a file of records."""
    options = {"metrics": ALL, "from_": "record", "replicates": 100, **options}
    return harpia_formats.score(path, **options)


def test_confusion_counts_answers_by_both_labels(tmp_path: Path) -> None:
    """A row has the answers to references with its label, a column those of answers."""
    pairs = [("b", "a"), ("a", "a"), ("A ", "a"), ("c", "b"), ("b", "b")]
    found = score(write_rows(tmp_path / "a.jsonl", rows_of(pairs)))

    confusion = found["mcc"].confusion
    assert confusion is not None
    assert confusion.labels == ("a", "b", "c")
    assert confusion.counts == ((2, 1, 0), (0, 1, 1), (0, 0, 0))
    (system,) = found.to_dict()["systems"]
    assert system["scores"][0]["confusion"] == {
        "labels": ["a", "b", "c"],
        "counts": [[2, 1, 0], [0, 1, 1], [0, 0, 0]],
    }


def test_given_labels_keep_their_order(tmp_path: Path) -> None:
    """Given labels are in their order, also those that do not occur, then no label."""
    path = write_rows(tmp_path / "a.jsonl", rows_of([("x", "b"), ("b", "b")]))
    found = score(path, metrics=("mcc",), parameters={"mcc.labels": ["c", "b", "a"]})

    confusion = found["mcc"].confusion
    assert confusion is not None
    assert confusion.labels == ("c", "b", "a", "(no label)")
    assert confusion.counts[1] == (0, 1, 0, 1)


def test_scores_are_equal_for_any_number_of_workers(tmp_path: Path) -> None:
    """Two processes give the same scores, intervals and counts as one."""
    path = write_rows(tmp_path / "a.jsonl", rows_of(random_pairs(700)))
    one, two = (score(path, jobs=jobs) for jobs in (1, 2))

    assert one.systems == two.systems
    assert {each.questions for each in one} == {700}
    assert all(each.interval and each.interval[0] < each.interval[1] for each in one)
    assert {each.count for each in one} == {700}


def test_order_of_answers_changes_no_digit(tmp_path: Path) -> None:
    """The same records in another order have the same scores and intervals."""
    rows = rows_of(random_pairs(300))
    turned = random.Random(3).sample(rows, len(rows))  # noqa: S311 - a seed
    paths = [
        write_rows(tmp_path / name, part) for name, part in (("a", rows), ("b", turned))
    ]

    first, second = map(score, paths)
    assert first.systems == second.systems


def test_groups_and_models_have_labels_of_their_own(tmp_path: Path) -> None:
    """The counts of groups of a model add up to those of the model."""
    pairs = random_pairs(200)
    rows = [
        {**row, "category": "xy"[number % 2], "outputs": [{"model": model, "text": a}]}
        for model in ("m1", "m2")
        for number, (row, (a, _)) in enumerate(zip(rows_of(pairs), pairs, strict=True))
    ]
    found = score(write_rows(tmp_path / "a.jsonl", rows), by=("category",))

    assert [dict(group.key) for group in found.groups] == [
        {"model": model, "category": name} for model in ("m1", "m2") for name in "xy"
    ]
    assert len({system.scores for system in found.systems}) == 1
    wholes = [group["mcc"].confusion for group in found.groups[:2]]
    total = found.systems[0]["mcc"].confusion
    assert total is not None
    sums = [
        tuple(map(sum, zip(*rows, strict=True)))
        for rows in zip(*(each.counts for each in wholes if each), strict=True)
    ]
    assert tuple(sums) == total.counts


def test_repeated_answers_are_one_question(tmp_path: Path) -> None:
    """Ten copies of each answer do not make an interval narrower."""
    pairs = random_pairs(60)
    rows = rows_of(pairs)
    copies = [{**row, "outputs": row["outputs"] * 10} for row in rows]
    one = score(write_rows(tmp_path / "one.jsonl", rows))
    ten = score(write_rows(tmp_path / "ten.jsonl", copies))

    assert [each.questions for each in ten] == [each.questions for each in one]
    assert [each.count for each in ten] == [600] * len(ALL)
    for single, copied in zip(one, ten, strict=True):
        assert copied.value == pytest.approx(single.value)
        assert copied.interval == pytest.approx(single.interval)


def test_missing_answers_are_wrong_if_they_count(tmp_path: Path) -> None:
    """With missing="zero" an answer that is not there has no label."""
    path = write_rows(
        tmp_path / "a.jsonl", rows_of([("a", "a"), (None, "b"), (None, "a")])
    )
    skipped, zero = (
        score(path, missing=how, metrics=("recall", "mcc")) for how in ("skip", "zero")
    )

    assert skipped["recall"].value == 1
    assert skipped["recall"].unscored == 2
    assert zero["recall"].value == pytest.approx(1 / 4)
    assert zero["mcc"].confusion is not None
    assert zero["mcc"].confusion.labels == ("a", "b", "(no label)")


def test_texts_are_refused(tmp_path: Path) -> None:
    """More than 100 labels are an error with examples, which redaction hides."""
    pairs = [(f"secret answer {number}", "yes") for number in range(101)]
    path = write_rows(tmp_path / "a.jsonl", rows_of(pairs))
    with pytest.raises(ScoreError, match="'secret answer 0'") as caught:
        score(path)
    with pytest.raises(ScoreError, match="more than 100 labels: these") as hidden:
        score(path, redact=True)

    assert 'parameters={"precision.labels": [' in str(caught.value)
    assert "secret" not in str(hidden.value)


def test_redaction_numbers_the_labels(tmp_path: Path) -> None:
    """A confusion matrix shows no label of the data if values are hidden."""
    path = write_rows(tmp_path / "a.jsonl", rows_of([("x", "y"), ("y", "y")]))
    found = score(path, redact=True, metrics=("mcc",), missing="skip")

    confusion = found["mcc"].confusion
    assert confusion is not None
    assert confusion.labels == ("label 1", "label 2")


def test_one_label_has_no_kappa_but_a_reason(tmp_path: Path) -> None:
    """Where kappa is not defined, the error says why."""
    path = write_rows(tmp_path / "a.jsonl", rows_of([("a", "a"), ("a", "a")]))

    with pytest.raises(ScoreError, match="all references and answers have one label"):
        score(path, metrics=("kappa",))


def test_replicates_without_a_score_are_counted(tmp_path: Path) -> None:
    """The interval leaves them out, and a remark says how many they are."""
    path = write_rows(
        tmp_path / "a.jsonl", rows_of([("a", "a"), ("a", "a"), ("b", "b")])
    )
    found = score(path, metrics=("kappa",), replicates=1000)["kappa"]

    assert found.value == 1
    assert found.interval == (1, 1)
    assert "no replicate differs" in found.remark
    assert "replicates have no score" in found.remark
    path = write_rows(
        tmp_path / "b.jsonl", rows_of([("a", "a"), ("a", "b"), ("b", "b")])
    )
    found = score(path, metrics=("kappa",), replicates=1000)["kappa"]
    assert found.remark.endswith(
        "replicates have no score: the interval is approximate"
    )


def test_few_references_with_a_label_are_remarked(tmp_path: Path) -> None:
    """Averages over labels say it below ten questions, and micro averages do not."""
    pairs = [
        (("a", "b")[number % 2], ("a", "b")[number % 3 == 0]) for number in range(60)
    ]
    usual = score(write_rows(tmp_path / "a.jsonl", rows_of(pairs)))
    few = score(write_rows(tmp_path / "b.jsonl", rows_of([*pairs, *[("c", "c")] * 9])))
    copied = [("c", "c")] * 9 + [("d", "a")]
    rows = [
        {**row, "outputs": row["outputs"] * 5} for row in rows_of([*pairs, *copied])
    ]
    several = score(write_rows(tmp_path / "c.jsonl", rows))

    assert {each.remark for each in usual} == {""}
    for found in (few, several):
        remarks = {each.name: each.remark.partition(":")[0] for each in found}
        assert remarks["f1-micro"] == remarks["f1-weighted"] == ""
        assert remarks["f1-macro"] == remarks["mcc"] == "few references with a label"


def test_labels_of_one_reference_each_may_be_texts(tmp_path: Path) -> None:
    """Metrics of labels say of a file of texts that it may hold no labels."""
    texts = [(f"answer {at // 2}", f"answer {at}") for at in range(60)]
    labels = [("a", "ab"[at % 2]) for at in range(60)]
    path = write_rows(tmp_path / "texts.jsonl", rows_of(texts))
    other = write_rows(tmp_path / "labels.jsonl", rows_of([*labels, *texts[:9]]))
    found, usual = (score(one, metrics=("f1-macro",)) for one in (path, other))
    (row,) = harpia_formats.compare_scores(path, path, metrics=("f1-macro",)).compared

    assert found["f1-macro"].remark.startswith("most labels are in one reference only")
    assert usual["f1-macro"].remark.startswith("few references with a label")
    assert row.comparison is not None
    assert "most labels are in one reference only" in row.comparison.remark


# Results and comparisons


def test_formats_of_single_answers_refuse_labels(tmp_path: Path) -> None:
    """Where scores of single answers are written, the error says what takes labels."""
    path = write_rows(tmp_path / "a.jsonl", rows_of(random_pairs(10)))
    for target in ("csv", "record", "harpia-log", "haystack-results"):
        with pytest.raises(ScoreError, match="precision scores the labels of all"):
            score(path, to=target, output=tmp_path / "out")
    score(path, to="nemo-results", output=tmp_path / "out", metrics=("mcc",))

    found = json.loads((tmp_path / "out").read_text())
    metric = found["tasks"]["evaluation"]["metrics"]["mcc"]["scores"]["mcc"]
    assert metric["value"] == score(path)["mcc"].value


@pytest.mark.parametrize(
    "test", [None, pytest.param("permutation", marks=pytest.mark.long)]
)
def test_systems_are_compared_by_their_labels(tmp_path: Path, test: str | None) -> None:
    """Each system has its own scores, also if the other one has other labels."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    pairs = random_pairs(60)
    others = [
        ("other" if number % 3 else reference, reference)
        for number, (_, reference) in enumerate(pairs)
    ]
    paths = [
        write_rows(tmp_path / name, rows_of(found))
        for name, found in (("a", pairs), ("b", list(reversed(others))))
    ]
    rows = jsonl_rows(paths[1])
    # The same questions as in the first file, in another order.
    for row, number in zip(rows, reversed(range(60)), strict=True):
        row |= {"id": number, "prompt": f"question {number}"}
    write_rows(paths[1], rows)
    options: dict[str, Any] = {"metrics": ALL, "from_": "record", "replicates": 40}
    found = harpia_formats.compare_scores(*paths, **options, test=test)

    one, other = map(score, paths)
    assert [each.first for each in found.compared] == [each.value for each in one]
    assert [each.second for each in found.compared] == [each.value for each in other]
    for each in found.compared:
        assert each.comparison is not None
        assert each.comparison.low <= each.comparison.difference <= each.comparison.high
        assert each.comparison.test.startswith(test or "bootstrap")
        if each.name == "recall":
            assert each.comparison.p_value < 0.05


@pytest.mark.parametrize("test", [None, "permutation"])
def test_replicates_without_a_score_are_no_evidence(
    tmp_path: Path, test: str | None
) -> None:
    """They count as far in the p-value; the difference is marked and has no size."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    pairs = [("yes", "yes"), *[("no", "no")] * 59]
    wrong = [("no", "yes"), ("yes", "no"), *pairs[2:]]
    paths = [
        write_rows(tmp_path / name, rows_of(found))
        for name, found in (("a", pairs), ("b", wrong))
    ]
    options: dict[str, Any] = {"metrics": ("kappa", "f1-binary"), "from_": "record"}
    parameters = {"f1-binary.positive": "yes"}
    found = harpia_formats.compare_scores(
        *paths, **options, parameters=parameters, replicates=200, test=test
    )

    for each in found.compared:
        assert each.comparison is not None
        assert each.comparison.p_value > 0.3
        assert each.comparison.detectable is each.comparison.beyond_scale is None
        assert "replicates have no score, few references" in each.comparison.remark


def test_comparisons_with_few_references_are_marked(tmp_path: Path) -> None:
    """Below ten references with a label of averages over labels, and not of others."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    found = {}
    for few in (19, 20):
        pairs = [(("a", "b")[number % 3 == 0], "a") for number in range(60)]
        pairs += [("b", "b")] * few
        others = [*[("b", "a")] * 20, *pairs[20:]]
        paths = [
            write_rows(tmp_path / name, rows_of(rows))
            for name, rows in (("a", pairs), ("b", others))
        ]
        found[few] = {
            each.name: each.comparison.remark
            for each in harpia_formats.compare_scores(
                *paths, metrics=ALL, from_="record", replicates=50
            ).compared
            if each.comparison is not None
        }

    approximate = (
        "few references with a label: the interval and the p-value are approximate"
    )
    assert found[19]["recall"] == found[19]["mcc"] == approximate
    assert found[19]["f1-micro"] == ""
    assert set(found[20].values()) == {""}


def test_systems_without_answers_or_with_several_are_compared(tmp_path: Path) -> None:
    """Labels of several answers add up, and a system without answers has no score."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    pairs = random_pairs(30)
    rows = rows_of(pairs)
    several = [{**row, "outputs": row["outputs"] * 3} for row in rows]
    none = [{**row, "outputs": [{"model": "m"}]} for row in rows]
    one, many, nothing = (
        write_rows(tmp_path / str(number), found)
        for number, found in enumerate((rows, several, none))
    )
    options: dict[str, Any] = {"metrics": ("mcc",), "from_": "record"}

    (found,) = harpia_formats.compare_scores(one, many, **options).compared
    assert found.first == found.second == score(one)["mcc"].value
    with pytest.raises(ScoreError, match="mcc"):
        harpia_formats.compare_scores(one, nothing, missing="skip", **options)


def test_correlations_differ_by_two_at_most(tmp_path: Path) -> None:
    """A difference from -1 to 1 can be detected, and a larger one is an error."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    path = write_rows(tmp_path / "a.jsonl", rows_of(random_pairs(30)))
    options: dict[str, Any] = {"from_": "record", "replicates": 100}
    for name, widest in (("mcc", 2), ("kappa", 2), ("f1-macro", 1)):
        options["metrics"] = (name,)
        found = harpia_formats.compare_scores(path, path, detect=widest, **options)
        assert found.detect == widest
        with pytest.raises(ScoreError, match=f"of {name}, which is 0 to {widest}$"):
            harpia_formats.compare_scores(path, path, detect=widest + 0.5, **options)


def test_equal_systems_do_not_differ(tmp_path: Path) -> None:
    """A system does not differ from itself."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    path = write_rows(tmp_path / "a.jsonl", rows_of(random_pairs(30)))
    options: dict[str, Any] = {"metrics": ALL, "from_": "record", "replicates": 100}

    found = harpia_formats.compare_scores(path, path, **options)
    assert [
        (each.comparison.difference, each.comparison.p_value)
        for each in found.compared
        if each.comparison
    ] == [(0, 1)] * len(ALL)


def test_stored_scores_of_these_names_are_those_of_other_tools(tmp_path: Path) -> None:
    """A score of one answer that a tool calls recall is averaged as any other."""
    rows = rows_of(random_pairs(4))
    for number, row in enumerate(rows):
        row["outputs"][0]["scores"] = [{"metric": "recall", "value": number / 4}]
    path = write_rows(tmp_path / "a.jsonl", rows)
    found = score(path, stored=True, metrics=())

    assert found["recall"].value == 6 / 16
    assert found["recall"].confusion is None
    assert not [note for note in found.notes if "not the score" in note]
