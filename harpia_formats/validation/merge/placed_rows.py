"""The rows of a file that is read once more, each with its number and its place."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import DocumentFrames
from harpia_formats.files.framing.numbered import NumberedRecord, numbered_records
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.unit.across_values import AcrossReader, Compared
from harpia_formats.validation.unit.row_validator import RowValidator

if TYPE_CHECKING:  # only for tables: start-up time
    from harpia_formats.files.parsing.csv_pieces import TablePiece, TableRow


class PlacedRow(Protocol):
    """A row with its number and its place in the file."""

    @property
    def number(self) -> int:
        """The number of its record, from 1."""

    @property
    def start(self) -> Cursor:
        """Where in the file it begins."""

    @property
    def value(self) -> Any:
        """The decoded row, None if it is not JSON."""

    def compared(self, reader: AcrossReader) -> Compared | None:
        """Return what a rule across rows compares of it."""

    def context(self, value: Any) -> RowContext:
        """Return what places problems in the row, which decoded is `value`."""


class _JsonRow(msgspec.Struct, frozen=True):
    name: str
    id_key: str
    record: NumberedRecord
    #: The row as the typed decoder reads it, and that decoder, if it accepts the row.
    typed: Any = None
    decoder: TypedDecoder | None = None

    @property
    def number(self) -> int:
        return self.record.number

    @property
    def start(self) -> Cursor:
        return self.record.start

    @property
    def value(self) -> Any:
        return self.record.value()

    def compared(self, reader: AcrossReader) -> Compared | None:
        if self.decoder is not None:
            found = reader.of_typed((self.typed,), self.decoder)
            if found is not None:
                return found[0] if found else None
        return reader.of_value(self.value)

    def context(self, value: Any) -> RowContext:
        text, number = self.record.text, self.number
        return RowContext(self.name, text, self.start, number, value, self.id_key)


class _TableRow(msgspec.Struct, frozen=True):
    name: str
    columns: tuple[str, ...]
    number: int
    row: "TableRow"

    @property
    def start(self) -> Cursor:
        return self.row.start

    @property
    def value(self) -> Any:
        if len(self.row.fields) != len(self.columns):
            return None
        texts = [cell.text for cell in self.row.fields]
        return dict(zip(self.columns, texts, strict=True))

    def compared(self, reader: AcrossReader) -> Compared | None:
        return reader.of_value(self.value)

    def context(self, value: Any) -> RowContext:
        row = self.row
        spans = {
            name: (cell.start, cell.end)
            for name, cell in zip(self.columns, row.fields, strict=True)
        }
        return RowContext(
            self.name, row.data, row.start, self.number, value, spans=spans
        )


def json_rows(
    frames: DocumentFrames, name: str, id_key: str, validator: RowValidator
) -> Iterator[PlacedRow]:
    """Yield the records in the `frames` of the file called `name`.

    They are typed where `validator` accepts many at once.
    """
    number = 0
    for frame in frames:
        if isinstance(frame, FramingFault):
            number += frame.record
        if not isinstance(frame, Chunk):
            continue
        typed = validator.accepted(frame)
        if typed is not None:
            for row, value in enumerate(typed):
                number += 1
                record = NumberedRecord(number, frame, row)
                yield _JsonRow(name, id_key, record, value, validator.decoder)
            continue
        for record in numbered_records((frame,), number):
            number = record.number
            yield _JsonRow(name, id_key, record)


def table_rows(pieces: "Iterable[TablePiece]", name: str) -> Iterator[PlacedRow]:
    """Yield the records in the pieces of the table called `name`."""
    from harpia_formats.files.parsing.csv_pieces import TableFault, TableRow  # noqa: PLC0415 - only for tables: start-up time

    columns: tuple[str, ...] = ()
    number = 0
    for piece in pieces:
        if isinstance(piece, TableFault):
            if piece.record and not columns:
                return
            number += piece.record
        elif isinstance(piece, TableRow):
            if not columns:
                columns = tuple(cell.text for cell in piece.fields)
                continue
            number += 1
            yield _TableRow(name, columns, number, piece)
