"""The scores that lm-eval, Inspect and HELM stored in files that they wrote."""

from pathlib import Path

import pytest

from cases import for_each_case
from corpora import CORPORA
from unchecked import score

ROOT = Path(__file__).parents[3]
TOOLS = CORPORA / "neighbours"
pytestmark = pytest.mark.corpora


@for_each_case(
    "pattern, expected",
    [
        (
            "lm-eval/made/samples_demo_mc_*.jsonl",
            {
                "acc|impl:lm-eval-0.4.13|filter:none": 1 / 3,
                "acc_norm|impl:lm-eval-0.4.13|filter:none": 1 / 3,
            },
        ),
        (
            "lm-eval/made/samples_demo_gen_*.jsonl",
            {
                "exact_match|impl:lm-eval-0.4.13|filter:strict-match": 0,
                "exact_match|impl:lm-eval-0.4.13|filter:flexible-extract": 0,
            },
        ),
        (
            "inspect/made/demo_epochs2.eval",
            {
                "match|impl:inspect_ai-0.3.285|scorer:match": 0.5,
                "two_values.a|impl:inspect_ai-0.3.285|scorer:two_values": 1,
                "two_values.b|impl:inspect_ai-0.3.285|scorer:two_values": 0.25,
            },
        ),
        (
            "inspect/made/mcq.eval",
            {"choice|impl:inspect_ai-0.3.285|scorer:choice": 0.5},
        ),
        ("helm/mmlu-*", {"exact_match|impl:helm": 0.1, "exact_match@5|impl:helm": 0.1}),
        (
            "helm/narrative_qa-*",
            {"f1_score|impl:helm": 0.1393939, "exact_match|impl:helm": 0},
        ),
    ],
)
def test_stored_scores_have_the_signatures_of_their_tool(
    pattern: str, expected: dict[str, float]
) -> None:
    """Each is the mean of what the tool stored, by tool, version, filter or scorer."""
    (path,) = TOOLS.glob(pattern)
    scores = score(path, stored=True, replicates=0)
    found = {one.signature: one.value for one in scores}

    assert {key: found.get(key) for key in expected} == pytest.approx(expected)


def test_null_for_nan_is_left_out() -> None:
    """Two samples of Inspect have a score of NaN, which counts as nothing."""
    (path,) = TOOLS.glob("inspect/made/demo_epochs2.json")
    found = score(path, stored=True, replicates=0)["length_or_nothing"]

    assert (found.count, found.unscored) == (4, 2)


def test_scores_by_split_are_those_of_helm() -> None:
    """HELM has a score for each split of its data."""
    (path,) = TOOLS.glob("helm/mmlu-*")
    scores = score(path, stored=True, by=("metadata.split",), replicates=0)
    found = {
        group.key["metadata.split"]: group["exact_match"].value
        for group in scores.groups
    }

    assert found == pytest.approx({"test": 1 / 9, "valid": 0})


def test_computed_scores_differ_from_those_of_helm() -> None:
    """The right letter is no exact match of the option that it stands for."""
    (path,) = TOOLS.glob("helm/mmlu-*")
    scores = score(path, metrics=("em",), replicates=0)
    (difference,) = scores.stored_differences

    assert (difference["compared"], difference["differing"]) == (10, 1)
    assert scores.ok
    assert [one.place.member for one in scores.problems] == ["scenario_state.json"]
