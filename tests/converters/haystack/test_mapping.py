"""Haystack's columns as records, and records as items of columns."""

from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from harpia_converters.haystack.mapping import COLUMNS
from harpia_formats import Record
from harpia_formats.api.testing import filled, records
from harpia_formats.api.testing.strategies import TEXTS, VALUES
from harpia_formats.conversion.comparison.differences import differences, same
from harpia_formats.conversion.mapping.choices import Choices, References, Responses
from harpia_formats.conversion.mapping.extra_fields import (
    EXTRAS_KEY,
    restore_extras,
    split_extras,
)
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from written_rows import row_and_losses

ORDER = "query_id questions contexts ground_truth_answers predicted_answers".split()
COLUMN = st.sampled_from([*ORDER, "responses", "retrieved_documents", "n", EXTRAS_KEY])
ITEMS = VALUES | TEXTS | st.lists(TEXTS, max_size=2)
ROWS = st.dictionaries(COLUMN, ITEMS, min_size=1, max_size=4)


#: Returns the row that a record becomes, and the recorded losses of each path.
written = partial(row_and_losses, COLUMNS)


@given(ROWS)
def test_any_row_comes_back(row: dict[str, Any]) -> None:
    """Any row is read as a record from which the same record is read again."""
    record = COLUMNS.read(row)
    if record != Record():
        again, noted = written(record)

        assert list(differences(record, COLUMNS.read(again))) == []
        assert noted == {}
        assert all(same(item, row[column]) for column, item in again.items())


@examples(10)
@given(st.lists(records(), min_size=2, max_size=3), st.booleans())
def test_rows_of_one_file(chosen: list[Record], is_kept: bool) -> None:
    """Null where other rows have an item changes nothing but unknown columns."""
    choices = one_row_each(is_kept=is_kept)
    rows = [RecordMapper(COLUMNS, choices).map(filled(each)).rows[0] for each in chosen]
    columns = dict.fromkeys(column for each in rows for column in each)
    for row in rows:
        full = {column: row.get(column) for column in columns}
        alone, among = restored_from(row), restored_from(full)
        found = {each.path for each in differences(alone, among)}

        assert {
            each for each in found if not each.startswith("extra.haystack")
        } == set()


def one_row_each(*, is_kept: bool) -> Choices:
    """Return choices of one row each, perhaps with what would be lost."""
    return Choices(
        references=References.FIRST, responses=Responses.FIRST, keep_extra=is_kept
    )


def restored_from(row: dict[str, Any]) -> Record:
    """Return the record of a row with what the row keeps of it."""
    bare, fragment = split_extras(row, COLUMNS)
    return restore_extras(COLUMNS.read(bare), fragment)
