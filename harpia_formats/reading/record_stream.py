"""Take the records of a file while it is inspected, in order, with their places."""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from msgspec import MsgspecError

from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.framing.columns import DocumentHeader as Around
from harpia_formats.mapping.columns import check_columns_exist, rename_columns
from harpia_formats.mapping.extras import restore_extras, split_extras
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.format import Container
from harpia_formats.model.problem import Path
from harpia_formats.model.record import Header, Record
from harpia_formats.parsing.csv_records import TableRow
from harpia_formats.registry import adapter_of
from harpia_formats.validation.diagnosis.row_context import Row as Placed
from harpia_formats.validation.file.outcomes import Marks, Numbers
from harpia_formats.validation.file.row_validator import Judge

#: Bytes that a temporary file holds in memory.
HELD = 1024 * 1024
#: What a row has that holds a header.
HEADED = b'"header"'
_head = struct.Struct("<QQQI")

#: Takes the rows of a chunk as a decoder decoded them; tells whether it did.
TakeAccepted = Callable[[Chunk, Numbers, Sequence[Any], Judge], bool]


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """One record with its row, and where that is."""

    record: Record
    row: Placed


#: Takes a record that was read.
Receive = Callable[[PlacedRecord], None]


@dataclass(slots=True)
class RecordStream:
    """Reads the valid rows of one file as records, and hands them on."""

    path: str
    receive: Receive
    #: Called with the bytes of each row that is not valid.
    refuse: Callable[[bytes], None]
    #: Called once the format is known; it may refuse to go on.
    begin: Callable[[FormatVariant], None]
    #: Called with rows that a decoder accepted all; it may leave them to `receive`.
    bulk: "TakeAccepted | None" = None
    #: The name of the field in each column of a table, where they are mapped.
    fields: dict[str, str] = field(default_factory=dict)
    #: Whether whoever iterates wants to go on after some rows.
    pauses: bool = False
    #: What was around the records, or in the first of them.
    headers: list[Header] = field(default_factory=list)
    _adapter: FormatAdapter | None = None
    _variant: FormatVariant | None = None
    _columns: "_Columns | None" = None

    def open(self, variant: FormatVariant | None) -> None:
        """Get ready for the rows of `variant`, unless that was done before."""
        if variant is None or self._variant is not None:
            return
        self.begin(variant)
        self._variant = variant
        self._adapter = adapter_of(variant.format)
        if variant.dialect.container is Container.COLUMNS:
            self._columns = _Columns()

    def member(self, path: Path) -> None:
        """Begin with the items of another column."""
        if self._columns is not None:
            self._columns.begin(path)

    def rows(
        self,
        chunk: Chunk,
        numbers: Numbers,
        passed: set[int],
        values: Sequence[Any],
        judge: Judge,
    ) -> None:
        """Take the rows of a chunk but for those that are `passed` over.

        `values` are the rows as the decoder of `judge` accepted them, as far as it did.
        """
        if self._columns is not None:
            self._columns.take(chunk, numbers, passed)
            return
        if self._adapter is None:
            return
        for begin, end in _stretches(len(chunk), passed, values):
            part = values[begin:end]
            if part and part[0] is not None and chunk.lines:
                before = Numbers(numbers.of(begin) - 1, [])
                if self.accepted(chunk.between(begin, end), before, part, judge):
                    continue
            for number in range(begin, end):
                text = chunk.rows[number]
                start = chunk.start_of(number)
                self._hand_on(decode(text), text, start, numbers.of(number))

    def accepted(
        self, chunk: Chunk, numbers: Numbers, values: Sequence[Any], judge: Judge
    ) -> bool:
        """Hand on rows that the decoder accepted; tell whether anybody took them."""
        if self.bulk is None or self._columns is not None:
            return False
        if self._has_headed_rows and HEADED in chunk.data:
            return False
        return self.bulk(chunk, numbers, values, judge)

    def refused(self, chunk: Chunk, rows: set[int]) -> None:
        """Hand on the bytes of rows that are not valid."""
        for each in sorted(rows):
            self.refuse(chunk.rows[each])

    def cells(self, value: dict[str, str], row: TableRow, number: int) -> None:
        """Take a row of a table."""
        if self._adapter is None:
            return
        if self._adapter.blank_is_absent:
            blank = {
                name
                for name, each in zip(value, row.fields, strict=True)
                if each.start == each.end
            }
            value = {name: text for name, text in value.items() if name not in blank}
        if self.fields:
            value = rename_columns(value, self.fields)
        self._hand_on(value, row.data, row.start, number)

    def around(self, header: Around) -> None:
        """Take what is around the records."""
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
        """Hand on what could not be before the end, a record at each step."""
        columns, adapter = self._columns, self._adapter
        if columns is None or adapter is None:
            return
        try:
            yield from self._rows_of(columns, adapter)
        finally:
            columns.drop()

    def _rows_of(self, columns: "_Columns", adapter: FormatAdapter) -> Iterator[None]:
        """Hand on the rows of columns, one at each step; raises `MapError`."""
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
        assert adapter is not None  # noqa: S101 - likewise
        if self._has_headed_rows and adapter.read_header and "header" in value:
            self._note_header(adapter.read_header(value["header"]))
        record = read_record(value, adapter, variant)
        id_key = variant.format.id_key
        placed = Placed(self.path, text, start, number, value, id_key)
        self.receive(PlacedRecord(record, placed))


def _stretches(
    count: int, passed: set[int], values: Sequence[Any]
) -> Iterator[tuple[int, int]]:
    """Yield where rows begin and end that follow each other and are all known, or none.

    Known are those of which there is a value.
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
    dialect_normalizers = adapter.dialect_normalizers.get(variant.dialect.name)
    if dialect_normalizers is not None:
        value = dialect_normalizers(value)
    bare, kept = split_extras(value, adapter)
    record = adapter.read(bare)
    return restore_extras(record, kept) if kept else record


@dataclass(slots=True)
class _Columns:
    """The items of all columns, kept in files until all are there."""

    files: dict[Path, IO[bytes]] = field(default_factory=dict)
    #: Records of which an item is not valid.
    wrong: Marks = field(default_factory=Marks)
    _present: IO[bytes] | None = None

    def begin(self, path: Path) -> None:
        """Go on with the column at `path`."""
        self._present = self.files[path] = SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed by `rows_of`

    def take(self, chunk: Chunk, numbers: Numbers, passed: set[int]) -> None:
        """Keep the items of a chunk."""
        file = self._present
        if file is None:
            return
        for row, text in enumerate(chunk.rows):
            if row in passed:
                self.wrong.add(numbers.of(row))
            start = chunk.start_of(row)
            place = _head.pack(start.offset, start.line, start.column, len(text))
            file.write(place + text)

    def drop(self) -> None:
        """Let go of the items of all columns."""
        for each in self.files.values():
            each.close()

    def components(self) -> list[Path]:
        """Return the paths of the objects that hold columns, in order."""
        return list(dict.fromkeys(path[:-1] for path in self.files))

    def names_of(self, component: Path) -> list[str]:
        """Return the names of the columns of a component."""
        return [str(path[-1]) for path in self.files if path[:-1] == component]

    def rows_of(self, component: Path) -> Iterator[tuple[int, Cursor, Row]]:
        """Yield number, place and items of each record of a component."""
        files = {
            path[-1]: each
            for path, each in self.files.items()
            if path[:-1] == component
        }
        for each in files.values():
            each.seek(0)
        number = 0
        while True:
            number += 1
            value: dict[str, Any] = {}
            place: Cursor | None = None
            for name, file in files.items():
                found = _item(file)
                if found is not None:
                    place = place or found[0]
                    value[str(name)] = found[1]
            if place is None:
                break
            if number not in self.wrong:
                yield (
                    number,
                    place,
                    {name: decode(each) for name, each in value.items()},
                )
        for each in files.values():
            each.close()


def _item(file: IO[bytes]) -> tuple[Cursor, bytes] | None:
    head = file.read(_head.size)
    if not head:
        return None
    offset, line, column, size = _head.unpack(head)
    return Cursor(offset, line, column), file.read(size)
