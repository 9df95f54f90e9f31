"""Tables in memory as inputs, and records as tables."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import harpia_formats
from effort import examples
from harpia_formats import OptionError, Record, from_table, read, to_table, validate
from harpia_formats.plugins import filled, records
from written_records import written

pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")

FIXTURES = Path(__file__).parents[3] / "fixtures"
ROWS = [
    {"question": "2 + 2?", "choices": {"text": ["3", "4"], "label": ["A", "B"]}},
    {"question": "3 + 3?", "choices": {"text": ["6"], "label": ["A"]}},
]
COLUMNS = {"prompt": "question", "choices": "choices.text"}


def prompts_and_choices(table: Any) -> list[Any]:
    """Return what the map finds in the rows of a table."""
    found = from_table(table, columns=COLUMNS)
    return [(record.prompt, record.choices) for record in found]


@examples(15, suppress_health_check=list(HealthCheck))
@given(given_records=st.lists(records().map(filled), min_size=1, max_size=4))
def test_records_come_back_from_a_table(given_records: list[Record]) -> None:
    """`from_table` returns the records that `to_table` was given."""
    back = from_table(to_table(given_records), format="parquet")

    assert written(back) == written(given_records)


def test_table_of_no_records_has_the_same_columns() -> None:
    """The columns do not depend on the records."""
    path = FIXTURES / "record/valid"
    several = to_table(read(min(path.glob("*.jsonl"))))

    assert to_table([]).schema == several.schema
    assert to_table([]).num_rows == 0


def test_tables_of_pyarrow_are_read() -> None:
    """A table, and what reads record batches, are inputs of all functions."""
    table = pa.Table.from_pylist(ROWS)
    wanted = [("2 + 2?", ["3", "4"]), ("3 + 3?", ["6"])]

    assert prompts_and_choices(table) == wanted
    assert prompts_and_choices(table.to_reader()) == wanted
    assert validate(table).files[0].path == "<table>"
    assert validate(table).files[0].records == 2


def test_data_frames_are_read() -> None:
    """Data frames of pandas and polars are tables."""
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    table = pa.Table.from_pylist(ROWS)
    wanted = [("2 + 2?", ["3", "4"]), ("3 + 3?", ["6"])]

    assert prompts_and_choices(pandas.DataFrame(ROWS)) == wanted
    assert prompts_and_choices(polars.from_arrow(table)) == wanted
    assert to_table([Record(prompt="p")]).to_pandas()["prompt"].to_list() == ["p"]
    assert polars.from_arrow(to_table([Record(prompt="p")]))["prompt"].to_list() == [
        "p"
    ]


def test_missing_number_of_a_data_frame_is_absent() -> None:
    """NaN, which pandas has for a missing number, is no value."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"prompt": ["p"], "score": [float("nan")]})
    (record,) = from_table(frame)

    assert record == Record(prompt="p", outputs=[])


class Formatted:
    """What a data set of `datasets` offers: its rows in a chosen format."""

    class Features:
        """The description of its columns."""

        def __init__(self, schema: Any) -> None:
            self.arrow_schema = schema

    def __init__(self, table: Any) -> None:
        self._table = table
        self.features = Formatted.Features(table.schema)

    def with_format(self, name: str) -> Any:
        """Return its rows as a table."""
        assert name == "arrow"
        return self._table


def test_data_set_is_read_with_its_description() -> None:
    """The rows of a data set are read in its format for Arrow, labels with names."""
    metadata = {
        b"huggingface": b'{"info": {"features": {"key": {"_type": "ClassLabel", '
        b'"names": ["A", "B"]}}}}'
    }
    table = pa.table({"prompt": ["p"], "key": [1]}).replace_schema_metadata(metadata)
    (record,) = from_table(Formatted(table))

    assert record.extra == {"parquet": {"key": "B"}}


def test_data_sets_of_datasets_are_read() -> None:
    """A data set of the real package is read, also where its rows are chosen."""
    datasets = pytest.importorskip("datasets")
    found = datasets.Dataset.from_list(ROWS)

    assert prompts_and_choices(found.select([1])) == [("3 + 3?", ["6"])]


@pytest.mark.parametrize("given_table", [3, "text", [1]])
def test_what_is_no_table_is_refused(given_table: Any) -> None:
    """Another value is a mistake of the caller."""
    with pytest.raises(TypeError, match="is no table"):
        from_table(given_table)


class Columns:
    """What a data frame offers whose values make no columns of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Raise what pyarrow raises for a column of texts and numbers."""
        raise pa.ArrowTypeError("Expected bytes, got a 'int' object", "column q")


def test_values_that_make_no_columns_are_a_mistake_of_the_caller() -> None:
    """Values of several types in one column are an error of the package."""
    rows = to_table([Record(prompt="p")]).to_pylist()
    rows[0]["system"] = float("nan")
    with pytest.raises(OptionError, match="got a 'int' object; column q"):
        validate(Columns())
    with pytest.raises(OptionError, match="got a 'float' object"):
        validate(rows)
    with pytest.raises(OptionError, match="non-struct type"):
        validate(pa.chunked_array([["p"]]))
    rows[0]["system"] = "\ud800"
    with pytest.raises(
        OptionError, match="position 0: surrogates not allowed"
    ) as found:
        validate(rows)
    assert str(found.value).isascii()


def test_a_number_that_no_column_holds_is_a_mistake_of_the_caller() -> None:
    """A data frame refuses a column with an integer of more than 64 bits."""

    class Numbers(Columns):
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            return pa.array([2**70])

    with pytest.raises(OptionError, match="int too large"):
        validate(Numbers())


def test_names_are_public() -> None:
    """Both functions are names of the package."""
    assert {"from_table", "to_table"} <= set(harpia_formats.__all__)
