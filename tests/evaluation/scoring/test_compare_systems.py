"""Any number of systems are compared, all pairs of them, as one family."""

import contextlib
import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from comparison_tables import comparison_table
from effort import examples
from harpia_formats import ScoreError, compare_scores, metric_names
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


def compared(*inputs: Any, **options: Any) -> Any:
    """Return the report of a comparison of systems, by exact match by default."""
    data = [one if isinstance(one, bytes) else jsonl(*one) for one in inputs]
    return compare_scores(*data, **{"metrics": ("em",)} | options)


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
    one = compared(rows("a", "b", "c"), metrics=("em", "f1"))
    apart = compared(*map(of_model, "abc"), metrics=("em", "f1"))

    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    assert [score.systems for score in one.compared] == 2 * pairs
    assert values(one) == values(apart)
    assert [system.name for system in one.systems] == ["a", "b", "c"]
    assert one.systems[0].scores["em"].interval is not None


def test_a_model_whose_name_is_empty_is_a_system() -> None:
    """It is compared with another model as under any other name."""
    data = rows("a", "b")
    named = compared(data)
    for row in data:
        row["outputs"][0]["model"] = ""
    empty = compared(data)

    assert [one.model for one in empty.systems] == ["", "b"]
    assert [one.comparison for one in empty.compared] == [
        one.comparison for one in named.compared
    ]


def test_a_model_may_be_called_as_answers_that_name_none() -> None:
    """`(none)` is a name like any other, by which the model is found and chosen."""
    first, second = rows("a", "b", "c"), rows("a", "b", "c")
    for one, other in zip(first, second, strict=True):
        one["outputs"] = [{**one["outputs"][0], "model": "(none)"}]
        other["outputs"] = other["outputs"][1:2]
    found = compared(first, second, models=("(none)",))
    usual = compared(*map(of_model, "ab"))

    assert [(one.name, one.model) for one in found.systems] == [
        ("(none)", "(none)"),
        ("b", "b"),
    ]
    assert [one.comparison for one in found.compared] == [
        one.comparison for one in usual.compared
    ]


def test_the_order_of_systems_changes_no_digit() -> None:
    """Differences and their limits have the other sign, and p-values are the same."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    first, *others = (
        values(compared(*map(of_model, order), metrics=("f1", "bleu")))
        for order in ("abc", "bca", "cba")
    )
    assert all(other == first for other in others)


def test_p_values_are_adjusted_over_all_pairs_and_metrics() -> None:
    """The family is what is printed: three pairs by two metrics are six comparisons."""
    found = compared(rows("a", "b", "c"), metrics=("em", "f1"))
    raw = [one.comparison.p_value for one in found.compared]

    assert len(raw) == 6
    adjusted: dict[float, float] = {}
    most = 0.0
    for rank, p_value in enumerate(sorted(raw)):
        most = max(most, min(p_value * (6 - rank), 1.0))
        adjusted[p_value] = adjusted.get(p_value, most)
    assert [one.adjusted_p for one in found.compared] == [adjusted[one] for one in raw]
    assert all("replicates:2400" in str(one.comparison) for one in found.compared)


def test_all_are_compared_with_a_baseline() -> None:
    """Each other system is the first of a pair, and the baseline the second."""
    data = rows("a", "b", "c")
    found = compared(data, baseline="b")

    assert [one.systems for one in found.compared] == [("a", "b"), ("c", "b")]
    with pytest.raises(ScoreError, match="no system is called 'd'"):
        compared(data, baseline="d")


def test_a_baseline_may_be_a_path(tmp_path: Path) -> None:
    """The system is that of its file."""
    paths = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for path in paths:
        path.write_bytes(of_model(path.stem))
    for path in paths:
        found = compare_scores(*paths, metrics=("em",), baseline=str(path))
        assert found.baseline == path.stem


def test_no_heading_is_the_name_of_another_system(tmp_path: Path) -> None:
    """Systems that are called A and B have the columns 1 and 2."""
    data = rows("a", "b")
    for row in data:
        for one, name in zip(row["outputs"], "BA", strict=True):
            one["model"] = name
    head, *others = comparison_table(tmp_path, [jsonl(*data)])

    assert head.split()[:6] == ["metric", "1", "2", "1", "-", "2"]
    assert "1 is B, 2 is A" in others


def test_two_inputs_are_named_also_when_a_baseline_swaps_them(tmp_path: Path) -> None:
    """Nobody takes the first input for A, of which the table has the second."""
    inputs = jsonl(*rows("a", "b")), jsonl(*rows("a", "b")[7:])
    found = compared(*inputs, models=("1=a", "2=b"), baseline="a")
    models = ("--model", "1=a", "--model", "2=b")
    usual = comparison_table(tmp_path, inputs, *models)
    swapped = comparison_table(tmp_path, inputs, *models, "--baseline", "a")

    assert "1 is b, 2 is a" in swapped
    assert "1 is a, 2 is b" in usual
    assert "not compared: 0 questions only of b, 7 only of a" in swapped
    assert "em of b - a: " in found.headline()


def test_the_headline_of_several_systems_counts_their_differences() -> None:
    """It is short however many pairs and scores there are."""
    many = compared(rows("a", "b", "c"), metrics=("em", "f1"))
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
    found = compared(data)

    assert [
        (pair.questions, pair.only_first, pair.only_second) for pair in found.pairs
    ] == [(COUNT, 0, 0), (COUNT - 7, 7, 0), (COUNT - 7, 7, 0)]
    counts = [score.questions for score in found.compared]
    assert counts == [COUNT, COUNT - 7, COUNT - 7]


def test_more_systems_of_equal_questions_change_no_difference() -> None:
    """A pair has the scores and difference that it has alone."""
    every = compared(*map(of_model, "abc"), metrics=("em", "f1"))
    for one, other in combinations("abc", 2):
        alone = compared(of_model(one), of_model(other), metrics=("em", "f1"))
        for mine, its in zip(every.pair(one, other), alone.compared, strict=True):
            assert (mine.first, mine.second) == (its.first, its.second)
            assert mine.comparison.difference == its.comparison.difference


@pytest.mark.parametrize(
    "metric",
    [
        pytest.param(name, marks=[] if at % 2 else pytest.mark.long)
        for at, name in enumerate(metric_names())
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
        likelihoods = [[[-1.0, False]], [[-2.0, False]]]
        row["extra"] = {"lm-eval-samples": {"resps": likelihoods, "target": 0}}
        row["outputs"] *= 2
    known = {"pass@k.k": [1, 2], "f1-binary.positive": "it is no"}
    own = {key: one for key, one in known.items() if key.startswith(f"{metric}.")}
    options: dict[str, Any] = {"from_": "record", "replicates": 50, "missing": "skip"}
    try:
        found = compared(data, metrics=(metric,), parameters=own, **options)
    except ScoreError as error:
        if "which is not installed" not in str(error):
            raise
        pytest.skip(str(error))
    assert len({one.systems for one in found.compared}) == 3
    for score in found.compared:
        assert 0 < score.comparison.p_value <= 1
        assert score.adjusted_p is not None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["x.json", "d/x.json", "e/x.json"]),
            st.lists(
                st.sampled_from(["", "m", "m #2", "x.json", "m (x.json)"]),
                min_size=1,
                max_size=3,
                unique=True,
            ),
        ),
        min_size=2,
        max_size=4,
    )
)
@example(
    # The number that the second of two has is the name of another system.
    [("x.json", ["m"]), ("x.json", ["m"]), ("d/x.json", ["m (x.json) #2"])]
)
@examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_names_of_systems_are_distinct(
    tmp_path: Path, files: list[tuple[str, list[str]]]
) -> None:
    """Whatever models and files are called, no two systems have one name."""
    for name, models in files:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        outputs = [{"text": "a"} | ({"model": one} if one else {}) for one in models]
        row = {"prompt": "q", "references": ["a"], "outputs": outputs}
        path.write_bytes(jsonl(*[row | {"id": str(at)} for at in range(2)]))
    inputs = [name for name, _ in files]

    with contextlib.chdir(tmp_path):
        found = compare_scores(*inputs, metrics=("em",), replicates=9, from_="record")

    names = [system.name for system in found.systems]
    assert len(set(names)) == len(names) >= len(inputs)
