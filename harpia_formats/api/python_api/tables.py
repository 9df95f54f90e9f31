"""Tables that a program has in memory: records as one, and one as an input."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from harpia_formats.files.arrow.package import load_pyarrow
from harpia_formats.files.arrow.value_sizes import row_parts, small_parts
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source
from harpia_formats.model.frames import frame_library
from harpia_formats.model.record import Record, as_dict

#: The name of a table in memory in reports.
TABLE = "<table>"
#: Records that become columns together.
BATCH = 500
#: Rows of a table that are a batch of the stream, and about the bytes of their values.
ROWS, BYTES = 10_000, 8 * 1024 * 1024
_stream, _formatted, _to_arrow = "__arrow_c_stream__", "with_format", "to_arrow"


def is_table(given: Any) -> bool:
    """Tell whether `given` is a table in memory."""
    return any(hasattr(given, name) for name in (_stream, _formatted, _to_arrow))


def table_input(table: Any) -> Source:
    """Return a table as a file in memory, a stream of Arrow.

    Raises `MissingPyarrow`, `SourceError` for a table whose values are not valid, and
    `TypeError` for what is no table.
    """
    if not is_table(table):
        raise TypeError(f"{type(table).__name__} is no table: it has no {_stream}")
    pa = load_pyarrow()
    sink = pa.BufferOutputStream()
    schema, batches = _columns_of(table, pa)
    with pa.ipc.new_stream(sink, schema) as writer:
        for number, batch in enumerate(batches, 1):
            _check(batch, number, pa)
            for rows in row_parts(batch, ROWS):
                for part in small_parts(rows, BYTES):
                    writer.write(part)
    return Source(TABLE, sink.getvalue().to_pybytes())


def _check(batch: Any, number: int, pa: Any) -> None:
    """Raise `SourceError` if the values of a batch are not valid.

    What writes it trusts its offsets, and would read whatever is in memory there.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowException as error:
        reason = f"its batch {number:,} is corrupt: {error}"
        raise SourceError(TABLE, reason.splitlines()[0].rstrip(".")) from error


def table_of_rows(rows: Sequence[Any]) -> Any:
    """Return the rows of a table of records, as its `to_pylist` returns them, as one.

    Raises `MissingPyarrow`.
    """
    from harpia_formats.files.arrow.record_layout import record_schema  # noqa: PLC0415 - only tables need it

    return load_pyarrow().Table.from_pylist(list(rows), schema=record_schema())


def _columns_of(table: Any, pa: Any) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a table, and its parts."""
    if hasattr(table, _formatted) and not hasattr(table, _stream):
        # A data set of `datasets`: its rows may be chosen by indices.
        whole = table.with_format("arrow")[:]
        # What it says of the columns is not always a part of the rows.
        schema = table.features.arrow_schema
        return schema, iter(whole.cast(schema).to_batches())
    if not hasattr(table, _stream):
        table = table.to_arrow()
    reader = pa.RecordBatchReader.from_stream(table)
    return reader.schema, iter(reader)


def frame_of_records(records: Iterable[Record]) -> Any:
    """Return records as a data frame of pandas, without a need of pyarrow.

    Raises `ImportError` without pandas, and `TypeError` for what is no record.
    """
    from harpia_formats.files.arrow.record_layout import COLUMNS, cells_of_row  # noqa: PLC0415 - only tables need it

    frame = frame_library("pandas").DataFrame
    return frame(
        [cells_of_row(as_dict(_checked(record))) for record in records],
        columns=list(COLUMNS),
    )


def polars_of_records(records: Iterable[Record]) -> Any:
    """Return records as a data frame of polars.

    Raises `ImportError` without polars, and what `table_of_records` raises.
    """
    return frame_library("polars").from_arrow(table_of_records(records))


def _checked(record: Any) -> Record:
    """Return a record; raises `TypeError` for what is none."""
    if not isinstance(record, Record):
        raise TypeError(f"{type(record).__name__} is no Record")
    return record


def table_of_records(records: Iterable[Record]) -> Any:
    """Return records as a `pyarrow.Table`.

    Raises `MissingPyarrow`, and `TypeError` for what is no record.
    """
    from harpia_formats.files.arrow.record_layout import batch_of_rows, record_schema  # noqa: PLC0415 - only tables need it

    pa = load_pyarrow()
    batches = []
    rows: list[dict[str, Any]] = []
    for record in records:
        rows.append(as_dict(_checked(record)))
        if len(rows) == BATCH:
            batches.append(batch_of_rows(rows))
            rows = []
    batches.append(batch_of_rows(rows))
    return pa.Table.from_batches(batches, record_schema())
