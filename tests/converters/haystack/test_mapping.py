"""Haystack's columns as records, and records as items of columns."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from cases import for_each_case
from effort import examples
from field_paths import unrelated
from harpia_converters.haystack.mapping import COLUMNS
from harpia_formats import Header, Record
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
from harpia_formats.formats.schema.bundled_schemas import (
    document_schema,
    schema_validator_of,
)
from harpia_formats.plugins import FieldOutcomes
from known_formats import FORMATS
from written_rows import row_and_losses

FIXTURES = sorted((Path(__file__).parents[3] / "fixtures/haystack/valid").iterdir())
SCHEMA_VALIDATOR = schema_validator_of(document_schema(FORMATS["haystack"].dialects[0]))
ONE_ROW = Choices(references=References.FIRST, responses=Responses.FIRST)
ORDER = "query_id questions contexts ground_truth_answers predicted_answers".split()
COLUMN = st.sampled_from([*ORDER, "responses", "retrieved_documents", "n", EXTRAS_KEY])
ITEMS = VALUES | TEXTS | st.lists(TEXTS, max_size=2)
ROWS = st.dictionaries(COLUMN, ITEMS, min_size=1, max_size=4)
NAMED = st.dictionaries(
    st.sampled_from(["column", "a"]), st.just("responses") | VALUES, min_size=1
)


def rows_in(path: Path) -> list[dict[str, Any]]:
    """Return the rows of all components in a file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    values = list(document.values())
    components = values if isinstance(values[0], dict) else [document]
    return [
        dict(zip(each, items, strict=True))
        for each in components
        for items in zip(*each.values(), strict=True)
    ]


#: Returns the row that a record becomes, and the recorded losses of each path.
written = partial(row_and_losses, COLUMNS)


def comes_back(row: dict[str, Any]) -> bool:
    """Tell whether a row comes back the same, without any loss.

    Null in a known column is not compared: the writer of the document adds it.
    """
    again, noted = written(COLUMNS.read(row))
    known = {each.name for each in COLUMNS.fields}
    gone = {key for key, each in row.items() if key in known and each is None}
    wanted = {key: each for key, each in row.items() if key not in gone}
    return {**again} == (wanted or row) and noted == {}


@for_each_case("path", FIXTURES, ids=lambda path: path.stem)
def test_rows_come_back(path: Path) -> None:
    """Every row of a valid file is the same again."""
    rows = rows_in(path)

    assert [each for each in rows if not comes_back(each)] == []


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
@given(record=records(), kept=ROWS, named=NAMED)
def test_every_difference_is_recorded_as_a_loss(
    record: Record, kept: dict[str, Any], named: dict[str, Any]
) -> None:
    """A field differs if and only if its loss is recorded, with any extra fields."""
    changes = {"turns": UNSET, "extra": {"haystack": named}}
    outputs = [replace(each, **changes) for each in record.outputs]
    record = replace(filled(record), outputs=outputs, extra={"haystack": kept})
    found = RecordMapper(COLUMNS, ONE_ROW).map(record)
    (row,) = found.rows
    noted = {each.path for each in found.outcomes}
    differing = {each.path for each in differences(record, COLUMNS.read(row))}

    assert SCHEMA_VALIDATOR.is_valid({key: [item] for key, item in row.items()})
    assert unrelated(differing, noted) == set()
    assert unrelated(noted, differing) == set()


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


def header_written(header: Header) -> tuple[dict[str, Any], list[str]]:
    """Return what is written of a header, and the paths of recorded losses."""
    outcomes = FieldOutcomes()
    assert COLUMNS.write_header is not None
    row = COLUMNS.write_header(header, outcomes)
    return row, [each.path for each in outcomes.entries]


def test_component_comes_back() -> None:
    """The name of the component around the columns is kept in the header."""
    assert COLUMNS.read_header is not None
    header = COLUMNS.read_header({"component": "exact match"})

    assert header == Header(extra={"haystack": {"component": "exact match"}})
    assert header_written(header) == ({"component": "exact match"}, [])
    assert COLUMNS.read_header({}) == Header()


def test_header_of_others() -> None:
    """Only the component's name is written next to the columns; the rest is a loss."""
    header = Header(extra={"haystack": {"component": 1, "a": 2}, "harpia": {"b": 3}})
    paths = ["haystack.component", "haystack.a", "harpia.b"]

    assert header_written(header) == ({}, [f"header.extra.{each}" for each in paths])
