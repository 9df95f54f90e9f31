"""The format parquet: rows of any columns, and records with a column for each field."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.model.format import Dialect, Format, telling_columns

#: The name of the unpacker of its files.
TABLE = "table"
#: The keys of records, and the header that one of them may hold.
_of_records = frozenset(
    "id prompt system messages references gt choices contexts category source params "
    "metadata extra outputs header".split()
)


def sign_of_record(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a record: objects in `outputs`, and most keys, or ""."""
    outputs = row.get("outputs")
    if not isinstance(outputs, list):
        return ""
    if outputs and not any(isinstance(output, Mapping) for output in outputs):
        return ""
    is_record = 2 * len(row.keys() - _of_records) < len(row)
    return "`outputs` and keys of records" if is_record else ""


def sign_of_columns(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a row of a table: any other columns at all, or ""."""
    return "named columns" if row and not sign_of_record(row) else ""


FORMAT = Format(
    id="parquet",
    title="Rows of any columns in Parquet, Arrow or Feather",
    vendor="any",
    adapter="harpia_converters.arrow.mapping:ROWS",
    row_writer="harpia_formats.conversion.containers.arrow_table:table_writer",
    unpacked_by=TABLE,
    dialects=(
        Dialect("record", sign_of_record),
        Dialect("parquet", sign_of_columns, name="columns", own_sign=telling_columns),
    ),
    id_key="id",
    ids_repeat=True,
    general=True,
)
