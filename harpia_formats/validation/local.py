"""Validate the units of a planned file in this process, one after the other."""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Protocol

import msgspec

from harpia_formats.files.framing.columns import DocumentHeader, RowArray
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.validation.merge.file_merge import FileMerge, Frame
from harpia_formats.validation.merge.repeated_ids import RepeatedIds
from harpia_formats.validation.plan.units import (
    Broken,
    CutRows,
    DocumentRest,
    TableRecords,
    TableRows,
)
from harpia_formats.validation.unit.broken import report_broken
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.result import Findings, UnitResult
from harpia_formats.validation.unit.rows import ValidatedRows, validate_rows
from harpia_formats.validation.unit.validators import FileValidators

if TYPE_CHECKING:  # only for tables and lints: start-up time
    from array import array

    from harpia_formats.validation.merge.across_rows import AcrossDigests
    from harpia_formats.validation.unit.table import TableRecord


class RowConsumer(Protocol):
    """Takes the rows of a file while it is validated: reads them as records."""

    def open(self, variant: FormatVariant | None) -> None:
        """Take the format of the file, before its first row."""

    def column(self, column: RowArray) -> None:
        """Begin with the items of a column, or with the rows inside of a document."""

    def header(self, header: DocumentHeader) -> None:
        """Take the document around the records."""

    def rows(self, rows: ValidatedRows) -> None:
        """Take rows that were validated."""

    def lost(self, number: int) -> None:
        """Take the number of a record, or item of a column, that cannot be read."""

    def refuse(self, text: bytes, /) -> None:
        """Take a row that could not be validated."""

    def table_record(self, record: "TableRecord") -> None:
        """Take a record of a table that was validated."""

    def table_records(self, unit: TableRecords) -> None:
        """Take records of a table that are all valid."""


class LocalValidation(msgspec.Struct, frozen=True):
    """Validates the units of one file in this process, one after the other."""

    validators: FileValidators
    merge: FileMerge
    #: Takes the problems of each unit.
    collector: Collector
    #: Takes the rows, if they are not only validated.
    consumer: RowConsumer | None = None
    #: Takes the ids of records, if repeated ones are looked for.
    repeated_ids: RepeatedIds | None = None
    #: Takes what rules across rows compare, if there are such rules.
    across: "AcrossDigests | None" = None
    #: What the file begins with.
    sample: Sample | None = None

    def frames(self, frames: Iterator[Frame]) -> Generator[Findings, None, None]:
        """Validate what a file was cut into, and hand it on.

        Yields the problems of each frame after its result was added.
        """
        merge = self.merge
        for frame in frames:
            merge.stopped |= merge.has_enough()
            if merge.stopped:
                return
            if isinstance(frame, RowArray):
                self._begin_column(frame)
                yield Findings()
                continue
            unit = merge.unit_of(frame)
            if isinstance(unit, CutRows):
                rows = validate_rows(unit, self.validators, self.collector)
                self._add(rows)
                if self.consumer is not None:
                    self.consumer.rows(rows)
            elif isinstance(unit, TableRows):
                yield from self._table(unit)
                continue
            elif isinstance(unit, TableRecords):
                yield from self._table_records(unit)
                continue
            elif isinstance(unit, DocumentRest):
                self._document(unit)
            else:
                self._broken(unit)
            yield self.collector.take()

    def _add(self, rows: ValidatedRows) -> None:
        """Add the result of rows."""
        self.merge.add(rows.result, rows.chunk)
        if self.repeated_ids is not None:
            self.repeated_ids.add_digests(rows.result.digests)
        if self.across is not None:
            self.across.add(rows.result.across)

    def _begin_column(self, column: RowArray) -> None:
        if self.consumer is not None:
            self.consumer.column(column)
        if self.merge.plan.has_columns:
            self.merge.begin_column(column.path)

    def _table(self, unit: TableRows) -> Iterator[Findings]:
        """Validate records of a table, and hand them on; yield their problems."""
        from harpia_formats.validation.unit.table import validate_table  # noqa: PLC0415 - only for tables: start-up time

        merge, consumer = self.merge, self.consumer
        has_consumer = consumer is not None
        is_done = False
        while unit.pieces and not is_done:
            rows = validate_table(
                unit, self.validators, self.collector, has_consumer=has_consumer
            )
            if consumer is not None:
                for record in rows.records:
                    # The consumer may raise an error, after which no more are counted.
                    merge.count.records = record.number
                    consumer.table_record(record)
            merge.columns, merge.is_usable = rows.columns, rows.is_usable
            merge.add(rows.result)
            if self.across is not None:
                self.across.add(rows.result.across)
            yield self.collector.take()
            is_done = rows.stopped
            unit = TableRows(
                rows.columns, unit.pieces[rows.pieces :], merge.records, rows.is_usable
            )

    def _table_records(self, unit: TableRecords) -> Iterator[Findings]:
        """Validate whole records of a table at once, or else one by one."""
        merge, count = self.merge, unit.block.count
        # In a part of a table, the first record may have another number of fields.
        is_even = unit.is_usable and unit.block.width == len(unit.columns)
        across: tuple[array[int], ...] | None = None
        if is_even and self.validators.accept_any_texts(unit.columns):
            across = self._lint_table_records(unit)
        if across is None:
            from harpia_formats.files.parsing.csv_records import rows_of_block  # noqa: PLC0415 - only for tables: start-up time

            rows = tuple(rows_of_block(unit.block))
            yield from self._table(
                TableRows(unit.columns, rows, unit.before, unit.is_usable)
            )
            return
        if self.consumer is not None:
            merge.count.records = unit.before + count
            self.consumer.table_records(unit)
        merge.add(UnitResult(records=count))
        if self.across is not None:
            self.across.add(across)
        yield self.collector.take()

    def _lint_table_records(
        self, unit: TableRecords
    ) -> "tuple[array[int], ...] | None":
        """Return what rules across rows compare of records, None if lints find some."""
        linter = self.validators.linter()
        if linter is None:
            return ()
        from harpia_formats.validation.unit.table_linter import lint_block  # noqa: PLC0415 - only if rules are selected that are not checked by default

        return lint_block(linter, unit.block, unit.columns)

    def _document(self, unit: DocumentRest) -> None:
        from harpia_formats.validation.unit.document import validate_document  # noqa: PLC0415 - only for documents around records: start-up time

        if self.consumer is not None:
            self.consumer.header(unit.header)
        self.merge.add(validate_document(unit, self.validators, self.collector))

    def _broken(self, unit: Broken) -> None:
        limit = self.validators.options.max_row_bytes
        self.merge.add(report_broken(unit, self.collector, limit))
        if unit.fault.record and self.consumer is not None:
            self.consumer.lost(unit.before + 1)
