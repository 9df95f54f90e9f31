"""Two runs that HELM wrote: what is known of them holds."""

from pathlib import Path

import pytest
from msgspec import UNSET

from corpora import CORPORA
from harpia_formats import Record, detect, read, score, validate

ROOT = Path(__file__).parents[3]
RUNS = CORPORA / "neighbours" / "helm"
pytestmark = pytest.mark.corpora


def run_called(name: str) -> Path:
    """Return the folder of the only run whose name begins so."""
    (found,) = RUNS.glob(f"{name}*")
    return found


def value_of(record: Record, metric: str) -> object:
    """Return the value of a metric of the only output of a record."""
    (output,) = record.outputs
    (found,) = [one.value for one in output.scores or () if one.metric == metric]
    return found


def test_mmlu() -> None:
    """Ten instances with letters for answers, of which one is right."""
    records = list(read(run_called("mmlu")))
    first = records[0]
    (output,) = first.outputs
    splits = [one.metadata["split"] for one in records if one.metadata]
    of_test = [
        value_of(one, "exact_match")
        for one, split in zip(records, splits, strict=True)
        if split == "test"
    ]

    assert (len(records), splits.count("test"), splits.count("valid")) == (10, 9, 1)
    assert (first.id, first.references) == ("id147", ["internalmeaning"])
    assert output.text == " D"
    assert output.attribution
    assert output.attribution[0]["extracted_value"] == "meaning in an afterlife"
    assert value_of(first, "exact_match") == 0
    assert output.token_usage
    assert output.token_usage["input_tokens"] == 333
    assert sum(value_of(one, "exact_match") == 1 for one in records) == 1
    assert sum(map(float, map(str, of_test))) / 9 == pytest.approx(0.1111, abs=5e-5)
    assert first.source == "mmlu"


def test_narrative_qa() -> None:
    """Five instances with two references each, which are no choices."""
    records = list(read(run_called("narrative_qa")))
    by_id = {record.id: record for record in records}

    assert len(records) == 5
    assert {len(record.references or ()) for record in records} == {2}
    assert {record.choices for record in records} == {UNSET}
    assert value_of(by_id["id1332"], "f1_score") == pytest.approx(0.3333, abs=5e-5)


def test_runs_are_found_and_valid() -> None:
    """Each folder is one input, and nothing in it is wrong."""
    report = validate(RUNS)

    assert [found.format for found in detect(RUNS)] == ["helm", "helm"]
    assert (len(report.files), report.problems) == (2, ())
    assert score(run_called("mmlu"), metrics=("em",), missing="skip")["em"].count == 10
