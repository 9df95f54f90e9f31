"""Read records from files of any format, and report the problems of the files."""

from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from harpia_formats.conversion.reading.companions import (
    Begin,
    Companions,
    Documents,
    checked_begin,
    name_of,
)
from harpia_formats.conversion.reading.mapped_keys import MappedKeys, keys_of_map
from harpia_formats.conversion.reading.merged_rows import has_several_parts
from harpia_formats.conversion.reading.placed_record import PlacedRecord, Receive
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.conversion.reading.record_stream import RecordStream, TakeRows
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.inputs import Input, checked_inputs, sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.mapped_format import (
    FREE_COLUMN_FORMATS,
    require_mapped_format,
)
from harpia_formats.formats.registry import (
    adapter_of,
    all_formats,
    all_unpackers,
    formats_named,
    rules_for,
)
from harpia_formats.model.adapter import RowMerging
from harpia_formats.model.column_map import (
    column_names,
    names_by_column,
)
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.record import Header, Record
from harpia_formats.model.report import FileCount, Report
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.one_file import (
    FileSettings,
    NeededRecords,
    OpenFile,
    ValidateInWorkers,
    end_of_run,
    opened,
    validate_open,
)
from harpia_formats.validation.options import CompanionError, Options
from harpia_formats.validation.plan.file_plan import run_plan_of
from harpia_formats.validation.unit.findings import Findings
from harpia_formats.validation.unit.validators import SharedValidators

if TYPE_CHECKING:  # only for several processes: start-up time
    from harpia_formats.files.workers.pool import WorkerPool
    from harpia_formats.validation.parallel.ranges import RangeWork

#: Beginnings of the codes of rules on records that can be read nevertheless.
_left_out = ("X", "L")


class RowWorkers(Protocol):
    """Other processes that read and use the rows of large files."""

    @property
    def pool(self) -> "WorkerPool":
        """The processes."""

    def work(self, local: LocalValidation) -> "RangeWork":
        """Return what is done with the ranges of a file."""

    def finish(
        self, local: LocalValidation, stream: RecordStream
    ) -> Iterator[Findings | None]:
        """Have what is read only at the end of a file used; yield after some rows."""


class Reading:
    """One run over some inputs, whose valid rows are read as records.

    Raises when it is made: `UnknownFormat`, `MapError` or `ConversionError` for columns
    that cannot be mapped, `CompanionError` for a companion that cannot be used,
    `ValueError` without an input, and `TypeError` for an input of another type.
    Documents without records, such as the aggregate of EvalEval's samples, are
    passed over where they are met in a folder.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        options: ReadingOptions | None = None,
        *,
        fail_fast: bool = True,
        limit: int | None = None,
        merges_rows: bool = True,
    ) -> None:
        options = options or ReadingOptions()
        format_, columns = options.from_, options.columns
        self.inputs = checked_inputs(inputs)
        self._documents = Documents(self.inputs)
        self.companions = Companions(
            options.companion,
            self.inputs,
            options.max_row_bytes,
            partial(partners_in, max_row_bytes=options.max_row_bytes),
        )
        if columns is not None:
            exclusion = Exclusion(options.exclude)
            format_ = format_ or require_mapped_format(self.inputs, exclusion)
        self._options = Options(
            format=format_,
            # The header of a table is validated by them.
            columns=columns if format_ == "csv" else None,
            delimiter=options.delimiter,
            from_csv_safe=options.from_csv_safe,
            fail_fast=fail_fast,
            max_row_bytes=options.max_row_bytes,
            progress=options.progress,
            ignore=_left_out,
            redact=options.redact,
            exclude=options.exclude,
            skip_unrecognised=options.skip_unrecognised,
            min_records=options.min_records,
            limit=limit,
        )
        #: Whether rows that are parts of one record become that record.
        self._merges_rows = merges_rows
        self._exclusion = Exclusion(self._options.exclude)
        formats = (
            tuple(all_formats().values()) if format_ is None else formats_named(format_)
        )
        rules = rules_for(formats)
        # Other warnings and notes are for validation only.
        errors = {
            code: rule
            for code, rule in rules.items()
            if (rule.severity is Severity.ERROR or rule.in_reading)
            and not (rule.lint or code.startswith(_left_out))
        }
        is_free = format_ in FREE_COLUMN_FORMATS
        self._plan = run_plan_of(
            self._options,
            errors,
            None,
            formats,
            for_reading=True,
            read_keys=None if is_free else columns,
        )
        #: The names of mapped columns in the format, or fields in keys of rows.
        self._fields: dict[str, str] = {}
        self._keys: MappedKeys | None = None
        if columns and is_free:
            self._fields = fields_by_column(formats[0], columns)
        elif columns:
            self._keys = keys_of_map(columns, formats)
        self.tally = Tally()
        #: The valid records of earlier inputs, which count for `min_records`.
        self.valid_before = 0
        self._shared = SharedValidators()
        #: The headers of each file whose format is known.
        self.headers: list[list[Header]] = []
        #: The name of each of these files, without its folder.
        self.names: list[str] = []

    @property
    def keys(self) -> MappedKeys | None:
        """The fields that are read from mapped keys of JSON rows."""
        return self._keys

    def problems(
        self,
        receive: Receive,
        begin: Begin,
        refuse: Callable[[bytes | None], None],
        bulk: TakeRows | None = None,
        workers: RowWorkers | None = None,
    ) -> Generator[Problem, None, None]:
        """Yield the problems of the inputs; pass each valid record to `receive`.

        Raises `ConversionError` for a file whose rows are no records.
        """
        with closing(self.steps(receive, begin, refuse, bulk, workers)) as steps:
            for problems in steps:
                yield from problems

    def steps(
        self,
        receive: Receive,
        begin: Begin,
        refuse: Callable[[bytes | None], None],
        bulk: TakeRows | None = None,
        workers: RowWorkers | None = None,
    ) -> Generator[Iterable[Problem], None, None]:
        """Yield the problems of some rows, if any, after each step.

        Their valid records were passed to `receive` before, a bounded number at each
        step. The arguments are those of `RecordStream`.
        Raises `ConversionError` for a file whose rows are no records.
        """
        done = 0
        for source in self._sources():
            if isinstance(source, SourceError):
                self.tally.begin(source.path).reason = source.reason
                continue
            count = self.tally.begin(source.name)
            stream = RecordStream(
                source.name,
                receive,
                refuse,
                checked_begin(begin, count),
                bulk,
                self._fields,
                self._keys,
                partial(self._around, source),
                partial(self._has_parts, source),
            )
            with self._documents.passing_over(source, count):
                yield from self._file(source, count, stream, workers)
            # What was read before is looked at once: there may be many files.
            begun, done = self.tally.counts_from(done), self.tally.begun
            if self._options.fail_fast and not Report(begun, (), ()).ok:
                return
        self.companions.end()
        self.tally.excluded = self._exclusion.count
        self.tally.unmatched = self._exclusion.unmatched
        needed = NeededRecords(self._options.min_records, self.valid_before)
        data = self.tally.files
        yield tuple(end_of_run(self.tally, data, self._plan, needed, self.inputs))

    def _sources(self) -> Iterator[Source | SourceError]:
        """Yield the files of the inputs, and errors for what cannot be read."""
        return sources_of_inputs(self.inputs, self._exclusion, all_unpackers())

    def _around(
        self, source: Source, variant: FormatVariant
    ) -> tuple[Mapping[str, Any], Header]:
        """Return what the companion of a file says of its rows, and its header."""
        return self.companions.around(source, variant, adapter_of(variant.format))

    def _has_parts(self, source: Source, merging: RowMerging) -> bool:
        """Tell whether several rows of a file may be one record."""
        return self._merges_rows and has_several_parts(source, merging)

    def _file(
        self,
        source: Source,
        count: FileCount,
        stream: RecordStream,
        workers: RowWorkers | None,
    ) -> Generator[Iterable[Problem], None, None]:
        """Read one file from its beginning to its end."""
        settings = FileSettings(
            lambda: self.tally.demand(count),
            stream,
            in_workers=None if workers is None else self._in_workers(workers, source),
            progress=self._options.progress,
            shared=self._shared,
        )
        try:
            with (
                opened(source, count) as file,
                closing(validate_open(file, self._plan, settings)) as flow,
            ):
                while True:
                    try:
                        findings = next(flow)
                    except StopIteration as stop:
                        local: LocalValidation = stop.value
                        break
                    self.tally.note_places(count, file.reader.places)
                    yield tuple(self.tally.keep(count, findings))
                if not local.merge.stopped:
                    # So it is already where what was kept of it ends the run.
                    count.complete = file.blocks.error is None
                    rest: Iterator[Findings | None] = stream.finish()
                    if workers is not None:
                        rest = workers.finish(local, stream)
                    for some in rest:
                        yield tuple(self.tally.keep(count, some or Findings()))
            count.complete = not local.merge.stopped and file.blocks.error is None
            if file.blocks.error is not None and not count.skipped:
                count.reason = file.blocks.error.reason
        except SourceError as error:
            count.complete, count.reason = False, error.reason
            return
        finally:
            stream.discard()
        if stream.is_open:
            self.headers.append(stream.headers)
            self.names.append(name_of(source))

    def _in_workers(self, workers: RowWorkers, source: Source) -> ValidateInWorkers:
        """Return what has the rows of a file used by workers.

        Raises `EngineError` if they have to see the file and do not.
        """
        from harpia_formats.validation.parallel.ranges import check_visible, map_ranges  # noqa: PLC0415 - only for several processes: start-up time

        check_visible(workers.pool, source)

        def in_workers(
            local: LocalValidation, frames: Iterator[Frame], file: OpenFile
        ) -> Generator[Findings, None, None]:
            work, progress = workers.work(local), self._options.progress
            return map_ranges(workers.pool, work, local, frames, file, progress)

        return in_workers


def fields_by_column(format_: Format, columns: Mapping[str, str]) -> dict[str, str]:
    """Return the name in the format of each mapped column."""
    return names_by_column(column_names(adapter_of(format_), format_.id, columns))


def partners_in(given: Input, format_: str, max_row_bytes: int) -> Iterator[Record]:
    """Yield the records of a file with which rows of other files are read.

    Raises `CompanionError` if one of its rows is not valid.
    """
    received: list[PlacedRecord] = []
    reading = Reading(
        [given], ReadingOptions(from_=format_, max_row_bytes=max_row_bytes)
    )
    for problems in reading.steps(received.append, lambda *_: None, lambda _: None):
        for problem in problems:
            if problem.severity is Severity.ERROR:
                at = f"in line {problem.place.line}"
                reason = f"is not valid: {problem.message}, {at}"
                raise CompanionError(problem.place.path, reason)
        yield from (placed.record for placed in received)
        received.clear()
    yield from (placed.record for placed in received)
    for file in reading.tally.report().files:
        if file.reason is not None:
            raise CompanionError(file.path, file.reason)
