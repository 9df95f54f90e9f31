"""`--reference-from gt` makes the expected answer of a conversation the reference."""

from io import BytesIO
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import Record, read
from harpia_formats.plugins import Outcome
from json_lines import jsonl
from known_formats import WRITABLE, adapter_named
from unchecked import convert, score

ROWS: list[dict[str, Any]] = [
    {"id": "1", "prompt": "q", "references": ["r"], "gt": "g"},
    {"id": "2", "prompt": "q", "gt": "g"},
    {"id": "3", "prompt": "q", "references": ["r"]},
]
DATA = jsonl(*({**row, "outputs": [{"text": "g", "model": "m"}]} for row in ROWS))
GIVEN = {
    "evaluation_id": "e",
    "evaluation_name": "n",
    "outputs.scores.value": 1,
    "outputs.scores.is_correct": True,
    "category": "c",
    "source": "s",
}
WITH_BOTH = [each for each in WRITABLE if adapter_named(each).carries("references")]


@for_each_case("target", WITH_BOTH)
def test_gt_is_the_reference_where_it_is_asked_for(target: str) -> None:
    """Every format gets gt in the place of the reference, and only if asked."""
    found: dict[str, list[Any]] = {}
    for choice in ("references", "gt"):
        output = BytesIO()
        report = convert(
            DATA,
            to=target,
            from_="record",
            output=output,
            reference_from=choice,
            on_invalid="skip",
            constants=GIVEN | {"references": ["none"]},
        )
        assert report.written, report.report.problems
        records: list[Record] = list(read(output.getvalue(), format=target))
        found[choice] = [record.references for record in records]

    assert found["references"] == [["r"], ["none"], ["r"]]
    assert found["gt"] == [["g"], ["g"], ["r"]]


def test_replaced_reference_is_a_loss() -> None:
    """A reference that gt replaces is changed, and a missing one is filled in."""
    report = convert(DATA, to="record", output=BytesIO(), reference_from="gt")
    outcomes = {
        outcome.outcome: times
        for outcome, times in report.losses[0].losses.counts.items()
        if outcome.path == "references"
    }

    assert outcomes.keys() == {Outcome.CHANGED, Outcome.DEFAULTED}
    assert not report.lossless


def test_answers_are_scored_by_gt() -> None:
    """With gt as the reference an answer that equals it is right."""
    options: dict[str, Any] = {"metrics": ("em",), "replicates": 0, "missing": "skip"}
    own = score(DATA, **options)
    by_gt = score(DATA, reference_from="gt", **options)

    assert own["em"].value == 0
    assert by_gt["em"].value == pytest.approx(2 / 3)
