"""Cells that are no numbers, in columns of numbers."""

import pytest

from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.to_rows import (
    MappedRecord,
    RecordMapper,
    misfits_of,
)
from harpia_formats.formats.registry import adapter_of, readable_formats
from harpia_formats.model.field_outcomes import Outcome, Unconvertible

TABLE = adapter_of(readable_formats()["csv"])
ROW = {"id": "1", "prompt": "2+2?", "references": "4", "model": "m", "response": "4"}
OF_SCORE = {
    "is_correct": "true",
    "attribution": "[]",
    "interaction_type": "single_turn",
    "evaluation_id": "e",
    "evaluation_name": "n",
}
cells = pytest.mark.parametrize("cell", ["1e400", "inf", "-inf", "abc", "1,5", '"1"'])


def mapped(cell: str, target: str) -> MappedRecord:
    """Return the rows of a table with a cell in the column of scores."""
    record = TABLE.read({**ROW, **OF_SCORE, "score": cell})
    mapper = RecordMapper(adapter_of(readable_formats()[target]), Choices())
    mapper.misfits = misfits_of(TABLE)
    return mapper.map(record)


@cells
@pytest.mark.parametrize(
    ("target", "outcome"), [("record", Outcome.CHANGED), ("haystack", Outcome.DROPPED)]
)
def test_text_in_a_column_of_numbers_is_a_loss(
    cell: str, target: str, outcome: Outcome
) -> None:
    """A score that is no number is a declared loss, with the reason."""
    (noted,) = [
        one for one in mapped(cell, target).outcomes if one.path == "extra.csv.score"
    ]

    assert noted.outcome is outcome
    assert "is not a number" in noted.how


@cells
def test_required_score_that_is_no_number_is_named(cell: str) -> None:
    """The cell is the reason why a row cannot be written, and no value is advised."""
    with pytest.raises(Unconvertible) as caught:
        mapped(cell, "eee@0.2.0")

    assert "in `score` is not a number" in caught.value.reason
    assert "--set" not in caught.value.help


@pytest.mark.parametrize("cell", ["1", "0.5", "true", "-1e3"])
def test_numbers_are_no_misfits(cell: str) -> None:
    """A score that is a number arrives in all formats without a note."""
    for target in ("record", "eee@0.2.0"):
        assert not [
            one for one in mapped(cell, target).outcomes if one.path.endswith("score")
        ]


def test_a_table_gets_its_own_cells_back() -> None:
    """Written as a table, the cell is the same, and nothing is lost."""
    result = mapped("abc", "csv")

    assert result.rows[0]["score"] == "abc"
    assert not [one for one in result.outcomes if "score" in one.path]
