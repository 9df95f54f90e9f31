"""Validate the rows of a file in this process, and then the file as a whole."""

from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Protocol

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor, rows_with_nulls
from harpia_formats.files.framing.columns import (
    DocumentFrames,
    DocumentHeader,
    RowArray,
)
from harpia_formats.files.framing.container import open_container
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.inputs import RereadableSource
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.sample import Sample, delimiter_of
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    ReadBlocks,
    reread_frames,
)
from harpia_formats.formats.rules.sample_rules import REPEATED_ID
from harpia_formats.model.problem import Severity
from harpia_formats.validation.dedup.identity import IdentityReader
from harpia_formats.validation.merge.file_merge import FileMerge, Frame
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import (
    Broken,
    CutRows,
    DocumentRest,
    TableRecords,
    TableRows,
)
from harpia_formats.validation.unit.collector import Collector, report_broken
from harpia_formats.validation.unit.findings import Findings, UnitResult
from harpia_formats.validation.unit.rows import ValidatedRows, validate_rows
from harpia_formats.validation.unit.validators import FileValidators

if TYPE_CHECKING:  # imported only if repeated ids are looked for: start-up time
    from harpia_formats.files.parsing.csv_blocks import TableBlock, TablePiece
    from harpia_formats.validation.dedup.repeated_digests import (
        DuplicateId,
        DuplicateIdFinder,
    )
    from harpia_formats.validation.diagnosis.root_causes import Finding
    from harpia_formats.validation.merge.across_rows import AcrossDigests, PlacedRow
    from harpia_formats.validation.plan.table_units import TableBatch
    from harpia_formats.validation.unit.table import TableRecord


class RepeatedIds(msgspec.Struct, frozen=True):
    """The digests of the ids of a file's records, and which ids are repeated."""

    ids: "DuplicateIdFinder"

    def add_digests(self, digests: "array[int]") -> None:
        """Add digests of ids. Raises `SourceError` if they cannot be stored."""
        if digests:
            self.ids.add_digests(digests)

    def close(self) -> None:
        """Delete what was stored."""
        self.ids.close()

    def report(
        self, merge: FileMerge, collector: Collector, id_key: str
    ) -> Iterator[None]:
        """Report the records with repeated ids to `collector`; yield after each one."""
        outcomes = merge.outcomes
        is_error = collector.is_error(REPEATED_ID)
        for repeat in self.ids.repeats(merge.records, outcomes.are_valid):
            if is_error:
                outcomes.add_invalid(repeat.record.number)
            if not collector.count_only(REPEATED_ID, (id_key,)):
                _collect(repeat, collector, id_key)
            yield


def _collect(repeat: "DuplicateId", collector: Collector, id_key: str) -> None:
    """Add the finding on a record with a repeated id to the collector."""
    from harpia_formats.validation.dedup.repeated_digests import duplicate_id_remark  # noqa: PLC0415 - only for repeated ids
    from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - only for repeated ids
    from harpia_formats.validation.diagnosis.row_context import RowContext  # noqa: PLC0415 - only for repeated ids

    record = repeat.record

    def row_of(finding: "Finding") -> RowContext:
        return RowContext(
            path=collector.name,
            text=record.text,
            start=record.start,
            number=record.number,
            value=finding.value,
            id_key=id_key,
        )

    remark = duplicate_id_remark(repeat, id_key, collector.record_text)
    finding = Finding(REPEATED_ID, record.row, remark, repeat.value)
    collector.add_findings([finding], row_of, schema=True)


class StopReading(Exception):  # noqa: N818 - not an error
    """A consumer of rows wants none behind one of them."""

    #: The number of its record, None if it is not known.
    record: int | None = None


class RowConsumer(Protocol):
    """Takes the rows of a file while it is validated: reads or repairs them."""

    @property
    def reads_records(self) -> bool:
        """Whether rows become records, so that it must be known what they hold."""

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

    def refuse(self, text: bytes | None, /) -> None:
        """Take a row that is not read; None for one that is longer than allowed."""

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
                try:
                    if self.consumer is not None:
                        self.consumer.rows(rows)
                except StopReading as stop:
                    yield self._up_to(stop.record, unit, rows)
                    raise
                self._add(rows)
            elif isinstance(unit, TableRows):
                yield from self._table(unit)
                continue
            elif isinstance(unit, TableRecords):
                yield from self._table_records(unit)
                continue
            elif isinstance(unit, DocumentRest):
                self._document(unit)
                yield self.collector.take()
                continue
            else:
                self._broken(unit)
            yield self._found()

    def _up_to(
        self, record: int | None, unit: CutRows, rows: ValidatedRows
    ) -> Findings:
        """Add the rows of a unit up to a record in it; return their problems.

        All of it was validated before as `rows`, whose problems are forgotten.
        """
        self.collector.take()
        numbers = map(rows.numbers.of, range(len(rows.chunk)))
        same = [row for row, number in enumerate(numbers) if number == record]
        if same:
            # Blank lines before the row have its number, too.
            some = msgspec.structs.replace(
                unit, chunk=unit.chunk.between(0, same[-1] + 1)
            )
            self._add(validate_rows(some, self.validators, self.collector))
        return self._found()

    def _found(self) -> Findings:
        """Return the problems of rows; note where the first error ends the run."""
        found = self.collector.take()
        if found.errors and self.merge.plan.run.options.fail_fast:
            problems = (problem for row in found.described for _, problem in row)
            errors = (one for one in problems if one.severity is Severity.ERROR)
            ends = (one.place.byte_offset for one in errors)
            self.merge.end = min(ends, default=None)
        return found

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
                for text in rows.faulty:
                    consumer.refuse(text)
            merge.columns, merge.is_usable = rows.columns, rows.is_usable
            merge.add(rows.result, rows.last)
            if self.across is not None:
                self.across.add(rows.result.across)
            yield self._found()
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
        merge.add(UnitResult(records=count), unit.block)
        if self.across is not None:
            self.across.add(across)
        yield self._found()

    def _lint_table_records(
        self, unit: TableRecords
    ) -> "tuple[array[int], ...] | None":
        """Return what rules across rows compare of records, None if lints find some."""
        linter = self.validators.linter()
        if linter is None:
            return ()
        from harpia_formats.validation.unit.row_linter import lint_block  # noqa: PLC0415 - only if rules are selected that are not checked by default

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


#: How many problems are reported together.
REPORTED = 64


def table_frames(
    buffer: ByteBuffer,
    start: Cursor,
    plan: FilePlan,
    blocks: ReadBlocks | None = None,
    belongs: "Callable[[TablePiece | TableBlock], bool] | None" = None,
) -> "Iterator[TableBatch | TableBlock]":
    """Yield the records of a table from `start` on, some at once.

    They end before one that is incomplete since reading `blocks` broke off, and before
    the first piece for which `belongs` is false; with that, none is a block.
    """
    from harpia_formats.files.parsing.csv_records import table_pieces, table_rows  # noqa: PLC0415 - only for tables: start-up time
    from harpia_formats.validation.plan.table_units import table_batches  # noqa: PLC0415 - only for tables: start-up time

    options = plan.run.options
    delimiter = delimiter_of(options.delimiter, plan.name)
    limit, is_safe = options.max_row_bytes, options.from_csv_safe
    cut = table_pieces if belongs is None else table_rows
    pieces: Iterable[TablePiece | TableBlock]
    pieces = cut(buffer, start, limit, delimiter, csv_safe=is_safe)
    if blocks is not None:
        pieces = _complete(pieces, blocks)
    return table_batches(pieces if belongs is None else takewhile(belongs, pieces))


def _complete(
    pieces: "Iterable[TablePiece | TableBlock]", blocks: ReadBlocks
) -> "Iterator[TablePiece | TableBlock]":
    """Yield `pieces` up to one that is incomplete since reading broke off."""
    for piece in pieces:
        if blocks.error is not None and _is_cut_off(piece, blocks.end):
            return
        yield piece


def _is_cut_off(piece: "TablePiece | TableBlock", end: int) -> bool:
    """Return whether a piece of a table goes on up to `end`, without a line end."""
    from harpia_formats.files.parsing.csv_blocks import TableFault, TableRow  # noqa: PLC0415 - only for tables: start-up time

    if isinstance(piece, TableFault):
        return piece.is_open or piece.passed.stop == end
    return isinstance(piece, TableRow) and piece.start.offset + len(piece.data) == end


def rereading(plan: FilePlan, again: RereadableSource) -> Callable[[], DocumentFrames]:
    """Return a function that reads and cuts a file once more."""

    def frames() -> DocumentFrames:
        limit = plan.run.options.max_row_bytes
        reads_nan = plan.reads_nan
        for frame in reread_frames(again.blocks, plan.cut, plan.variant, limit):
            if reads_nan and isinstance(frame, Chunk):
                yield rows_with_nulls(frame)
            else:
                yield frame

    return frames


def repeated_ids(
    plan: FilePlan, again: RereadableSource, identity: IdentityReader | None
) -> RepeatedIds | None:
    """Return what finds repeated ids as `identity` reads them, None without it."""
    if identity is None:
        return None
    from harpia_formats.validation.dedup.repeated_digests import DuplicateIdFinder  # noqa: PLC0415 - only if repeated ids are looked for

    return RepeatedIds(DuplicateIdFinder(identity, rereading(plan, again)))


def second_pass(local: LocalValidation, again: RereadableSource) -> Iterator[Findings]:
    """Yield the problems that only all records of a file show.

    Those that its companion may decide are left in `FileMerge.pending`.
    """
    merge, collector = local.merge, local.collector
    if local.repeated_ids is not None:
        id_key = local.validators.id_key
        repeats = local.repeated_ids.report(merge, collector, id_key)
        yield from _some_at_once(local, repeats)
    if local.across is not None:
        rows_again = partial(_placed_rows, local, again)
        others = local.across.report(merge, collector, rows_again)
        yield from _some_at_once(local, others)
    linter = local.validators.linter() if merge.held or merge.counts else None
    if linter is None or (local.validators.options.fail_fast and merge.count.errors):
        return
    from harpia_formats.validation.merge.whole_file import (  # noqa: PLC0415 - only for files with such remarks or counts
        file_remarks,
        placed_findings,
        report_held,
    )

    def rows() -> "Iterator[PlacedRow]":
        return chain.from_iterable(_placed_rows(local, again))

    yield from _some_at_once(local, report_held(linter, merge, collector, rows))
    remarks = file_remarks([reader.lint for reader in linter.files], merge.counts)
    if remarks:
        placed = ((row.context(row.value), row.value) for row in rows())
        merge.pending = placed_findings(remarks, placed, collector)


def _some_at_once(
    local: LocalValidation, reported: Iterator[None]
) -> Iterator[Findings]:
    """Yield the problems that each step of `reported` adds to the collector.

    With `fail_fast`, no step is made behind the first error.
    """
    merge, collector = local.merge, local.collector
    fails_fast = local.validators.options.fail_fast
    if fails_fast and merge.count.errors:
        return
    for number, _ in enumerate(reported, 1):
        if number % REPORTED == 0 or fails_fast:
            yield collector.take()
        if fails_fast and merge.count.errors:
            merge.stopped = True
            break
    yield collector.take()


def across_digests_of(validators: FileValidators) -> "AcrossDigests | None":
    """Return what collects what rules across rows compare, None without such rules."""
    linter = validators.linter()
    if linter is None or not (linter.across or linter.files or linter.decisions):
        return None
    from harpia_formats.validation.merge.across_rows import across_digests  # noqa: PLC0415 - only if rules are selected that are not checked by default

    rules = tuple(reader.rule for reader in linter.across)
    return across_digests(rules, linter.same)


def _placed_rows(
    local: LocalValidation, again: RereadableSource
) -> "Iterator[Sequence[PlacedRow]]":
    """Yield the rows of a file once more, by chunk, with their places."""
    from harpia_formats.validation.merge.across_rows import json_rows, table_rows  # noqa: PLC0415 - only if rules are selected that are not checked by default

    plan = local.merge.plan
    if plan.cut is not Framing.TABLE:
        validators = local.validators
        return json_rows(
            rereading(plan, again)(),
            plan.name,
            validators.id_key,
            validators.part().validator,
        )
    from harpia_formats.files.parsing.csv_records import rows_of_block  # noqa: PLC0415 - only for tables: start-up time

    opened = open_container(again.blocks())
    frames = table_frames(opened.buffer, opened.start, plan)
    pieces = (
        piece
        for frame in frames
        for piece in (frame if isinstance(frame, tuple) else rows_of_block(frame))
    )
    return table_rows(pieces, plan.name)
