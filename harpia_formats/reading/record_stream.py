"""Read the valid rows of a file as records, in order, while it is validated."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from msgspec import MsgspecError

from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.framing.columns import DocumentHeader
from harpia_formats.mapping.columns import check_columns_exist, rename_columns
from harpia_formats.mapping.extras import restore_extras, split_extras
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.format import Container
from harpia_formats.model.problem import Path
from harpia_formats.model.record import Header, Record
from harpia_formats.reading.column_buffer import ColumnBuffer
from harpia_formats.registry import adapter_of
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.unit.record_numbers import Numbers
from harpia_formats.validation.unit.row_validator import RowValidator
from harpia_formats.validation.unit.rows import ValidatedRows

if TYPE_CHECKING:  # only for tables: start-up time
    from harpia_formats.validation.unit.table import TableRecord, ValidatedTable

#: The bytes of the key under which a row holds a header.
HEADED = b'"header"'

#: Takes rows as a typed decoder decoded them; returns False to have them read one by
#: one as records.
TakeAccepted = Callable[[Chunk, Numbers, Sequence[Any], RowValidator], bool]


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """One record with its row, which knows its place in the file."""

    record: Record
    row: RowContext


#: Takes a record that was read.
Receive = Callable[[PlacedRecord], None]


@dataclass(slots=True)
class RecordStream:
    """Reads the valid rows of one file as records, and hands them on.

    It is the consumer of rows that the validation of the file calls.
    """

    path: str
    receive: Receive
    #: Called with the bytes of each row that is not valid.
    refuse: Callable[[bytes], None]
    #: Called once the format is known; it may raise an error to refuse the file.
    begin: Callable[[FormatVariant], None]
    #: Called with rows that a typed decoder accepted all, before they are read.
    bulk: TakeAccepted | None = None
    #: The name of the field in each column of a table, where they are mapped.
    fields: dict[str, str] = field(default_factory=dict)
    #: The headers around the records, or in the first of them.
    headers: list[Header] = field(default_factory=list)
    _adapter: FormatAdapter | None = None
    _variant: FormatVariant | None = None
    _columns: ColumnBuffer | None = None

    def open(self, variant: FormatVariant | None) -> None:
        """Get ready for the rows of `variant`; None is a file of no known format."""
        if variant is None:
            return
        self.begin(variant)
        self._variant = variant
        self._adapter = adapter_of(variant.format)
        if variant.dialect.container is Container.COLUMNS:
            self._columns = ColumnBuffer()

    def column(self, path: Path) -> None:
        """Begin with the items of another column."""
        if self._columns is not None:
            self._columns.begin(path)

    def rows(self, rows: ValidatedRows) -> None:
        """Read the valid rows as records; hand on the bytes of those that are not."""
        chunk, values = rows.chunk, rows.verdict.accepted
        validator = rows.part.validator
        if values is not None and self._accepted(
            chunk, rows.numbers, values, validator
        ):
            return
        passed = rows.refused | frozenset(rows.verdict.blank)
        if self._columns is not None:
            self._columns.take(chunk, rows.numbers, passed)
        elif self._adapter is not None:
            self._read(rows, passed)
        for row in sorted(rows.refused):
            if row < len(chunk):
                self.refuse(chunk.rows[row])

    def _read(self, rows: ValidatedRows, passed: frozenset[int]) -> None:
        """Read the rows that are not `passed` over, as many at once as can be."""
        chunk, numbers, values = rows.chunk, rows.numbers, rows.verdict.values
        for begin, end in _runs(len(chunk), passed, values):
            part = values[begin:end]
            if part and part[0] is not None and chunk.lines:
                before = Numbers(numbers.of(begin) - 1, [])
                lines, validator = chunk.between(begin, end), rows.part.validator
                if self._accepted(lines, before, part, validator):
                    continue
            for number in range(begin, end):
                text = chunk.rows[number]
                start = chunk.start_of(number)
                self._hand_on(decode(text), text, start, numbers.of(number))

    def _accepted(
        self,
        chunk: Chunk,
        numbers: Numbers,
        values: Sequence[Any],
        validator: RowValidator,
    ) -> bool:
        """Hand on rows that the decoder accepted; return whether they were taken."""
        if self.bulk is None or self._columns is not None:
            return False
        if self._has_headed_rows and HEADED in chunk.data:
            return False
        return self.bulk(chunk, numbers, values, validator)

    def table(self, rows: "ValidatedTable") -> None:
        """Read valid records of a table; hand on the bytes of those that are not."""
        for record in rows.records:
            if record.value is None:
                self.refuse(record.row.data)
            else:
                self._cells(record, record.value)

    def _cells(self, record: "TableRecord", value: dict[str, str]) -> None:
        """Read a record of a table, whose fields are `value`."""
        if self._adapter is None:
            return
        row = record.row
        if self._adapter.blank_is_absent:
            blank = {
                name
                for name, cell in zip(value, row.fields, strict=True)
                if cell.start == cell.end
            }
            value = {name: text for name, text in value.items() if name not in blank}
        if self.fields:
            value = rename_columns(value, self.fields)
        self._hand_on(value, row.data, row.start, record.number)

    def header(self, header: DocumentHeader) -> None:
        """Read the document around the records as a header."""
        adapter = self._adapter
        if adapter is None or adapter.read_header is None or self._columns is not None:
            return
        try:
            document = decode(header.text)
        except (MsgspecError, UnicodeDecodeError, RecursionError):
            return
        assert self._variant is not None  # noqa: S101 - a adapter has a variant
        document.pop(self._variant.dialect.rows_at, None)
        self._note_header(adapter.read_header(document))

    def close(self) -> Iterator[None]:
        """Hand on the records of columns, which end with the file, one at each step."""
        columns, adapter = self._columns, self._adapter
        if columns is None or adapter is None:
            return
        try:
            yield from self._rows_of(columns, adapter)
        finally:
            columns.close()

    def _rows_of(self, columns: ColumnBuffer, adapter: FormatAdapter) -> Iterator[None]:
        """Hand on the rows of columns, one at each step. Raises `MapError`."""
        for component in columns.components():
            if component and adapter.read_header is not None:
                self._note_header(adapter.read_header({"component": component[0]}))
            if self.fields:
                check_columns_exist(self.fields, columns.names_of(component), self.path)
            for number, start, given in columns.rows_of(component):
                value = rename_columns(given, self.fields) if self.fields else given
                self._hand_on(value, encode(value), start, number)
                yield

    def _note_header(self, header: Header) -> None:
        if header != Header() and header not in self.headers:
            self.headers.append(header)

    @property
    def is_open(self) -> bool:
        """Whether the format of the file is known."""
        return self._variant is not None

    @property
    def _has_headed_rows(self) -> bool:
        """Whether a header is in a row, and not around them."""
        variant, adapter = self._variant, self._adapter
        if variant is None or adapter is None or adapter.read_header is None:
            return False
        return variant.dialect.container is Container.ROWS

    def _hand_on(self, value: Row, text: bytes, start: Cursor, number: int) -> None:
        variant, adapter = self._variant, self._adapter
        assert variant is not None  # noqa: S101 - the caller looked
        assert adapter is not None  # noqa: S101 - it has one with its variant
        if self._has_headed_rows and adapter.read_header and "header" in value:
            self._note_header(adapter.read_header(value["header"]))
        record = read_record(value, adapter, variant)
        id_key = variant.format.id_key
        placed = RowContext(self.path, text, start, number, value, id_key)
        self.receive(PlacedRecord(record, placed))


def _runs(
    count: int, passed: frozenset[int], values: Sequence[Any]
) -> Iterator[tuple[int, int]]:
    """Yield begin and end of rows that are adjacent, and decoded all or none.

    Decoded are those with a value.
    """
    known = [each is not None for each in values] + [False] * (count - len(values))
    for is_known, rows in groupby(
        range(count), lambda row: None if row in passed else known[row]
    ):
        if is_known is not None:
            first, *others = rows
            yield first, first + 1 + len(others)


def read_record(value: Row, adapter: FormatAdapter, variant: FormatVariant) -> Record:
    """Return the record that a row of `variant` is."""
    normalize = adapter.dialect_normalizers.get(variant.dialect.name)
    if normalize is not None:
        value = normalize(value)
    bare, kept = split_extras(value, adapter)
    record = adapter.read(bare)
    return restore_extras(record, kept) if kept else record
