"""Validate one file: make its plan, validate its units, merge their results.

A file that was validated is kept as its check against a companion file needs it.
"""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from harpia_formats.files.framing.chunk import Cursor, FramingFault
from harpia_formats.files.framing.columns import DocumentFrames
from harpia_formats.files.framing.container import (
    Layout,
    OpenedContainer,
    open_container,
)
from harpia_formats.files.io.discovery import is_data_name
from harpia_formats.files.io.file_kinds import OtherKindError, counted_kinds
from harpia_formats.files.io.inputs import Input, RereadableSource, input_of
from harpia_formats.files.io.reader import BLOCK, SourceError
from harpia_formats.files.io.source import (
    ReadProgress,
    Source,
    SourceReader,
    open_source,
)
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.own_files import own_kind, why_no_data
from harpia_formats.formats.detection.sample import (
    Sample,
    misleading_suffix,
    without_compression,
)
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    ReadBlocks,
    SampledFile,
    complete_frames,
    sample_file,
)
from harpia_formats.formats.detection.unexpected_format import DetectionNote
from harpia_formats.formats.registry import all_formats, all_unpackers, rules_of
from harpia_formats.model.format import Companion, Format
from harpia_formats.model.problem import ConversionOptionsError, Problem
from harpia_formats.model.report import TOO_FEW_RECORDS, FileCount
from harpia_formats.validation.local import (
    LocalValidation,
    RowConsumer,
    across_digests_of,
    repeated_ids,
    rereading,
    second_pass,
    table_frames,
)
from harpia_formats.validation.merge.file_merge import (
    FileMerge,
    Frame,
    Outcomes,
    in_members,
)
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.plan.file_plan import FilePlan, RunPlan, plan_file
from harpia_formats.validation.plan.units import Broken, Demand
from harpia_formats.validation.unit.collector import Collector, report_broken
from harpia_formats.validation.unit.findings import (
    NO_FINDINGS,
    FileResult,
    Findings,
)
from harpia_formats.validation.unit.validators import (
    SharedValidators,
)

UNKNOWN_FORMAT, SKIPPED_FILES = "S301", "J114"


def note_if_skipped(
    count: FileCount,
    run: RunPlan,
    error: SourceError | None,
    notes: Sequence[DetectionNote],
    *,
    is_found: bool,
) -> None:
    """Note in the counts of a file if it is passed over, and what it is.

    A file of another kind, which its `error` says, is passed over if it was found in a
    folder. But where records are read, one that is called like a data file is an error:
    its records would be missing. `notes` are those on its format.
    """
    asked = run.options.skip_unrecognised
    if isinstance(error, OtherKindError):
        is_needed = run.for_reading and is_data_name(count.path, all_unpackers())
        if asked or (is_found and not is_needed):
            count.skipped, count.reason = error.kind.name, error.reason
    elif asked and any(note.code == UNKNOWN_FORMAT for note in notes):
        count.skipped = "a file in no known format"
        count.reason = "is in no known format"


def note_if_own(count: FileCount, beginning: bytes) -> None:
    """Note that a file is passed over if harpia-formats wrote it about data.

    `beginning` are the first bytes of a file that was found in a folder.
    """
    kind = own_kind(beginning)
    if kind:
        count.skipped, count.reason = kind, why_no_data(kind)


class NeededRecords(NamedTuple):
    """How many records all files must have, and how many were read before."""

    least: int
    before: int = 0


def end_of_run(
    tally: Tally,
    files: Sequence[FileCount],
    run: RunPlan,
    needed: NeededRecords,
    inputs: Sequence[Input],
) -> Iterator[Problem]:
    """Yield the problems of all files together: those passed over, too few records.

    `files` are the counts of the data. The problems are placed at the input, such as a
    folder, and not at one of its files. If all files were passed over, the first is one
    that could not be read, unless the options allow that no file is left.
    """
    skipped = [count for count in files if count.skipped]
    is_none_left = len(skipped) == len(files)
    if skipped and is_none_left and not run.options.allow_no_files:
        kinds = counted_kinds(count.skipped for count in skipped)
        skipped[0].skipped = ""
        skipped[0].reason = f"{skipped[0].reason} (no file is left; all are {kinds})"
    elif skipped and SKIPPED_FILES in run.rules:
        help_ = (
            "`--exclude PATTERN` leaves files out; name a file to have it as an error"
        )
        message = f"passed over: {counted_kinds(file.skipped for file in skipped)}"
        name = input_of(inputs, skipped[0].path)
        yield from _problem(tally, run, skipped[0], name, SKIPPED_FILES, message, help_)
    records = sum(count.valid if run.for_reading else count.records for count in files)
    records += needed.before
    if records < needed.least and files:
        what = "valid records" if run.for_reading else "records"
        message = f"there are {records:,} {what}, fewer than {needed.least:,}"
        help_ = "see what is missing; `--min-records` asks for so many"
        first = next((one for one in files if not one.skipped), files[0])
        name = input_of(inputs, files[0].path)
        yield from _problem(tally, run, first, name, TOO_FEW_RECORDS, message, help_)


def _problem(  # noqa: PLR0913, PLR0917 - a problem has so many parts
    tally: Tally,
    run: RunPlan,
    count: FileCount,
    name: str,
    code: str,
    message: str,
    help_: str,
) -> Iterator[Problem]:
    """Yield a problem of the input `name`, which is counted with one of its files."""
    rules = run.active_rules()
    collector = Collector(rules if code in rules else rules_of([code]), name, 0)
    collector.add(code, message, help_, collector.place(Cursor()))
    yield from tally.keep(count, collector.take())


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
    """How a file is validated, apart from the plan of the run."""

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
    path = file.count.path
    collector = Collector(run.active_rules(), path, 0)
    opening = open_container(file.blocks)
    # Whether the file is unpacked is known once its first bytes are read.
    places = file.reader.places
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
        if plan.contested and settings.consumer.reads_records:
            raise ConversionOptionsError(f"{file.count.path}: {plan.contested}")
        settings.consumer.open(plan.variant)
    validators = settings.shared.of(plan)
    ids = repeated_ids(plan, file.again, validators.identity)
    across = across_digests_of(validators)
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
    count = file.count
    name_note = misleading_suffix(count.path, beginning.sample)
    # The name of a file that was unpacked is not that of its text.
    if name_note is not None and file.reader.places is None:
        collector.add(MISLEADING_NAME, *name_note, collector.place(Cursor()))
    plan, notes = plan_file(run, count.path, beginning.sample)
    is_found = file.source.is_found
    note_if_skipped(count, run, file.blocks.error, notes, is_found=is_found)
    for note in notes:
        collector.add_note(note)
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

    With it comes the progress to update after each part, None if
    workers read the file.
    """
    plan, in_workers = local.merge.plan, settings.in_workers
    if plan.cut is Framing.NONE:
        return local.frames(iter(())), None
    if plan.cut is Framing.TABLE:
        opened = beginning.opened
        table = table_frames(opened.buffer, opened.start, plan, file.blocks)
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
        from harpia_formats.validation.unit.collector import report_mixed  # noqa: PLC0415 - for such files only

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
    if plan.cut is Framing.VALUES or not plan.is_known:
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


def companion_names(format_id: str, name: str, document: Any) -> tuple[str, ...]:
    """Return the names of files that are checked against a file called `name`.

    `document` is what it holds, of the format with this id.
    """
    companion = _companions_by_name().get(format_id)
    if companion is None or companion.file_names is None:
        return ()
    plain = without_compression(os.path.basename(name))  # noqa: PTH119 - several times as fast
    return companion.file_names(plain, companion.expect(document))


def names_of_files(local: LocalValidation, name: str) -> tuple[str, ...] | None:
    """Return the names of files that are checked against the validated file `name`.

    None if they cannot be known without reading it again: only of a valid document its
    sample is certainly all that it holds.
    """
    count = local.merge.count
    is_valid = count.records == 1 and not (count.invalid or count.undetermined)
    sample = local.sample if is_valid else None
    return names_of_document(local.merge.plan, sample, name)


def names_of_document(
    plan: FilePlan, sample: Sample | None, name: str
) -> tuple[str, ...] | None:
    """Return what `names_of_files` does; `sample` is that of a valid record."""
    if plan.variant is None:
        return None
    if plan.format not in _companions_by_name():
        return ()
    is_document = plan.cut is Framing.VALUES and not plan.is_rows
    if sample is None or not (is_document and sample.is_one_document):
        return None
    (document,) = sample.rows
    return companion_names(
        plan.format, name, document if isinstance(document, dict) else {}
    )


def is_named_by_files(format_id: str) -> bool:
    """Tell whether the names of files tell which file of a format they belong to."""
    companion = _companions_by_name().get(format_id)
    return companion is not None and companion.names_for is not None


@cache
def _companions_by_name() -> dict[str, Companion]:
    """Return how files are checked against those of a format that name them.

    By the id of that format; it is the first such way of all formats.
    """
    companions = (format_.companion for format_ in reversed(all_formats().values()))
    return {
        companion.format: companion
        for companion in companions
        if companion is not None and companion.file_names is not None
    }


class ValidatedFile(msgspec.Struct, frozen=True):
    """A file of a known format that was validated, and its outcomes."""

    source: Source
    plan: FilePlan
    variant: FormatVariant
    outcomes: Outcomes
    #: Returns the frames of the file once more.
    frames: Callable[[], DocumentFrames]
    #: The number of the last record that was validated.
    until: int
    #: Whether all records were validated.
    whole: bool
    #: The names that files may have that are checked against it; None if not known.
    names: tuple[str, ...] | None = None
    #: What lints of the file count, and what they find if it has no companion.
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    pending: Findings = NO_FINDINGS

    @property
    def count(self) -> FileCount:
        """The counts of the file."""
        return self.outcomes.count

    @property
    def format(self) -> Format:
        """The format of the file."""
        return self.variant.format

    @property
    def companion(self) -> Companion | None:
        """How files of the format are checked against another file."""
        return self.variant.format.companion

    def collector(self, demand: Callable[[], Demand]) -> Collector:
        """Return a collector of problems of the file."""
        run = self.plan.run
        return Collector(
            run.active_rules(),
            self.plan.name,
            run.options.examples,
            demand,
            hides_values=run.options.redact,
        )


def validated_file(file: OpenFile, local: LocalValidation) -> ValidatedFile | None:
    """Return the file that was validated here, None if no check can follow."""
    merge, plan = local.merge, local.merge.plan
    failed = merge.stopped and plan.run.options.fail_fast
    if plan.variant is None or failed:
        return None
    return ValidatedFile(
        file.source,
        plan,
        plan.variant,
        merge.outcomes,
        rereading(plan, file.again),
        until=merge.records,
        whole=not (merge.stopped or merge.gap or file.blocks.error),
        names=names_of_files(local, file.source.name),
        counts=merge.counts,
        pending=in_members(merge.pending, file.count.path, file.reader.places),
    )


def file_of_result(
    source: Source, result: FileResult, outcomes: Outcomes
) -> ValidatedFile | None:
    """Return the file that a worker validated, None if no check can follow."""
    plan = result.plan
    if plan.variant is None:
        return None
    return ValidatedFile(
        source,
        plan,
        plan.variant,
        outcomes,
        rereading(plan, RereadableSource(source)),
        until=result.until,
        whole=result.whole,
        names=result.names,
        counts=result.counts,
        pending=result.pending,
    )
