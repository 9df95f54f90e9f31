"""Read the valid rows of a file as records, in order, while it is validated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import Struct, field

from harpia_formats.conversion.mapping.extra_fields import (
    COMPONENT_KEY,
    HAS_PARTS,
    NO_SURROUNDINGS,
    ReadRow,
    row_reader,
)
from harpia_formats.conversion.reading.mapped_keys import MappedKeys
from harpia_formats.conversion.reading.merged_rows import MergedRows
from harpia_formats.conversion.reading.placed_record import PlacedRecord, Receive
from harpia_formats.conversion.reading.row_batch import (
    ColumnBuffer,
    ColumnRows,
    DecodedChunk,
    LazyRows,
    RowBatch,
    TableBatch,
)
from harpia_formats.files.framing.chunk import Cursor, with_nulls
from harpia_formats.files.framing.columns import DocumentHeader, RowArray
from harpia_formats.files.framing.unfinished_json import parse_truncated
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import FormatAdapter, Row, RowMerging
from harpia_formats.model.column_map import (
    check_columns_exist,
    rename_columns,
)
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.format import Container
from harpia_formats.model.problem import Path
from harpia_formats.model.record import Header, Record
from harpia_formats.validation.plan.units import TableRecords
from harpia_formats.validation.unit.findings import RecordNumbers
from harpia_formats.validation.unit.rows import ValidatedRows

if TYPE_CHECKING:  # only for tables: start-up time
    from harpia_formats.validation.unit.table import TableRecord


def members_before(column: RowArray) -> dict[str, Any]:
    """Return the members of a document that stand before an array of its rows.

    What is broken there is left out: the document is reported as such at its end.
    """
    before = with_nulls(column.before)
    try:
        found = decode(before + b"0" + b"}" * len(column.path))
    except NOT_JSON:
        found = parse_truncated(before)
    if not isinstance(found, dict):
        return {}
    pop_at(found, column.path)
    return found


def pop_at(document: Any, path: Path) -> None:
    """Remove the member at `path` of a document, if it has one."""
    *owners, key = path
    for owner in owners:
        document = document.get(owner) if isinstance(document, dict) else None
    if isinstance(document, dict):
        document.pop(key, None)


#: The bytes of the key of a header in a row.
HEADER_KEY = b'"header"'


class TakeRows(Protocol):
    """Takes many rows at once, or returns False to have them read one by one."""

    def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
        """Take what reads a row of the file, and what stands around its rows."""

    def decoded(self, rows: DecodedChunk) -> bool:
        """Take the rows of a chunk that a typed decoder decoded."""

    def batch(self, batch: RowBatch) -> bool:
        """Take a batch of rows."""


class RecordStream(Struct):
    """Reads the valid rows of one file as records, and passes them to `receive`.

    The validation of the file calls it with the rows, as their consumer.
    """

    reads_records: ClassVar[bool] = True

    #: The file as it is named in problems.
    path: str
    #: Called with each record.
    receive: Receive
    #: Called with the bytes of each row that is not valid, or None if it is longer than
    #: allowed; a record of columns is an object, which comes at the end of the file.
    refuse: Callable[[bytes | None], None]
    #: Called when the format is known; it may raise an error to refuse the file.
    begin: Callable[[FormatVariant], None]
    #: Called with adjacent rows that a typed decoder accepted, before they are read.
    bulk: TakeRows | None = None
    #: The names of the fields in mapped columns, by the names of the columns.
    fields: dict[str, str] = field(default_factory=dict)
    #: Fields that are read from keys of rows which the format does not know.
    keys: MappedKeys | None = None
    #: Given the format of the file: what its companion document says of its rows, for
    #: `FormatAdapter.reader_in`, and the header that it gives.
    around: Callable[[FormatVariant], tuple[Mapping[str, Any], Header]] = lambda _: (
        NO_SURROUNDINGS,
        Header(),
    )
    #: Given how rows become one record: whether the file has several rows of a record.
    has_parts: Callable[[RowMerging], bool] = lambda _: False
    #: The `surroundings` that another process found of the rows that it sends.
    known_surroundings: Mapping[str, Any] | None = None
    #: What stands around the rows, as far as the adapter needs it: plain data.
    surroundings: Mapping[str, Any] = field(default_factory=dict)
    #: The headers of the file, around the records or in them.
    headers: list[Header] = field(default_factory=list)
    _adapter: FormatAdapter | None = None
    _variant: FormatVariant | None = None
    _read: ReadRow | None = None
    _columns: ColumnBuffer | None = None
    _parts: MergedRows | None = None

    def open(self, variant: FormatVariant | None) -> None:
        """Prepare to read rows of `variant`; None for a file in no known format."""
        if variant is None:
            return
        self.begin(variant)
        self._variant = variant
        self._adapter = adapter_of(variant.format)
        if self.known_surroundings is None:
            surroundings, header = self.around(variant)
            self.note_header(header)
            merging = self._adapter.merging
            if merging is not None and self.has_parts(merging):
                self._parts, self.bulk = MergedRows(merging), None
            self._read_rows_in(self._needed(surroundings))
        else:
            self._read_rows_in(self.known_surroundings)
        if variant.dialect.container is Container.COLUMNS:
            self._columns = ColumnBuffer()

    def _read_rows_in(self, surroundings: Mapping[str, Any]) -> None:
        """Prepare to read rows that have the needed `surroundings` around them."""
        adapter, variant = self._adapter, self._variant
        assert adapter is not None  # noqa: S101 - it is set with the variant
        assert variant is not None  # noqa: S101 - only rows of a known format are read
        self.surroundings = surroundings
        self._read = row_reader(adapter, variant.dialect.name, surroundings)
        if self.bulk is not None:
            self.bulk.begin(self._read, surroundings)

    def _needed(self, surroundings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the adapter needs of what stands around the rows."""
        adapter = self._adapter
        if adapter is None or adapter.needed_around is None:
            return surroundings
        return adapter.needed_around(surroundings)

    def column(self, column: RowArray) -> None:
        """Start with the items of a column, or with the rows inside of a document."""
        if self._columns is not None:
            self._columns.begin(column.path)
        elif column.before and self._adapter and self._adapter.reader_in is not None:
            self._read_rows_in(self._needed(members_before(column)))

    def rows(self, rows: ValidatedRows) -> None:
        """Read the valid rows as records, and pass the bytes of others to `refuse`."""
        chunk, values = rows.chunk, rows.verdict.accepted
        decoder = rows.part.validator.decoder
        # A decoder also accepts rows that nothing validates, of no known format.
        if values is not None and decoder is not None and not rows.refused:
            found = DecodedChunk(chunk, rows.numbers, values, decoder)
            if self._is_taken(found):
                return
        passed = rows.refused | frozenset(rows.verdict.blank)
        if self._columns is not None:
            self._columns.add(chunk, rows.numbers, passed)
            return
        reads = self._adapter is not None
        # One run after the other: rows are put aside in the order of the file.
        for begin, end in _runs(len(chunk), passed, rows.verdict.values):
            if begin in passed:
                self._refuse(rows, begin, end)
            elif reads:
                self._read_rows(rows, begin, end)

    def _refuse(self, rows: ValidatedRows, begin: int, end: int) -> None:
        """Pass the bytes of the refused ones of adjacent rows to `refuse`."""
        chunk = rows.chunk
        for row in range(begin, end):
            if row in rows.refused:
                if self.keys is not None:
                    self.keys.note_refused(chunk.rows[row])
                self.refuse(chunk.texts[row])

    def _read_rows(self, rows: ValidatedRows, begin: int, end: int) -> None:
        """Read adjacent rows, all at once if possible."""
        chunk, numbers = rows.chunk, rows.numbers
        part, decoder = rows.verdict.values[begin:end], rows.part.validator.decoder
        is_decoded = part and part[0] is not None
        if self.bulk is not None and is_decoded and decoder is not None:
            before = RecordNumbers(numbers.of(begin) - 1, [])
            between = chunk.between(begin, end)
            if self._is_taken(DecodedChunk(between, before, part, decoder)):
                return
        text_of, start_of = chunk.texts.__getitem__, chunk.start_of
        for row in range(begin, end):
            value, number = decode(chunk.rows[row]), numbers.of(row)
            self._receive_row(value, number, text_of, start_of, row)

    def _is_taken(self, rows: DecodedChunk) -> bool:
        """Pass decoded rows to `bulk`; return its answer."""
        if self.bulk is None or self._columns is not None or self.keys is not None:
            return False
        # This search takes a sixth of the time that `in` takes.
        data, key = rows.chunk.data, HEADER_KEY
        if self._has_header_in_rows and stringzilla.find(data, key) >= 0:
            return False
        return self.bulk.decoded(rows)

    def batch(self, batch: RowBatch) -> None:
        """Read rows as records, all at once if possible."""
        if self.bulk is not None and self.keys is None and self.bulk.batch(batch):
            return
        text_of, start_of = batch.text_of, batch.start_of
        for index, value in enumerate(batch.values):
            number = batch.numbers[index]
            self._receive_row(value, number, text_of, start_of, index)

    def lost(self, number: int) -> None:
        """Leave out a record that is too long, or of which an item of a column is."""
        if self._columns is not None:
            self._columns.refuse(number)
        else:
            self.refuse(None)

    def table_record(self, record: "TableRecord") -> None:
        """Read a record of a table if it is valid, or pass its bytes to `refuse`."""
        if record.value is None:
            self.refuse(record.row.data)
        else:
            self._cells(record, record.value)

    def table_records(self, unit: TableRecords) -> None:
        """Read valid records of a table, all at once if possible."""
        if self._adapter is None:
            return
        block, names = unit.block, unit.columns
        renamed = tuple(self.fields.get(name, name) for name in names)
        is_clear = len(set(renamed)) == len(renamed)
        numbers = range(unit.before + 1, unit.before + 1 + block.count)
        places = block.start_of, block.data_of
        drops_blank = self._adapter.blank_is_absent
        if is_clear:
            table = TableBatch(block, renamed, drops_blank)
            values = LazyRows(block.count, table.rows)
            self.batch(RowBatch(values, numbers, *places, table=table))
            return
        # An error, unless one of two columns is blank in each record.
        rows = [
            rename_columns(value, self.fields)
            for value in block.rows(names, drops_blank=drops_blank)
        ]
        self.batch(RowBatch(rows, numbers, *places))

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
        self._receive_row(
            value, record.number, lambda _: row.data, lambda _: row.start, 0
        )

    def header(self, header: DocumentHeader) -> None:
        """Read the document around the records as a header."""
        adapter = self._adapter
        if adapter is None or adapter.read_header is None or self._columns is not None:
            return
        assert self._variant is not None  # noqa: S101 - an adapter has a variant
        text = header.text
        if self._variant.dialect.reads_nan:
            text = with_nulls(text)
        try:
            document = decode(text)
        except NOT_JSON:
            return
        pop_at(document, self._variant.dialect.rows_path)
        self.note_header(adapter.read_header(document))

    def finish(self) -> Iterator[None]:
        """Read the records of columns and of several rows; yield after some.

        The file has ended. Raises `MapError` if a mapped column is missing.
        """
        for batch in self.batches():
            self.batch(batch)
            yield
        yield from self.merge_rows()

    def batches(self) -> Iterator[RowBatch]:
        """Yield the rows of columns, once the file has ended, for `batch`.

        Raises `MapError` if a mapped column is missing.
        """
        columns, adapter = self._columns, self._adapter
        if self.keys is not None and adapter is not None:
            self.keys.check_seen(self.path)
        if columns is None or adapter is None:
            return
        yield from self._rows_of(columns, adapter)

    @property
    def merges_rows(self) -> bool:
        """Whether several rows of the file are one record."""
        return self._parts is not None

    def merge_rows(self) -> Iterator[None]:
        """Read the records of several rows, once the file has ended; yield after some.

        They are in the order of their first rows.
        """
        if self._parts is None:
            return
        assert self._variant is not None  # noqa: S101 - rows of it were added
        if self._parts.has_several:
            self._read_rows_in({**self.surroundings, HAS_PARTS: True})
        reads_nan = self._variant.dialect.reads_nan
        for rows in self._parts.groups():
            records = []
            for name, row in rows:
                text = with_nulls(row.text) if reads_nan else row.text
                value = decode(text)
                records.append((name, value, self._record_of(value, row.number)))
            merged = [(name, record) for name, _, record in records]
            record = merged[0][1]
            if len(merged) > 1:
                record = self._parts.merging.merge(merged)
            at = min(range(len(rows)), key=lambda at: rows[at][1].number)
            first, value = rows[at][1], self._kept_of(records[at][1])
            texts = [row.text for _, row in sorted(rows, key=lambda one: one[1].number)]
            place = first.number, value, self._variant.format.id_key
            access = texts.__getitem__, lambda _, start=first.cursor: start, 0
            others = tuple(texts[1:])
            self.receive(PlacedRecord(record, self.path, *place, *access, others))
            yield

    def discard(self) -> None:
        """Delete what was kept of the file, also of one not read to its end."""
        if self._columns is not None:
            self._columns.close()
        if self._parts is not None:
            self._parts.close()

    def _rows_of(
        self, columns: ColumnBuffer, adapter: FormatAdapter
    ) -> Iterator[RowBatch]:
        """Yield the valid rows of columns, and note the header that they have.

        All others were passed to `refuse` before. Raises `MapError` if a mapped column
        is missing.
        """
        components = columns.components()
        # The name of one component is the header; of several, rows have their own.
        more: dict[Path, Row] = {
            each: {COMPONENT_KEY: each[0]} if len(components) > 1 else {}
            for each in components
        }
        for component in columns.invalid:
            for rows in columns.rows_of(component, refused=True):
                for text in rows.refused(self._keys_of(rows), more[component]):
                    self.refuse(text)
        for component in components:
            has_header = component and not more[component]
            if has_header and adapter.read_header is not None:
                self.note_header(adapter.read_header({"component": component[0]}))
            if self.fields:
                check_columns_exist(self.fields, columns.names_of(component), self.path)
            for rows in columns.rows_of(component):
                yield rows.batch(self._keys_of(rows), more[component])

    def _keys_of(self, rows: ColumnRows) -> tuple[str, ...]:
        """Return the keys of rows of columns; raises `MapError` if two are equal."""
        return tuple(rename_columns(dict.fromkeys(rows.names), self.fields))

    def note_header(self, header: Header) -> None:
        """Add a header of the file, unless it is empty or known."""
        if header != Header() and header not in self.headers:
            self.headers.append(header)

    @property
    def is_open(self) -> bool:
        """Whether the format of the file is known."""
        return self._variant is not None

    @property
    def _has_header_in_rows(self) -> bool:
        """Whether the header of the file is in its rows, not around them."""
        variant, adapter = self._variant, self._adapter
        if variant is None or adapter is None or adapter.read_header is None:
            return False
        return variant.dialect.container is Container.ROWS

    def _receive_row(
        self,
        value: Row,
        number: int,
        text_of: Callable[[int], bytes],
        start_of: Callable[[int], Cursor],
        index: int,
    ) -> None:
        """Read a row as a record, and pass it to `receive`."""
        variant, adapter = self._variant, self._adapter
        assert variant is not None  # noqa: S101 - only rows of a known format are read
        assert adapter is not None  # noqa: S101 - it is set with the variant
        if self._has_header_in_rows and adapter.read_header:
            header = value.get("header")
            if isinstance(header, dict):  # else the key is the user's own
                self.note_header(adapter.read_header(header))
        if self._parts is not None:
            if self.keys is not None:  # which notes the keys that rows have
                self.keys.split(value, number, self.path)
            self._parts.add(value, number, start_of(index), text_of(index))
            return
        record = self._record_of(value, number)
        place = number, self._kept_of(value), variant.format.id_key
        self.receive(PlacedRecord(record, self.path, *place, text_of, start_of, index))

    def _record_of(self, value: Row, number: int) -> Record:
        """Return the record of a row, with the fields that mapped keys give."""
        assert self._read is not None  # noqa: S101 - it is set with the variant
        if self.keys is None:
            return self._read(value)
        own, given = self.keys.split(value, number, self.path)
        return self.keys.with_fields(self._read(own), given, value)

    def _kept_of(self, value: Row) -> Row:
        """Return what records keep of their rows: the whole row, or its id only.

        Rows may be large, and records may wait with them.
        """
        assert self._variant is not None  # noqa: S101 - only rows of a known format are read
        id_key = self._variant.format.id_key
        if self._variant.dialect.is_typed or not id_key:
            return value
        return {id_key: value[id_key]} if id_key in value else {}


def _runs(
    count: int, passed: frozenset[int], values: Sequence[Any]
) -> Iterator[tuple[int, int]]:
    """Yield begin and end of adjacent rows that are all decoded, or all not decoded.

    A row is decoded if it has a value; `values` are those of all rows, or none. The
    `passed` rows are in runs of their own.
    """

    def kind(row: int) -> bool | None:
        if row in passed:
            return None
        return bool(values) and values[row] is not None

    for _, rows in groupby(range(count), kind):
        first, *others = rows
        yield first, first + 1 + len(others)
