"""The format csv: a table with any columns, whose values are text."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.model.format import Container, Dialect, Format, telling_columns


def sign_of(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a table: any columns at all, or ""."""
    return "named columns" if row else ""


FORMAT = Format(
    id="csv",
    title="A table with any columns",
    vendor="any",
    adapter="harpia_converters.table.mapping:TABLE",
    results="harpia_converters.table.results_writer:RESULTS",
    dialects=(
        Dialect("csv", sign_of, container=Container.TABLE, own_sign=telling_columns),
    ),
    general=True,
)
