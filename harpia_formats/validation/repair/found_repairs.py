"""Find the repairs of rows while their file is validated, and keep them."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from heapq import merge
from itertools import chain
from operator import itemgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor, with_nulls
from harpia_formats.files.framing.columns import DocumentHeader, RowArray
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.spill import FramedRecords
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.model.format import Container, Format, Repair
from harpia_formats.validation.diagnosis.root_causes import Finding
from harpia_formats.validation.plan.units import TableRecords
from harpia_formats.validation.repair.proposals import Proposals, RepairSettings
from harpia_formats.validation.repair.row_repairs import (
    PlacedChange,
    PlacedRepair,
    RepairedRow,
    RowRepairer,
    RowsRepairer,
    with_constants,
)
from harpia_formats.validation.repair.text_edits import Edit
from harpia_formats.validation.unit.rows import ValidatedRows
from harpia_formats.validation.unit.validators import FileValidators

if TYPE_CHECKING:  # only for tables
    from harpia_formats.validation.unit.table import TableRecord


#: Bytes of repairs that are held in memory before they go to the disk.
HELD = 8 * 1024 * 1024

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PlacedRepair).decode


class RepairStore:
    """The repairs of one file in order of their place, for `with`."""

    def __init__(self, name: str) -> None:
        """Take the name of the file, for errors."""
        self._name = name
        self._repairs = FramedRecords("", 1, HELD)
        #: Repairs at places before those of others: of a document around its records.
        self._late: list[PlacedRepair] = []
        self._end = 0
        #: How many changes there are.
        self.changes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._repairs.close()

    def add(self, repair: PlacedRepair) -> None:
        """Add a repair; raises `SinkError` if there is no room on the disk for it."""
        self.changes += len(repair.changes)
        if repair.edits[0].start < self._end:
            self._late.append(repair)
            return
        self._end = repair.edits[-1].end
        try:
            self._repairs.append((), (_encode(repair),))
        except OSError as error:
            reason = f"its changes cannot be kept on the disk: {error_reason(error)}"
            raise SinkError(self._name, reason) from error

    def edits(self) -> Iterator[Edit]:
        """Yield all edits in order of their place."""
        late = sorted(edit for repair in self._late for edit in repair.edits)
        yield from merge((edit for one in self._stored() for edit in one.edits), late)

    def placed_changes(self) -> Iterator[PlacedChange]:
        """Yield all changes, those of the file and its document first."""
        for repair in chain(reversed(self._late), self._stored()):
            yield from repair.changes

    def _stored(self) -> Iterator[PlacedRepair]:
        """Yield the repairs of the rows."""
        for _, _, (data,) in self._repairs.records():
            yield _decode(data)


#: Given a decoded document: the repairs by which it follows those of other files.
Follow = Callable[[Any], Iterator[Repair]]


class RepairConsumer:
    """Finds the repairs of the rows of one file, and stores them."""

    reads_records = False

    def __init__(
        self,
        settings: RepairSettings,
        store: RepairStore,
        follow_of: Callable[[str], Follow | None] = lambda _: None,
    ) -> None:
        """Take which repairs are wanted, and where they go.

        `follow_of` returns what yields the repairs by which a document of the format
        with an id follows those of other files.
        """
        self.settings = settings
        self._follow_of = follow_of
        #: The format of the file, None if it is not known.
        self.format: Format | None = None
        self.store = store
        self._proposals = Proposals(settings, None)
        self._follow: Follow | None = None
        self._header: DocumentHeader | None = None

    def open(self, variant: FormatVariant | None) -> None:
        """Take the format of the file, before its first row."""
        if variant is not None:
            self.format = variant.format
            self._proposals = Proposals(self.settings, variant.format)
            self._follow = self._follow_of(variant.format.id)
            # Of other files it is the document around the records that follows.
            if variant.dialect.container is Container.DOCUMENT:
                self._proposals.follow = self._follow

    def column(self, column: RowArray) -> None:
        """Begin with the items of a column, or with the rows inside of a document."""

    def header(self, header: DocumentHeader) -> None:
        """Take the document around the records."""
        self._header = header

    def rows(self, rows: ValidatedRows) -> None:
        """Store the repairs of rows that were validated."""
        repairer = RowsRepairer(self._proposals, rows.part)
        for repair in repairer.repairs(rows.chunk, rows.verdict, rows.numbers):
            self.store.add(repair)

    def lost(self, number: int) -> None:
        """Take the number of a record, or item of a column, that cannot be read."""

    def refuse(self, text: bytes | None, /) -> None:
        """Take a row that is not read."""

    def table_record(self, record: "TableRecord") -> None:
        """Take a record of a table, of which nothing is repaired."""

    def table_records(self, unit: TableRecords) -> None:
        """Take records of a table, of which nothing is repaired."""

    def finish(self, validators: FileValidators) -> None:
        """Store the repairs of the document around the records, if there is one."""
        header = self._header
        if header is None:
            return
        validator = validators.header_validator()

        def findings_of(text: bytes) -> list[Finding]:
            return validator.validate(Chunk(text, Cursor(), [text])).findings

        own = self._proposals.without_format()
        own.follow = self._follow
        row = RowRepairer(own, validators.schema, findings_of)
        reads_nan = validators.plan.reads_nan
        text = with_nulls(header.text) if reads_nan else header.text
        repaired = row.repaired(text, findings_of(text))
        if repaired is not None and text != header.text:
            repaired = with_constants(header.text, repaired)
        if repaired is not None:
            found = _placed(header, repaired)
            if found is not None:
                self.store.add(found)


def _placed(header: DocumentHeader, repaired: RepairedRow) -> PlacedRepair | None:
    """Return the repair of a document by places in the file.

    None if it would change bytes on both sides of records.
    """
    edits = []
    for edit in repaired.edits:
        piece = _piece_at(header, edit.start)
        if piece != _piece_at(header, max(edit.start, edit.end - 1)):
            return None
        begin, start = header.pieces[piece]
        moved = start.offset - begin
        edits.append(Edit(edit.start + moved, edit.end + moved, edit.data))
    changes = []
    for change in repaired.changes:
        begin, start = header.pieces[_piece_at(header, change.at)]
        here = start.after(header.text[begin : change.at])
        place = (here.line, here.column + 1, 0, change.pointer)
        changes.append(
            PlacedChange(change.code, *place, change.what, change.loses_text)
        )
    return PlacedRepair(tuple(edits), tuple(changes))


def _piece_at(header: DocumentHeader, at: int) -> int:
    """Return the number of the piece of a document that holds the byte `at`."""
    return max(0, bisect_right(header.pieces, at, key=itemgetter(0)) - 1)
