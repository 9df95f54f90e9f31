"""The data that Python functions take and return: files, rows and tables in memory."""

import io
import itertools
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite, isinf
from os import PathLike
from typing import Any, BinaryIO, Protocol, cast

from harpia_formats.api.keyword_options import make_options, with_own_names
from harpia_formats.files.io.inputs import Input as FileInput
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import ReadProgress, Source
from harpia_formats.model.describe import path_text
from harpia_formats.model.exact_json import NOT_JSON, encode
from harpia_formats.model.problem import OptionError
from harpia_formats.model.record import Record, as_dict
from harpia_formats.model.result import frame_library
from harpia_formats.model.spelling import hint_on

Path = PathLike[str] | str


class Readable(Protocol):
    """An open binary file, or an object that is read like one."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or all that remain if it is negative."""


class ArrowTable(Protocol):
    """A table in memory: of pyarrow, pandas, polars, and other packages."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return its columns, as the PyCapsule interface of Arrow describes."""


#: What the functions read: a path, folder, pattern or URL, bytes, an open binary file,
#: one object of JSON, a list of such objects, or a table in memory.
Input = (
    Path
    | bytes
    | Readable
    | Source
    | Mapping[str, Any]
    | Sequence[Mapping[str, Any]]
    | ArrowTable
)
#: Where the functions write: a path or URL, an open binary file, or None for standard
#: output.
Output = Path | BinaryIO | None
Progress = Callable[[ReadProgress], None]


#: The name of a table in memory in reports.
NAME_OF_TABLE = "<table>"
#: Records that become columns together.
ROWS_OF_BATCH = 500
#: Rows of a table that are a batch of the stream, and about the bytes of their values.
ROWS, BYTES = 10_000, 8 * 1024 * 1024
_stream, _formatted, _to_arrow = "__arrow_c_stream__", "with_format", "to_arrow"


def several(name: str, given: Any, kind: type = str) -> tuple[Any, ...]:
    """Return the items of the argument `name`; one text is taken for a list of it.

    What has no items is taken for one. Raises `OptionError` for one of another kind.
    """
    is_list = isinstance(given, Iterable) and not isinstance(given, str)
    found = tuple(given) if is_list else (given,)
    if not all(isinstance(one, kind) for one in found):
        raise OptionError(f"{name} must be a text or several names, not {given!r}")
    return found


def is_table(given: Any) -> bool:
    """Tell whether `given` is a table in memory."""
    return any(hasattr(given, name) for name in (_stream, _formatted, _to_arrow))


def table_input(table: Any) -> Source:
    """Return a table as an Arrow stream in memory.

    Raises `MissingPyarrow`, `SourceError` for a table whose values are not valid, and
    `OptionError` for what is no table.
    """
    from harpia_formats.files.arrow.tables import load_pyarrow, row_parts, small_parts  # noqa: PLC0415 - only tables need it

    if not is_table(table):
        raise OptionError(f"{type(table).__name__} is no table: it has no {_stream}")
    pa = load_pyarrow()
    sink = pa.BufferOutputStream()
    with _errors_of_columns():
        schema, batches = _columns_of(table, pa)
    with pa.ipc.new_stream(sink, schema) as writer:
        for number, batch in enumerate(batches, 1):
            _check_batch(batch, number, pa)
            for rows in row_parts(batch, ROWS):
                for part in small_parts(rows, BYTES):
                    writer.write(part)
    return Source(NAME_OF_TABLE, sink.getvalue().to_pybytes())


@contextmanager
def _errors_of_columns() -> Iterator[None]:
    """Raise `OptionError` for what a package says of values that make no columns."""
    try:
        yield
    except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
        # Errors of pandas have sentences as arguments; that of Unicode has its data.
        is_of_text = isinstance(error, UnicodeError)
        reason = str(error) if is_of_text else "; ".join(map(str, error.args))
        raise OptionError(f"the table has no columns of Arrow: {reason}") from error


def _check_batch(batch: Any, number: int, pa: Any) -> None:
    """Raise `SourceError` if the values of a batch are not valid.

    What writes it trusts its offsets, and would read whatever is in memory there.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowException as error:
        reason = f"its batch {number:,} is corrupt: {error}"
        raise SourceError(NAME_OF_TABLE, reason.splitlines()[0].rstrip(".")) from error


def table_of_rows(rows: Sequence[Any]) -> Any:
    """Return the table of records whose `to_pylist` returns these rows.

    Raises `MissingPyarrow`, and `OptionError` for values that have no such column.
    """
    from harpia_formats.files.arrow.tables import (  # noqa: PLC0415 - only tables need it
        load_pyarrow,
        record_schema,
    )

    pa = load_pyarrow()
    with _errors_of_columns():
        return pa.Table.from_pylist(list(rows), schema=record_schema())


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
    """Return records as a pandas data frame, for which pyarrow is not needed.

    Raises `ImportError` without pandas, and `OptionError` for what is no record.
    """
    from harpia_formats.files.arrow.tables import COLUMNS, cells_of_row  # noqa: PLC0415 - only tables need it

    frame = frame_library("pandas").DataFrame
    return frame(
        [cells_of_row(as_dict(_checked(record))) for record in records],
        columns=list(COLUMNS),
    )


def polars_of_records(records: Iterable[Record]) -> Any:
    """Return records as a Polars data frame.

    Raises `ImportError` without polars, and what `table_of_records` raises.
    """
    return frame_library("polars").from_arrow(table_of_records(records))


def _checked(record: Any) -> Record:
    """Return a record; raises `OptionError` for what is none."""
    if not isinstance(record, Record):
        raise OptionError(f"{type(record).__name__} is no Record")
    return record


def table_of_records(records: Iterable[Record]) -> Any:
    """Return records as a `pyarrow.Table`.

    Raises `MissingPyarrow`, and `OptionError` for what is no record, or has what JSON
    cannot hold.
    """
    from harpia_formats.files.arrow.tables import (  # noqa: PLC0415 - only tables need it
        load_pyarrow,
        record_schema,
    )

    pa = load_pyarrow()
    batches = []
    rows: list[dict[str, Any]] = []
    for number, record in enumerate(records, 1):
        rows.append(as_dict(_checked(record)))
        if len(rows) == ROWS_OF_BATCH:
            batches.append(_batch(rows, number))
            rows = []
    batches.append(_batch(rows, ROWS_OF_BATCH * len(batches) + len(rows)))
    return pa.Table.from_batches(batches, record_schema())


def _batch(rows: list[dict[str, Any]], last: int) -> Any:
    """Return rows of records as a batch; `last` is the number of the last one.

    Raises `OptionError` for one that JSON cannot hold.
    """
    from harpia_formats.files.arrow.tables import batch_of_rows  # noqa: PLC0415 - only tables need it

    try:
        return batch_of_rows(rows)
    except (*NOT_JSON, TypeError, ValueError):
        for number, row in enumerate(rows, last - len(rows) + 1):
            _record_line(number, row)
        raise


#: The name of rows in memory in reports.
NAME_OF_ROWS = "<rows>"


def file_inputs(inputs: "Iterable[Input]") -> list[FileInput]:
    """Return `inputs` with JSON Lines in memory in place of objects and lists of them.

    Raises `OptionError` for rows that JSON cannot hold.
    """
    return [_file_input(given) for given in inputs]


def scored_inputs(
    inputs: "Iterable[Input]", systems: Mapping[str, Any]
) -> list[FileInput]:
    """Return what `file_inputs` returns for inputs, of which `systems` names some.

    Raises `OptionError` for a path in `systems` that is no input.
    """
    found = file_inputs(inputs)
    paths = {str(one): one for one in found if isinstance(one, (str, PathLike))}
    for path in systems:
        if path not in paths:
            hint = hint_on(path, paths)
            raise OptionError(f"systems names {path!r}, which is no input{hint}")
    return found


def with_mapped_format(
    inputs: Sequence[FileInput], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options of a validation with the format whose columns they map.

    It is the one of `inputs` if no format is named. Raises `ConversionError` for inputs
    whose columns or keys cannot be mapped.
    """
    given = with_own_names(options, ("format", "columns"))
    is_named = given.get("format") is not None or given.get("schema") is not None
    if is_named or not given.get("columns"):
        return given
    from harpia_formats.files.io.discovery import Exclusion  # noqa: PLC0415 - only for a map
    from harpia_formats.formats.detection.mapped_format import require_mapped_format  # noqa: PLC0415 - only for a map
    from harpia_formats.validation.options import Options  # noqa: PLC0415 - only for a map

    others = {name: value for name, value in given.items() if name != "columns"}
    exclusion = Exclusion(make_options(Options, others).exclude)
    return {**given, "format": require_mapped_format(inputs, exclusion)}


def _file_input(given: "Input") -> FileInput:
    if is_table(given):
        return table_input(given)
    if isinstance(given, Mapping):
        return Source(NAME_OF_ROWS, _line(1, given))
    is_list = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    if not is_list:
        return cast("FileInput", given)
    rows = cast("Sequence[Any]", given)
    if _are_table_rows(rows):
        # In a table a null is an absent field; in a row of JSON it is a value.
        return table_input(table_of_rows(rows))
    lines = (_line(number, row) for number, row in enumerate(rows, 1))
    return Source(NAME_OF_ROWS, b"".join(lines))


def _are_table_rows(rows: Sequence[Any]) -> bool:
    """Tell whether rows are those of a table that `to_table` returned."""
    if not (rows and isinstance(rows[0], Mapping) and "id_type" in rows[0]):
        return False
    from harpia_formats.files.arrow.tables import COLUMNS  # noqa: PLC0415 - only tables need it

    return all(isinstance(row, Mapping) and [*row] == [*COLUMNS] for row in rows)


def _line(number: int, row: Any) -> bytes:
    """Return a row as a line of JSON; raises `OptionError` with the row's number."""
    where = f"row {number:,} of the list"
    if not isinstance(row, Mapping):
        hint = "; pass files one by one" if isinstance(row, (str, bytes)) else ""
        raise OptionError(f"{where} is {row!r:.80}, not an object{hint}")
    try:
        _check_keys(row)
        _check_numbers(row)
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionError(f"{where} cannot be written as JSON: {error}") from error


class _Lines(io.RawIOBase):
    """A stream of records as lines of JSON, each written when it is read."""

    name = "<records>"

    def __init__(self, records: Iterable[Record]) -> None:
        self._lines = map(_record_line, itertools.count(1), records)
        self._buffered = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, none at the end."""
        while len(self._buffered) < size or size < 0:
            line = next(self._lines, b"")
            if not line:
                break
            self._buffered += line
        end = len(self._buffered) if size < 0 else size
        data, self._buffered = self._buffered[:end], self._buffered[end:]
        return data


def lines_of(records: Iterable[Record]) -> BinaryIO:
    """Return records as an open binary file of JSON lines."""
    return cast("BinaryIO", _Lines(records))


def _record_line(number: int, record: Any) -> bytes:
    """Return a record as a line of JSON; raises `OptionError` with its number."""
    try:
        text = encode(record)
        # What a number that JSON has not becomes; others are not looked at again.
        if b"null" in text:
            _check_numbers(as_dict(record) if isinstance(record, Record) else record)
    except (*NOT_JSON, TypeError, ValueError) as error:
        raise OptionError(
            f"record {number:,} cannot be written as JSON: {error}"
        ) from error
    return text + b"\n"


def _check_numbers(value: Any, path: tuple[str | int, ...] = ()) -> None:
    """Raise `ValueError` for a number that JSON has not, with the path of its key."""
    if isinstance(value, float) and not isfinite(value):
        hint = "" if isinf(value) else "; write None where there is no value"
        raise ValueError(f"{path_text(path)} is {value!r}, which JSON has not{hint}")
    if isinstance(value, Mapping):
        for key, member in value.items():
            _check_numbers(member, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check_numbers(item, (*path, index))


def _check_keys(value: Any) -> None:
    """Raise `TypeError` for a key that is no text, which JSON would make one."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
            _check_keys(member)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_keys(item)


class Records(Iterator[Record]):
    """An iterator of records, each of which is read when it is requested."""

    def __init__(self, records: Iterator[Record]) -> None:
        """Take what yields the records."""
        self._records = records

    def __iter__(self) -> Iterator[Record]:  # noqa: PYI034 - for the reason below
        # A loop over the generator itself costs no call for each record.
        return self._records

    def __next__(self) -> Record:
        return next(self._records)

    def __repr__(self) -> str:
        return "<Records: read when they are asked for>"

    def close(self) -> None:
        """Stop reading, and close the open file."""
        if isinstance(self._records, Generator):
            self._records.close()

    def to_pandas(self) -> Any:
        """Return the remaining records as a pandas data frame.

        Raises `ImportError` without pandas.
        """
        return frame_of_records(self)

    def to_polars(self) -> Any:
        """Return the remaining records as a Polars data frame.

        Raises `ImportError` without polars, and `HarpiaFormatsError` without pyarrow.
        """
        return polars_of_records(self)
