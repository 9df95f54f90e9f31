"""Records as columns of Arrow."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.api.testing import records
from harpia_formats.files.arrow.tables import (
    LAYOUT_KEY,
    NewerLayoutError,
    batch_of_rows,
    is_record_layout,
    record_schema,
    rows_of_batch,
)
from harpia_formats.model.exact_json import ExactFloat, decode, encode
from harpia_formats.model.record import Output, Record, Score, as_dict, record_of

pytest.importorskip("pyarrow")


def there_and_back(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rows after they were columns."""
    return rows_of_batch(batch_of_rows(rows))


@given(st.lists(records(), max_size=3))
def test_records_come_back_exactly(given_records: list[Record]) -> None:
    """Whatever fields records have, they are the same again, numbers to the digit."""
    rows = [decode(encode(as_dict(record))) for record in given_records]
    back = there_and_back(*rows)

    assert [record_of(row) for row in back] == [record_of(row) for row in rows]
    assert [decode(encode(row)) for row in back] == rows
    assert [sorted(map(repr, _leaves(row))) for row in back] == [
        sorted(map(repr, _leaves(row))) for row in rows
    ]


def _leaves(value: Any) -> list[Any]:
    """Return all texts, numbers and nulls in a value, exact numbers as their text."""
    if isinstance(value, dict):
        return [leaf for member in value.values() for leaf in _leaves(member)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value.text if isinstance(value, ExactFloat) else value]


@for_each_case(
    "value", [1, 1.0, True, None, 0.1, 2**70, 10**400, ExactFloat("1.50"), -0.0]
)
def test_scores_keep_their_type(value: Any) -> None:
    """An integer, a truth value, null and a number of any spelling are kept apart."""
    score = Score(metric="em", value=value)
    record = Record(prompt="2+2?", outputs=[Output(scores=[score])])
    (row,) = there_and_back(as_dict(record))
    back = row["outputs"][0]["scores"][0]["value"]

    assert (type(back), encode(back)) == (type(value), encode(value))


@pytest.mark.parametrize("id_", [7, "7", 2**80, ""])
def test_ids_keep_their_type(id_: int | str) -> None:
    """The integer 7 and the text "7" are two ids."""
    (row,) = there_and_back({"id": id_, "outputs": []})

    assert row == {"id": id_, "outputs": []}


def test_null_is_not_absent() -> None:
    """A text that is null comes back as null, and one that is absent does not."""
    row = {"outputs": [{"text": None}, {"text": ""}, {}, {"index": 2**64}]}

    assert there_and_back(row) == [row]


def test_types_do_not_depend_on_the_records() -> None:
    """Any records have the same columns, so that files of them can be joined."""
    schema = batch_of_rows([{"outputs": []}]).schema

    assert schema == record_schema() == batch_of_rows([]).schema
    assert str(schema.field("params").type) == "string"


def test_layout_says_its_version() -> None:
    """The layout is given by the metadata of the table, and a newer one is refused."""
    assert is_record_layout(record_schema().metadata)
    assert not is_record_layout(None)
    with pytest.raises(NewerLayoutError, match="layout 2, and this version reads"):
        is_record_layout({LAYOUT_KEY: b"2"})
