"""Read a file once more, to find what only all of its records show."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.framing.columns import DocumentFrames
from harpia_formats.files.framing.container import open_container
from harpia_formats.files.framing.null_rows import rows_with_nulls
from harpia_formats.files.io.reread import RereadableSource
from harpia_formats.formats.detection.file_name import delimiter_of
from harpia_formats.formats.detection.sampled_file import Framing, reread_frames
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.repeated_ids import RepeatedIds
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.unit.result import Findings
from harpia_formats.validation.unit.validators import FileValidators

if TYPE_CHECKING:  # imported only for tables and for lints
    from harpia_formats.files.parsing.csv_blocks import TableBlock
    from harpia_formats.files.parsing.csv_pieces import TablePiece
    from harpia_formats.validation.merge.across_rows import AcrossDigests
    from harpia_formats.validation.merge.placed_rows import PlacedRow
    from harpia_formats.validation.plan.table_units import TableBatch

#: How many problems are reported together.
REPORTED = 64


def table_frames(
    buffer: ByteBuffer,
    start: Cursor,
    plan: FilePlan,
    belongs: "Callable[[TablePiece], bool] | None" = None,
) -> "Iterator[TableBatch | TableBlock]":
    """Yield the records of a table from `start` on, some at once.

    They end before the first piece for which `belongs` is false; then none is a block.
    """
    from harpia_formats.files.parsing.csv_records import table_pieces, table_rows  # noqa: PLC0415 - only for tables: start-up time
    from harpia_formats.validation.plan.table_units import table_batches  # noqa: PLC0415 - only for tables: start-up time

    options = plan.run.options
    delimiter = delimiter_of(options.delimiter, plan.name)
    limit, is_safe = options.max_row_bytes, options.from_csv_safe
    if belongs is None:
        return table_batches(
            table_pieces(buffer, start, limit, delimiter, csv_safe=is_safe)
        )
    rows = table_rows(buffer, start, limit, delimiter, csv_safe=is_safe)
    wanted = takewhile(belongs, rows)
    return table_batches(wanted)


def rereading(plan: FilePlan, again: RereadableSource) -> Callable[[], DocumentFrames]:
    """Return a function that reads and cuts a file once more."""
    limit = plan.run.options.max_row_bytes
    frames = partial(reread_frames, again.blocks, plan.cut, plan.variant, limit)
    if not plan.reads_nan:
        return frames

    def frames_with_nulls() -> DocumentFrames:
        for frame in frames():
            yield rows_with_nulls(frame) if isinstance(frame, Chunk) else frame

    return frames_with_nulls


def repeated_ids(plan: FilePlan, again: RereadableSource) -> RepeatedIds | None:
    """Return what finds repeated ids, None if they are not looked for."""
    if not plan.checks_ids:
        return None
    from harpia_formats.validation.dedup.duplicate_ids import duplicate_id_finder  # noqa: PLC0415 - only if repeated ids are looked for

    ids = duplicate_id_finder(plan.variant, rereading(plan, again))
    return None if ids is None else RepeatedIds(ids)


def second_pass(local: LocalValidation, again: RereadableSource) -> Iterator[Findings]:
    """Yield the problems that only all records of a file show.

    Those that its companion may decide are left in `FileMerge.pending`.
    """
    if local.repeated_ids is not None:
        yield from _with_repeated_ids(local, local.repeated_ids)
    if local.across is not None:
        yield from _with_disagreements(local, local.across, again)
    merge = local.merge
    linter = local.validators.linter() if merge.held or merge.counts else None
    if linter is None or (local.validators.options.fail_fast and merge.stopped):
        return
    from harpia_formats.validation.merge.whole_file import (  # noqa: PLC0415 - only for files with such remarks or counts
        file_remarks,
        held_findings,
        placed_findings,
    )

    rows = partial(_placed_rows, local, again)
    yield from held_findings(linter, merge, local.collector, rows)
    remarks = file_remarks([reader.lint for reader in linter.files], merge.counts)
    if remarks:
        placed = ((row.context(row.value), row.value) for row in rows())
        merge.pending = placed_findings(remarks, placed, local.collector)


def _with_repeated_ids(local: LocalValidation, ids: RepeatedIds) -> Iterator[Findings]:
    """Yield the problems of records whose id an earlier one has, some at once."""
    merge, options = local.merge, local.validators.options
    if options.fail_fast and merge.stopped:
        return
    collector = local.collector
    reported = ids.report(merge, collector, local.validators.id_key)
    for number, _ in enumerate(reported, 1):
        if options.fail_fast:
            merge.stopped = True
            break
        if number % REPORTED == 0:
            yield collector.take()
    yield collector.take()


def across_digests_of(validators: FileValidators) -> "AcrossDigests | None":
    """Return what collects what rules across rows compare, None without such rules."""
    linter = validators.linter()
    if linter is None or not (linter.across or linter.files or linter.decisions):
        return None
    from harpia_formats.validation.merge.across_rows import across_digests  # noqa: PLC0415 - only if rules are selected that are not checked by default

    rules = tuple(reader.rule for reader in linter.across)
    return across_digests(rules, linter.same)


def _with_disagreements(
    local: LocalValidation, across: "AcrossDigests", again: RereadableSource
) -> Iterator[Findings]:
    """Yield the problems of records that do not agree with others, some at once."""
    merge, options = local.merge, local.validators.options
    if options.fail_fast and merge.stopped:
        return
    collector = local.collector
    reported = across.report(merge, collector, partial(_placed_rows, local, again))
    for number, _ in enumerate(reported, 1):
        if number % REPORTED == 0 or options.fail_fast:
            yield collector.take()
        if options.fail_fast and merge.count.errors:
            merge.stopped = True
            break
    yield collector.take()


def _placed_rows(
    local: LocalValidation, again: RereadableSource
) -> "Iterator[PlacedRow]":
    """Yield the rows of a file once more, with their places."""
    from harpia_formats.validation.merge.placed_rows import json_rows, table_rows  # noqa: PLC0415 - only if rules are selected that are not checked by default

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
