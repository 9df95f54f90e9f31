"""One metric under several names, each with its own parameters."""

import re
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ScoreError
from unchecked import score

DATA = (
    b'{"id": "1", "prompt": "p", "references": ["the cat"], '
    b'"outputs": [{"text": "cat"}]}\n'
)


def test_a_renamed_metric_has_parameters_of_its_own() -> None:
    """The same metric is computed twice, and its parameters name one of them."""
    scores = score(
        DATA,
        metrics=("strict=em", "em"),
        parameters={"strict.normalisation": "none", "em.scale": "0-100"},
        replicates=0,
    )

    assert scores["strict"].value == 0.0
    assert scores["em"].value == 100.0
    assert [one.metric for one in scores] == ["strict", "em"]
    assert scores["strict"].name == "strict"


@pytest.mark.parametrize("names", [("em.scale", "x.scale"), ("x.scale", "em.scale")])
def test_the_name_in_results_is_preferred(names: tuple[str, str]) -> None:
    """A parameter of a name in results wins over one of its metric, in any order."""
    values = {"em.scale": "0-1", "x.scale": "0-100"}
    found = score(
        DATA,
        metrics=("x=em", "em"),
        parameters={name: values[name] for name in names},
        replicates=0,
    )

    assert [one.scale for one in found] == ["0-100", "0-1"]


@for_each_case(
    "options, message",
    [
        ({"metrics": ("a=emm",)}, "no metric is called 'emm'; did you mean em"),
        ({"metrics": ("pass@0",)}, "'pass@0'; k of pass@k is a whole number from 1"),
        ({"metrics": ("=em",)}, "a metric cannot be called ''"),
        ({"metrics": ("a.b=em",)}, "a metric cannot be called 'a.b'"),
        ({"metrics": ("em", "em=em")}, "the name 'em' is given twice"),
        (
            {"metrics": ("bertscore",), "skip_unknown": True},
            "no metric is left to compute: ",
        ),
        (
            {"metrics": ("a=em",), "parameters": {"em.scale": "0-1"}},
            "'em.scale' is a parameter of a metric that is not computed",
        ),
    ],
)
def test_names_that_cannot_be_used_are_refused(
    options: dict[str, Any], message: str
) -> None:
    """The error names the metric, and what to write."""
    with pytest.raises(ScoreError) as caught:
        score(DATA, **options)

    assert message in str(caught.value)


@for_each_case(
    "profile, names, note",
    [
        ("nemo-evaluator", ("em", "exact_match"), "no em: taken as in the profile"),
        ("nemo-evaluator", ("em",), "(nemo-evaluator has exact_match, fuzzy_match)"),
        ("tencent", ("rouge1", "em"), "no rouge1, em: taken as in the profile default"),
        ("tencent", ("rouge1",), "(tencent has pass@k, rouge, f1)"),
        ("inspect", ("pass@1",), "pass@1 takes em for what is correct, unless the"),
        ("inspect", ("f1",), ""),
        ("tencent", ("pass@2",), ""),
    ],
)
def test_what_a_profile_lacks_is_reported_with_what_it_has(
    profile: str, names: tuple[str, ...], note: str
) -> None:
    """A note names the metrics that are not the profile's, and those that it has."""
    scores = score(DATA, profile=profile, metrics=names, replicates=0)
    ours = re.compile(r"\(\S+ has |taken as|takes ")
    notes = [one for one in scores.notes if ours.search(one)]

    assert note in "\n".join(notes)
    assert bool(notes) == bool(note)
