"""The table with any columns."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from cases import for_each_case
from harpia_formats.plugins import Container
from known_formats import FORMATS, bundled_schema

SCHEMA = bundled_schema("csv")
(DIALECT,) = FORMATS["csv"].dialects


@given(st.dictionaries(st.text(), st.text(), min_size=1))
def test_any_columns_are_a_table(row: dict[str, str]) -> None:
    """A row of text under any column names is detected and valid."""
    assert DIALECT.sniff(row)
    assert Draft7Validator(SCHEMA).is_valid(row)


def test_no_columns_are_no_table() -> None:
    """A row without a column is neither detected nor valid."""
    assert DIALECT.sniff({}) == ""
    assert not Draft7Validator(SCHEMA).is_valid({})


@for_each_case("value", [None, 1, True, ["a"], {"a": "b"}])
def test_values_are_text(value: Any) -> None:
    """Every value of a table is text, for example also a number."""
    assert not Draft7Validator(SCHEMA).is_valid({"column": value})


def test_table_gives_way_to_every_other_format() -> None:
    """The format is taken for tables only, and only where nothing else fits."""
    assert FORMATS["csv"].general
    assert DIALECT.container is Container.TABLE


def test_schema_is_a_draft_07_schema() -> None:
    """The schema is one of draft-07."""
    Draft7Validator.check_schema(SCHEMA)

    assert SCHEMA["version"] == "1"
