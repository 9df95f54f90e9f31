"""Records as columns of Arrow."""

import io
import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import Record, from_table, read, to_table, validate, write
from harpia_formats.api.testing import records

pytest.importorskip("pyarrow")


def text_of(given_records: Iterable[Record]) -> str:
    """Return records as JSON Lines, in which numbers have all of their digits."""
    stream = io.BytesIO()
    assert write(given_records, to="record", output=stream).ok
    return stream.getvalue().decode()


@given(st.lists(records(), min_size=1, max_size=3))
def test_records_come_back_exactly(given_records: list[Record]) -> None:
    """Whatever fields records have, they are the same again, numbers to the digit."""
    table = to_table(given_records)

    assert text_of(from_table(table, format="parquet")) == text_of(given_records)


@for_each_case(
    "id_, outputs",
    itertools.product(
        ["7", '"7"', str(2**80), '""'],
        [
            *[
                f'[{{"scores":[{{"metric":"em","value":{value}}}]}}]'
                for value in (
                    "1",
                    "1.0",
                    "true",
                    "null",
                    "0.1",
                    str(2**70),
                    "1.50",
                    "-0.0",
                )
            ],
            f'[{{"scores":[{{"metric":"em","value":1{"0" * 400}}}]}}]',
            '[{"text":null},{"text":""},{},{"index":18446744073709551616}]',
        ],
    ),
)
def test_values_keep_their_types(id_: str, outputs: str) -> None:
    """Integers, truth values, nulls and numbers of any spelling are kept apart."""
    row = f'{{"id":{id_},"prompt":"2+2?","outputs":{outputs}}}\n'

    assert text_of(from_table(to_table(read(row.encode(), from_="record")))) == row


def test_layout_says_its_version() -> None:
    """The metadata or all columns give the layout, and a newer one is refused."""
    table = to_table([Record(id=1, prompt="q")])
    (key,) = table.schema.metadata
    assert str(table.schema.field("params").type) == "string"
    bare = table.replace_schema_metadata(None)
    given = [table, bare, bare.select(["prompt"])]
    found = [validate(each).files[0].format for each in given]
    assert found == ["record", "record", "parquet"]
    (file,) = validate(table.replace_schema_metadata({key: b"2"})).files

    assert "layout 2, and this version reads" in str(file.reason)
