"""Read one row of an open file as a record, whatever is wrong with the row."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.extra_fields import NO_SURROUNDINGS, row_reader
from harpia_formats.files.framing.chunk import BOM, with_nulls
from harpia_formats.files.parsing.csv_blocks import cut_record, fields_of
from harpia_formats.formats.registry import adapter_of, all_formats
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.format import Dialect, Format
from harpia_formats.model.record import FIELD_TYPES, Record, fits, record_of
from harpia_formats.view.options import ViewError
from harpia_formats.view.row_index import FoundFile


def cells_of(row: bytes, delimiter: str) -> list[str]:
    """Return the texts of the cells of a row of a table.

    Raises `UnicodeDecodeError` if they are not UTF-8.
    """
    cut = cut_record(row, 0, len(row), delimiter.encode(), final=True)
    return [field.text for field in fields_of(cut.raws)]


def value_of(row: bytes, *, reads_nan: bool) -> Any:
    """Return the value of a row of JSON; with `reads_nan`, NaN and Infinity are null.

    Raises what is in `NOT_JSON`.
    """
    return decode(with_nulls(row) if reads_nan else row)


def columns_of(found: FoundFile) -> tuple[str, ...]:
    """Return the names of the columns of a table, or none if they cannot be read."""
    if found.kind != "table":
        return ()
    header = found.before.removeprefix(BOM).strip(b"\r\n")
    try:
        return tuple(cells_of(header, found.delimiter))
    except UnicodeDecodeError:
        return ()


def why_unread(format_: Format | None) -> str:
    """Return why rows of a format are not read as records, "" if they are."""
    if format_ is None:
        return "its format is not known; `--from` names it"
    if not format_.adapter:
        return f"{format_.id} is one document that has no records"
    return ""


_INVALID = "it is not as its format asks, see the findings"


def _check_types(record: Record) -> None:
    """Raise `ViewError` for a record with a value of a wrong type, from a wrong row."""
    parts: list[tuple[str, Any]] = [("", record)]
    parts += [("outputs.", output) for output in record.outputs]
    for output in record.outputs:
        parts += [("outputs.scores.", score) for score in output.scores or ()]
    for prefix, part in parts:
        for name in part.__struct_fields__:
            value, path = getattr(part, name), f"{prefix}{name}"
            if value is not UNSET and path in FIELD_TYPES and not fits(path, value):
                raise ViewError(_INVALID)


class RecordReader:
    """Reads rows of one file as records."""

    def __init__(self, found: FoundFile) -> None:
        """Take what the file is."""
        self._found = found
        self._columns = columns_of(found)
        self._around: Mapping[str, Any] = {}
        self._format = all_formats().get(found.format)
        self._dialect: Dialect | None = None
        if self._format is not None:
            named = (d for d in self._format.dialects if d.name == found.dialect)
            self._dialect = next(named, self._format.dialects[0])
        self._read = self._reader(NO_SURROUNDINGS)

    def _reader(self, around: Mapping[str, Any]) -> Any:
        """Return the function that reads decoded rows, None if there is none."""
        format_, dialect = self._format, self._dialect
        if format_ is None or dialect is None or not format_.adapter:
            return None
        return row_reader(adapter_of(format_), dialect.name, around)

    def read(self, row: bytes, around: Mapping[str, Any] = NO_SURROUNDINGS) -> Record:
        """Return a row as a record.

        `around` is what stands around the rows, as far as their reader needs it. Raises
        `ViewError` for a row that cannot be read as one.
        """
        if not row:
            raise ViewError("it is not valid, and was not copied")
        if self._found.rows_of == "records":
            return record_of(decode(row))
        if self._read is None:
            raise ViewError(why_unread(self._format))
        if around and around != self._around:
            self._around, self._read = around, self._reader(around)
        value = self._decoded(row)
        try:
            record: Record = self._read(value)
        except Exception as error:  # adapters are promised valid rows only
            raise ViewError(_INVALID) from error
        _check_types(record)
        return record

    def id_of(self, row: bytes) -> str | None:
        """Return the id of a row by the key of its format, None if it has none."""
        key = self._format.id_key if self._format is not None else "id"
        with suppress(ViewError):
            value = self._decoded(row).get(key)
            return None if value is None else str(value)
        return None

    def _decoded(self, row: bytes) -> dict[str, Any]:
        """Return the object that a row is; raises `ViewError`."""
        try:
            if self._found.kind == "table":
                return self._cells(row)
            value = value_of(row, reads_nan=self._found.reads_nan)
        except UnicodeDecodeError as error:
            raise ViewError("it is not UTF-8") from error
        except NOT_JSON as error:
            raise ViewError("it is not valid JSON") from error
        if not isinstance(value, dict):
            raise ViewError("it is no object")
        return value

    def _cells(self, row: bytes) -> dict[str, Any]:
        """Return the cells of a row of a table by their columns; raises `ViewError`."""
        if not self._columns:
            raise ViewError("the header of the table is not UTF-8")
        cut = cut_record(row, 0, len(row), self._found.delimiter.encode(), final=True)
        fields = fields_of(cut.raws)
        format_, is_dropped = self._format, False
        if format_ is not None and format_.adapter:
            is_dropped = adapter_of(format_).blank_is_absent
        return {
            name: field.text
            for name, field in zip(self._columns, fields, strict=False)
            if not (is_dropped and field.start == field.end)
        }
