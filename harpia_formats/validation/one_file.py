"""Validate one file: settle its plan, validate its units, merge their results."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import msgspec

from harpia_formats.files.framing.chunk import Cursor, FramingFault
from harpia_formats.files.framing.container import (
    Layout,
    OpenedContainer,
    open_container,
)
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.files.io.reread import RereadableSource
from harpia_formats.files.io.source import (
    ReadProgress,
    Source,
    SourceReader,
    open_source,
)
from harpia_formats.formats.detection.file_name import misleading_suffix
from harpia_formats.formats.detection.read_blocks import ReadBlocks, complete_frames
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    SampledFile,
    sample_file,
)
from harpia_formats.formats.registry import all_formats
from harpia_formats.model.errors import ConversionOptionsError
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation, RowConsumer
from harpia_formats.validation.merge.file_merge import FileMerge, Frame
from harpia_formats.validation.merge.places import in_members
from harpia_formats.validation.plan.file_plan import FilePlan, plan_file
from harpia_formats.validation.plan.run_plan import RunPlan
from harpia_formats.validation.plan.units import Broken, Demand
from harpia_formats.validation.second_pass import (
    across_digests_of,
    repeated_ids,
    second_pass,
    table_frames,
)
from harpia_formats.validation.skipped_files import note_if_own, note_if_skipped
from harpia_formats.validation.unit.broken import report_broken
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.result import Findings
from harpia_formats.validation.unit.validators import (
    SharedValidators,
)

BLANK_LINES = "J202"
MISLEADING_NAME = "J203"


class OpenFile(msgspec.Struct, frozen=True):
    """A file that is read, its counts, and what reads it once more."""

    source: Source
    count: FileCount
    blocks: ReadBlocks
    again: RereadableSource
    reader: SourceReader


#: Validates the frames of a file, most of them in worker processes.
ValidateInWorkers = Callable[
    [LocalValidation, Iterator[Frame], OpenFile], Generator[Findings, None, None]
]
_Progress = Callable[[ReadProgress], None]


class FileSettings(msgspec.Struct, frozen=True):
    """How a file is validated, beside the plan of the run."""

    #: Returns which problems of the file need no description.
    demand: Callable[[], Demand] = Demand
    #: Takes the rows, if they are not only validated.
    consumer: RowConsumer | None = None
    #: Validates the rows in worker processes, if there are any.
    in_workers: ValidateInWorkers | None = None
    #: Called with the file that is read after each unit.
    progress: Callable[[ReadProgress], None] | None = None
    #: Whether the file is read once more to check it against its companion.
    has_companion: bool = False
    #: The validators of files of the same run.
    shared: SharedValidators = msgspec.field(default_factory=SharedValidators)


@contextmanager
def opened(
    source: Source, count: FileCount, size: int = BLOCK
) -> Generator[OpenFile, None, None]:
    """Open a file to validate it in blocks of `size` bytes.

    Raises `SourceError` if it cannot be opened. What cannot be read later is noted in
    the blocks of the open file, and at the end also that the file has changed.
    """
    with RereadableSource(source) as again, open_source(source, size) as reader:
        file = OpenFile(
            source, count, ReadBlocks(reader, count, again.copy), again, reader
        )
        yield file
        if file.blocks.error is None:
            file.blocks.error = reader.change()


def validate_open(
    file: OpenFile, run: RunPlan, settings: FileSettings
) -> Generator[Findings, None, LocalValidation]:
    """Yield the problems of a file in order, and return the state at its end.

    The caller adds what is yielded to the counts of the file before it asks for more.
    Places are those in the file; of one that was unpacked, those in its members.
    """
    path, places = file.count.path, file.reader.places
    collector = Collector(run.active_rules(), path, 0)
    opening = open_container(file.blocks)
    if file.source.is_found:
        note_if_own(file.count, opening.buffer.data)
    for fault in opening.faults:
        # A file that could not be read is reported as such, and not as empty.
        if fault.kind != "empty" or file.blocks.error is None:
            report_broken(Broken(fault), collector, run.options.max_row_bytes)
    beginning = _beginning(opening, file, run)
    plan = _planned(beginning, collector, file, run)
    if not file.count.skipped:
        yield in_members(collector.take(), path, places)
    with ExitStack() as stack:
        local = _local(plan, file, beginning, settings, stack)
        if file.count.skipped:
            local.merge.stopped = True
            return local
        flow, progress = _flow(local, beginning, file, settings)
        stack.callback(flow.close)
        for findings in flow:
            yield in_members(findings, path, places)
            if progress is not None:
                progress(file.blocks.reader)
        local.merge.end_rows()
        yield in_members(_closing(local, file, opening), path, places)
        for findings in second_pass(local, file.again):
            yield in_members(findings, path, places)
    return local


def _local(
    plan: FilePlan,
    file: OpenFile,
    beginning: SampledFile,
    settings: FileSettings,
    stack: ExitStack,
) -> LocalValidation:
    """Return what validates the rows of a file, after its consumer was opened.

    What is stored is deleted by `stack`.
    """
    if settings.consumer is not None and not file.count.skipped:
        if plan.contested:
            raise ConversionOptionsError(f"{file.count.path}: {plan.contested}")
        settings.consumer.open(plan.variant)
    validators = settings.shared.of(plan)
    ids, across = repeated_ids(plan, file.again), across_digests_of(validators)
    stores = [store for store in (ids, across) if store is not None]
    for store in stores:
        stack.callback(store.close)
    if not (stores or settings.has_companion):
        file.blocks.drop_copy()
    options = plan.run.options
    collector = Collector(
        validators.rules,
        plan.name,
        options.examples,
        settings.demand,
        hides_values=options.redact,
    )
    collector.places = file.reader.places
    merge = FileMerge(plan, file.count)
    return LocalValidation(
        validators, merge, collector, settings.consumer, ids, across, beginning.sample
    )


def _beginning(opening: OpenedContainer, file: OpenFile, run: RunPlan) -> SampledFile:
    """Return the beginning of a file, from which its format is recognised."""
    asked = run.candidates() if run.schema is None else ()
    if run.schema is not None and opening.layout is Layout.TEXT:
        asked = tuple(all_formats().values())  # it may be a table
    options = run.options
    beginning = sample_file(
        opening, options.max_row_bytes, asked, file.count.path, options.delimiter
    )
    if file.reader.unpacker:
        unpacker = file.reader.unpacker
        beginning.sample = replace(beginning.sample, unpacker=unpacker)
    return beginning


def _planned(
    beginning: SampledFile, collector: Collector, file: OpenFile, run: RunPlan
) -> FilePlan:
    """Return the plan of a file; remarks on its name and format go to `collector`."""
    count, place = file.count, collector.place(Cursor())
    name_note = misleading_suffix(count.path, beginning.sample)
    # The name of a file that was unpacked is not that of its text.
    if name_note is not None and file.reader.places is None:
        collector.add(MISLEADING_NAME, *name_note, place)
    plan, notes = plan_file(run, count.path, beginning.sample)
    is_found = file.source.is_found
    note_if_skipped(count, run, file.blocks.error, notes, is_found=is_found)
    for note in notes:
        collector.add(note.code, note.message, note.help, place)
    if plan.unvalidated:
        codes = {note.code for note in notes}
        count.add_unreported(codes - collector.rules.keys())
    count.format, count.dialect = plan.shown_format, plan.shown_dialect
    return plan


def _flow(
    local: LocalValidation,
    beginning: SampledFile,
    file: OpenFile,
    settings: FileSettings,
) -> "tuple[Generator[Findings, None, None], _Progress | None]":
    """Return what validates the rows of a file, and the document around them.

    With it comes what is told after each part how far the file was read, None if
    workers read it.
    """
    plan, in_workers = local.merge.plan, settings.in_workers
    if plan.cut is Framing.NONE:
        return local.frames(iter(())), None
    if plan.cut is Framing.TABLE:
        opened = beginning.opened
        table = table_frames(opened.buffer, opened.start, plan)
        # Workers convert the records of a table; they do not only validate them.
        if in_workers is not None and settings.consumer is not None:
            return in_workers(local, table, file), None
        return local.frames(table), settings.progress
    sample = beginning.sample
    if sample.decoded and plan.is_known and plan.cut is Framing.VALUES:
        (value,) = sample.rows
        local.validators.part().validator.know(sample.decoded, value)
    frames = complete_frames(beginning.frames(plan.cut, plan.variant), file.blocks)
    if in_workers is not None and plan.is_known and not plan.has_columns:
        return in_workers(local, frames, file), None
    return local.frames(frames), settings.progress


def _closing(
    local: LocalValidation, file: OpenFile, opening: OpenedContainer
) -> Findings:
    """Return the problems that are known at the end of the rows."""
    merge, collector = local.merge, local.collector
    if merge.first_blank is not None and not _is_headless(merge):
        lines = f"{merge.blanks:,} blank lines are"
        if merge.blanks == 1:
            lines = "1 blank line is"
        place = collector.place(merge.first_blank)
        collector.add(BLANK_LINES, f"{lines} passed over", "", place)
    if all(merge.line_ends):
        from harpia_formats.validation.unit.line_ends import report_mixed  # noqa: PLC0415 - for such files only

        report_mixed(merge.line_ends, collector)
    if _holds_nothing(merge, file):
        empty = FramingFault("empty", opening.content_start)
        limit = local.validators.options.max_row_bytes
        report_broken(Broken(empty), collector, limit)
    return collector.take()


def _is_headless(merge: FileMerge) -> bool:
    """Return whether a file is a table without a header."""
    return merge.plan.cut is Framing.TABLE and not merge.columns


def _holds_nothing(merge: FileMerge, file: OpenFile) -> bool:
    """Return whether a document or table was read to its end and has no records."""
    plan, count = merge.plan, merge.count
    if plan.cut is Framing.VALUES or plan.variant is None:
        return False
    is_read = not merge.stopped and file.blocks.error is None
    return is_read and not (count.records or count.errors or plan.may_be_empty)


def note_end(file: OpenFile, merge: FileMerge) -> None:
    """Note in the counts of a file how far it was read."""
    count, error = file.count, file.blocks.error
    if merge.stopped:
        return
    count.complete = error is None
    if error is not None:
        count.reason = f"{error.reason}{_read_until(file, merge.last_line)}"


def _read_until(file: OpenFile, last_line: int) -> str:
    """Return how far a file was read, "" if nothing of it was."""
    count, places = file.count, file.reader.places
    if not count.bytes:
        return ""
    if not last_line:
        return " (before the end of the first record)"
    records = f"{count.records:,} record{'s' * (count.records != 1)}"
    line = f"line {last_line:,}" if places is None else places.line_text(last_line)
    return f" (after {records}, the last in {line})"
