"""Any number of systems are compared, all pairs of them, as one family."""

import io
import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import compare_scores
from harpia_formats.cli.comparison_table import (
    comparison_lines,
    unpaired_lines,
)
from harpia_formats.evaluation.metrics import METRICS
from harpia_formats.evaluation.scoring.answers.choose_systems import distinct_names
from harpia_formats.evaluation.scoring.significance.paired_differences import holm
from harpia_formats.model.vendor_metrics import ScoreError
from json_lines import jsonl

pytest.importorskip("numpy", reason="comparing needs the extra score")

COUNT = 40
SHARES = {"a": 0.9, "b": 0.6, "c": 0.5}


def rows(*names: str, seed: int = 1) -> list[dict[str, Any]]:
    """Return questions with an answer of each model, of which a share is right."""
    chance = random.Random(seed)  # noqa: S311 - a seed, not secrecy
    return [
        {
            "id": f"q{number}",
            "prompt": f"what is {number}?",
            "references": [f"it is {number}"],
            "outputs": [
                {
                    "model": name,
                    "text": f"it is {number if chance.random() < share else 'no'}",
                }
                for name, share in SHARES.items()
                if name in names
            ],
        }
        for number in range(COUNT)
    ]


def of_model(name: str) -> bytes:
    """Return the answers of one model as an input of its own."""
    found = rows("a", "b", "c")
    for row in found:
        row["outputs"] = [one for one in row["outputs"] if one["model"] == name]
    return jsonl(*found)


def values(found: Any) -> dict[Any, Any]:
    """Return what is found of each pair of systems, in alphabetical order."""
    result = {}
    for one in found.compared:
        ours, theirs = one.systems
        comparison = one.comparison
        digits = [comparison.difference, comparison.low, comparison.high]
        if ours > theirs:
            ours, theirs = theirs, ours
            digits = [-digits[0] + 0.0, -digits[2] + 0.0, -digits[1] + 0.0]
        result[ours, theirs, one.full_name] = (
            *digits,
            comparison.p_value,
            one.adjusted_p,
            comparison.detectable,
        )
    return result


def test_models_of_one_file_are_systems() -> None:
    """All pairs of the models are compared, as if each was in a file of its own."""
    one = compare_scores(jsonl(*rows("a", "b", "c")), metrics=("em", "f1"))
    apart = compare_scores(*map(of_model, "abc"), metrics=("em", "f1"))

    assert [score.systems for score in one.compared] == 2 * [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert values(one) == values(apart)
    assert [system.name for system in one.systems] == ["a", "b", "c"]
    assert one.systems[0].scores is not None
    assert one.systems[0].scores["em"].interval is not None


def test_the_order_of_systems_changes_no_digit() -> None:
    """Differences and their limits have the other sign, and p-values are the same."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    inputs = {name: of_model(name) for name in "abc"}
    first, *others = (
        values(compare_scores(*(inputs[name] for name in order), metrics=metrics))
        for metrics in (("f1", "bleu"),)
        for order in ("abc", "bca", "cba")
    )
    assert all(other == first for other in others)


def test_p_values_are_adjusted_over_all_pairs_and_metrics() -> None:
    """The family is what is printed: three pairs by two metrics are six comparisons."""
    found = compare_scores(jsonl(*rows("a", "b", "c")), metrics=("em", "f1"))
    raw = [one.comparison.p_value for one in found.compared if one.comparison]

    assert len(raw) == 6
    assert [one.adjusted_p for one in found.compared] == holm(raw)
    assert all("replicates:2400" in str(one.comparison) for one in found.compared)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_rejects_what_the_step_down_procedure_rejects(raw: list[float]) -> None:
    """At any level the adjusted p-values reject as Holm's procedure does."""
    adjusted = holm(raw)
    for level in (0.01, 0.05, 0.3, *raw[:2]):
        rejected = set()
        for rank, (value, at) in enumerate(sorted((p, n) for n, p in enumerate(raw))):
            if value * (len(raw) - rank) > level or level >= 1:
                break
            rejected.add(at)
        if level < 1:
            assert {n for n, p in enumerate(adjusted) if p <= level} == rejected


def test_all_are_compared_with_a_baseline() -> None:
    """Each other system is the first of a pair, and the baseline the second."""
    data = jsonl(*rows("a", "b", "c"))
    found = compare_scores(data, metrics=("em",), baseline="b")

    assert [one.systems for one in found.compared] == [("a", "b"), ("c", "b")]
    with pytest.raises(ScoreError, match="no system is called 'd'"):
        compare_scores(data, metrics=("em",), baseline="d")


def test_no_heading_is_the_name_of_another_system() -> None:
    """Systems that are called A and B have the columns 1 and 2."""
    data = rows("a", "b")
    for row in data:
        row["outputs"] = [
            {**one, "model": {"a": "B", "b": "A"}[one["model"]]}
            for one in row["outputs"]
        ]
    found = compare_scores(jsonl(*data), metrics=("em",))
    head, *others = comparison_lines(found, io.StringIO())

    assert head.split()[:6] == ["metric", "1", "2", "1", "-", "2"]
    assert "1 is B, 2 is A" in others


def test_two_inputs_are_named_also_when_a_baseline_swaps_them() -> None:
    """Nobody takes the first input for A, of which the table has the second."""
    whole = jsonl(*rows("a", "b"))
    less = jsonl(*rows("a", "b")[7:])
    found = compare_scores(
        whole, less, metrics=("em",), models=("1=a", "2=b"), baseline="a"
    )
    usual = compare_scores(whole, less, metrics=("em",), models=("1=a", "2=b"))

    assert "1 is b, 2 is a" in list(comparison_lines(found, io.StringIO()))
    assert "1 is a, 2 is b" in list(comparison_lines(usual, io.StringIO()))
    assert list(unpaired_lines(found)) == [
        "not compared: 0 questions only of b, 7 only of a"
    ]
    assert "em of b - a: " in found.headline()


def test_the_headline_of_several_systems_counts_their_differences() -> None:
    """It is short however many pairs and scores there are."""
    many = compare_scores(jsonl(*rows("a", "b", "c")), metrics=("em", "f1"))
    untested = [replace(score, comparison=None) for score in many.compared[:3]]
    none = replace(many, compared=tuple(untested))
    some = replace(many, compared=(*untested, *many.compared[3:]))
    significant = sum(score.is_significant for score in many.compared)

    assert many.headline() == (
        f"em, f1 of 3 systems: {significant} of 6 differences have p (Holm) below 0.05"
    )
    assert 0 < significant < 6
    assert none.headline() == "em of 3 systems: no difference is tested"
    assert some.headline().endswith(" below 0.05, 3 are not tested")


def test_models_are_chosen_by_name_and_by_input(tmp_path: Path) -> None:
    """A name counts for all inputs; one with an input for this input only."""
    path = tmp_path / "two.jsonl"
    path.write_bytes(jsonl(*rows("a", "b")))
    every = jsonl(*rows("a", "b", "c"))

    def systems(*models: str) -> list[str]:
        found = compare_scores(path, every, metrics=("em",), models=models)
        return [one.name for one in found.systems]

    assert systems("a") == ["a (two.jsonl)", "a (input 2)"]
    assert systems(f"{path}=a", "2=c") == ["a", "c"]
    assert systems("1=b") == ["b (two.jsonl)", "a", "b (input 2)", "c"]
    with pytest.raises(ScoreError, match=r"of the model 'd'.*'a', 'b', 'c'"):
        systems("d")
    with pytest.raises(ScoreError, match="needs two systems"):
        compare_scores(every, metrics=("em",), models=("a",))


def test_questions_of_one_system_are_counted_for_each_pair() -> None:
    """What only one of a pair has is counted, and the others are not concerned."""
    data = rows("a", "b", "c")
    for row in data[:7]:
        row["outputs"] = row["outputs"][:2]
    found = compare_scores(jsonl(*data), metrics=("em",))

    assert [
        (pair.questions, pair.only_first, pair.only_second) for pair in found.pairs
    ] == [(COUNT, 0, 0), (COUNT - 7, 7, 0), (COUNT - 7, 7, 0)]
    assert [score.questions for score in found.compared] == [
        COUNT,
        COUNT - 7,
        COUNT - 7,
    ]


def test_more_systems_of_equal_questions_change_no_difference() -> None:
    """A pair has the scores and difference that it has alone."""
    every = compare_scores(*map(of_model, "abc"), metrics=("em", "f1"))
    for one, other in combinations("abc", 2):
        alone = compare_scores(of_model(one), of_model(other), metrics=("em", "f1"))
        for mine, its in zip(every.pair(one, other), alone.compared, strict=True):
            assert (mine.first, mine.second) == (its.first, its.second)
            assert mine.comparison is not None
            assert its.comparison is not None
            assert mine.comparison.difference == its.comparison.difference


@pytest.mark.parametrize(
    "metric",
    [
        pytest.param(name, marks=[] if at % 2 else pytest.mark.long)
        for at, name in enumerate(METRICS)
    ],
)
def test_every_metric_is_compared(metric: str) -> None:
    """Each metric of the table has a difference of the three systems with a p-value."""
    data = rows("a", "b", "c")
    for row in data:
        row["choices"] = [row["references"][0], "it is no"]
        row["contexts"] = ["it is"]
        row["metadata"] = {
            name: [{"id": row["id"], "content": row["references"][0]}]
            for name in ("retrieved_documents", "ground_truth_documents")
        }
        row["outputs"] *= 2
    parameters = {"pass@k.k": [1, 2]} if metric == "pass@k" else {}
    try:
        found = compare_scores(
            jsonl(*data),
            metrics=(metric,),
            from_="record",
            replicates=50,
            missing="skip",
            parameters=parameters,
        )
    except ScoreError as error:
        pytest.skip(str(error))
    assert len({one.systems for one in found.compared}) == 3
    for score in found.compared:
        assert score.comparison is not None
        assert 0 < score.comparison.p_value <= 1
        assert score.adjusted_p is not None


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "m", "m #2", "x.json"]),
            st.sampled_from(["x.json", "d/x.json", "e/x.json", "input 1"]),
        ),
        max_size=7,
    )
)
def test_names_of_systems_are_distinct(systems: list[tuple[str | None, str]]) -> None:
    """Whatever models and files are called, no two systems have one name."""
    names = distinct_names(systems)
    assert len(set(names)) == len(systems)
