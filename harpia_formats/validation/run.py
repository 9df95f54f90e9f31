"""Validate the files of a run: from bytes to problems, and to a report."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.io.encodings import SUFFIXES
from harpia_formats.files.io.inputs import Input, checked_inputs, sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import BytesRead, Source
from harpia_formats.files.io.urls import is_url, real_path
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import JSON_SCHEMA, FileCount, Report
from harpia_formats.validation.companion_files import CompanionPairs
from harpia_formats.validation.local import LocalValidation, RowConsumer
from harpia_formats.validation.merge.file_merge import Frame, Outcomes
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.one_file import (
    FileSettings,
    NeededRecords,
    OpenFile,
    ValidateInWorkers,
    end_of_run,
    file_of_result,
    note_end,
    opened,
    validate_open,
    validated_file,
)
from harpia_formats.validation.options import Options
from harpia_formats.validation.redaction import problems_shown, redaction_of
from harpia_formats.validation.run_plans import FileOptions, RunPlans
from harpia_formats.validation.single_objects import SingleObjects
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.findings import (
    FIRST_RECORD,
    FileNotSeen,
    FileResult,
    Findings,
    InternalFault,
    RecordSet,
    RedoneUnits,
    TooMuch,
)
from harpia_formats.validation.unit.validators import SharedValidators

if TYPE_CHECKING:  # most runs have none: start-up time
    from harpia_formats.files.workers.pool import WorkerDied, WorkerPool
    from harpia_formats.validation.baselines.known_findings import KnownFindings
    from harpia_formats.validation.parallel.small_files import Answered


class RunBaseline:
    """The baselines of one run: the known findings, and where new ones are written.

    Raises `BaselineError` if the one cannot be read, or the other not be replaced.
    """

    def __init__(
        self, options: Options, outputs: frozenset[Path] = frozenset()
    ) -> None:
        """Take the options of the run, and the absolute paths of its other outputs."""
        given = (options.baseline, options.write_baseline)
        self._read, self._written = (path and fspath(path) for path in given)
        self._paths = {path for path in given if path}
        self._no_data = {real_path(path) for path in (*self._paths, *outputs)}
        self._names = {os.path.basename(path) for path in self._no_data}  # noqa: PTH119 - many times as fast
        self._may_be_empty = options.allow_no_files
        #: The findings that are not reported, None without a baseline.
        self.known = self._known()
        #: The findings in the baseline that was written, None if none was.
        self.total: int | None = None
        #: The files with records or errors that the written baseline cannot hold.
        self.unheld: tuple[str, ...] = ()

    def _known(self) -> "KnownFindings | None":
        """Return what is read, None if nothing is; check what is written."""
        if not self._paths:
            return None
        from harpia_formats.validation.baselines.known_findings import (  # noqa: PLC0415 - only with a baseline: start-up time
            KnownFindings,
            check_replaceable,
        )

        if self._written:
            check_replaceable(self._written)
        return KnownFindings(self._read) if self._read else None

    @property
    def more_examples(self) -> int:
        """How many more findings of a group are described, to see those beyond it."""
        return 0 if self.known is None else self.known.most

    def data_files(
        self, sources: Iterable[Source | SourceError]
    ) -> Iterable[Source | SourceError]:
        """Return `sources` without baselines and outputs in a folder of data."""
        return self._without_outputs(sources) if self._no_data else sources

    def _without_outputs(
        self, sources: Iterable[Source | SourceError]
    ) -> Iterator[Source | SourceError]:
        last: Source | None = None
        is_empty = True
        for source in sources:
            if isinstance(source, Source) and self.is_output(source):
                last = source
            else:
                is_empty = False
                yield source
        if is_empty and last is not None and not self._may_be_empty:
            reason = "is written by this run and no data, and there is no other file"
            yield SourceError(last.name, reason)

    def is_output(self, source: Source) -> bool:
        """Tell whether a file in a folder is a baseline, or written by the run."""
        origin = source.origin
        return (
            source.is_found
            and isinstance(origin, Path)
            and origin.name in self._names
            and os.path.realpath(origin) in self._no_data
        )

    def write(self, tally: Tally) -> None:
        """Write the baseline, if one is asked for and all files could be read.

        Raises `BaselineError` or `SinkError` if it cannot be written.
        """
        if not self._written:
            return
        report = tally.report()
        if report.failures:
            return
        from harpia_formats.validation.baselines.known_findings import (  # noqa: PLC0415 - only with a baseline: start-up time
            found_baseline,
            key_of,
            unheld_files,
            write_baseline,
        )

        name = self._written
        found = found_baseline(tally.found(), name)
        if self.known is not None:
            seen: dict[str, set[str]] = {}
            for path, rules in tally.checked():
                seen.setdefault(key_of(path, name), set()).update(rules)
            found = self.known.still_found(found, seen, name)
        write_baseline(name, found)
        self.total = found.total
        self.unheld = unheld_files(report)


#: Bytes of a file that is validated by one process.
LITTLE = 1024 * 1024


class FileConsumer(RowConsumer, Protocol):
    """Takes the rows of one file while it is validated."""

    def finish(self) -> Iterator[None]:
        """Take what is left at the end of the file; yield after some rows."""

    def discard(self) -> None:
        """Free what is held, also of a file that was not read to its end."""


#: Returns what takes the rows of a file.
ConsumerOf = Callable[[Source, FileCount], FileConsumer]


class Validation:
    """One run over some inputs: iterate for the problems, then ask for the report.

    Raises `UnknownFormat`, `UnknownRule` or `SchemaError` when it is made with
    options that cannot be met, `ValueError` without an input, and `TypeError` for what
    is no input; what cannot be read is noted in the report.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        options: Options,
        file_options: FileOptions | None = None,
        outputs: frozenset[Path] = frozenset(),
        consumer_of: ConsumerOf | None = None,
    ) -> None:
        """Take the inputs, the options, and what returns those of a single file.

        Only options that say how one file is validated may differ from `options`.
        `outputs` are absolute paths of files that the run writes, such as reports: one
        that is found in a folder of data is no input. What `consumer_of` returns for a
        file takes its rows; this process does all the work then.
        """
        self._inputs = checked_inputs(inputs)
        self._options = options
        #: The known findings, which are not reported.
        self.baseline = RunBaseline(options, outputs)
        more_examples = self.baseline.more_examples
        self._plans = RunPlans(options, file_options, more_examples)
        self._exclusion = self._plans.exclusion
        self.tally = Tally(
            options.examples, options.max_problems, known=self.baseline.known
        )
        self._consumer_of = consumer_of
        self._shared = SharedValidators()
        self._single_objects = SingleObjects(self._shared)
        #: The outcomes of the records of the last file, None before the first.
        self.outcomes: Outcomes | None = None
        #: Units that the main process validated because no worker did.
        self.redone = RedoneUnits()
        given = self._plans.schema
        self._redaction = redaction_of(options, given and given.schema)

    def __iter__(self) -> Iterator[Problem]:
        return problems_shown(self._problems(), self._redaction)

    def _problems(self) -> Generator[Problem, None, None]:
        pairs = CompanionPairs(self._options, self.tally)
        with ExitStack() as stack:
            stack.callback(self._end_guard)
            stack.enter_context(pairs)
            pool = stack.enter_context(self._pool())
            yield from self._of_schema()
            # A schema with remarks is a file of the report, and holds no data.
            first = self.tally.begun
            in_workers = self._in_workers(pool)
            for source, answer in self._sources(pool):
                if isinstance(source, SourceError):
                    self.tally.begin(source.path).reason = source.reason
                elif isinstance(answer, FileResult):
                    yield from self._merged(source, answer, pairs)
                elif answer is None:
                    yield from self._validated(source, pairs, pool, in_workers)
                else:
                    yield from self._unanswered(source, answer, pairs, pool, in_workers)
                if self._options.fail_fast and self.tally.errors:
                    return
            yield from pairs.check_alone()
            pairs.check_used()
        self.tally.excluded = self._exclusion.count
        self.tally.unmatched = self._exclusion.unmatched
        needed = NeededRecords(self._options.min_records)
        data, plan = self.tally.counts_from(first), self._plans.run
        yield from end_of_run(self.tally, data, plan, needed, self._inputs)
        self.baseline.write(self.tally)

    def _of_schema(self) -> Iterator[Problem]:
        """Yield what is doubtful about the user's schema, as problems of its file."""
        given = self._plans.schema
        if given is None or not (given.text or given.remarks):
            return
        from harpia_formats.validation.unit.given_schema import schema_problems  # noqa: PLC0415 - only for such schemas: start-up time

        rules = self._plans.run.active_rules()
        examples = self._plans.run.options.examples
        collector = Collector(rules, given.name, examples)
        findings = schema_problems(given, collector)
        if findings:
            count = self.tally.begin(given.name, rules)
            count.format, count.complete = JSON_SCHEMA, True
            yield from self.tally.keep(count, findings)

    def _end_guard(self) -> None:
        """End the process in which a user's schema validates, if there is one."""
        if self._plans.run.guards_rows:
            from harpia_formats.validation.unit.guarded_rows import end_process  # noqa: PLC0415 - only for such schemas: start-up time

            end_process()

    def report(self) -> Report:
        """Return the counts of what was read so far."""
        report = self.tally.report()
        return report if self._redaction is None else self._redaction.report(report)

    def _pool(self) -> "AbstractContextManager[WorkerPool | None]":
        """Return the worker processes, None if this process does all the work."""
        options = self._options
        if self._consumer_of is not None:
            return nullcontext()
        # With these options only the beginning of a file may be wanted.
        is_cut_short = options.fail_fast or options.limit is not None
        is_far = options.executor is not None or options.engine is not None
        if is_cut_short or (not is_far and _is_little(self._inputs)):
            return nullcontext()
        from harpia_formats.files.workers.pool import open_pool  # noqa: PLC0415 - only for several processes: start-up time

        return open_pool(options)

    def _in_workers(self, pool: "WorkerPool | None") -> ValidateInWorkers | None:
        """Return what validates the rows of a file in workers, None without workers."""
        if pool is None:
            return None
        from harpia_formats.validation.parallel.ranges import map_ranges  # noqa: PLC0415 - only for several processes: start-up time
        from harpia_formats.validation.parallel.validate_ranges import RangeValidation  # noqa: PLC0415 - only for several processes: start-up time

        tally, redone, progress = self.tally, self.redone, self._options.progress

        def in_workers(
            local: LocalValidation, frames: Iterator[Frame], file: OpenFile
        ) -> Generator[Findings, None, None]:
            work = RangeValidation(local, tally.demand, redone)
            return map_ranges(pool, work, local, frames, file, progress)

        return in_workers

    def _sources(self, pool: "WorkerPool | None") -> "Iterator[Answered]":
        """Yield the files of the inputs, small ones with the answers of workers."""
        found = sources_of_inputs(self._inputs, self._exclusion, all_unpackers())
        sources = self.baseline.data_files(found)
        if pool is None:
            for source in sources:
                yield source, self._result_at_once(source)
            return
        from harpia_formats.validation.parallel.small_files import in_batches  # noqa: PLC0415 - only for several processes: start-up time

        yield from in_batches(sources, pool, self._plans.of)

    def _result_at_once(self, source: Source | SourceError) -> FileResult | None:
        """Return the result of a small file without findings, None for any other."""
        is_alone = self._consumer_of is None and self._options.companion is None
        if not is_alone or isinstance(source, SourceError):
            return None
        return self._single_objects.result(source, self._plans.of(source))

    def _validated(
        self,
        source: Source,
        pairs: CompanionPairs,
        pool: "WorkerPool | None",
        in_workers: ValidateInWorkers | None,
    ) -> Iterator[Problem]:
        """Validate a file, and check it against its companion."""
        plan = self._plans.of(source)
        count = self.tally.begin(source.name, plan.rules)
        if pool is not None and pool.is_far:
            from harpia_formats.validation.parallel.ranges import check_visible  # noqa: PLC0415 - only for clusters: start-up time

            check_visible(pool, source)
        consumer = None
        if self._consumer_of is not None:
            consumer = self._consumer_of(source, count)
        settings = FileSettings(
            lambda: self.tally.demand(count),
            consumer,
            in_workers=in_workers,
            progress=self._options.progress,
            has_companion=self._options.companion is not None,
            shared=self._shared,
        )
        try:
            with opened(source, count, plan.block_bytes()) as file:
                flow = validate_open(file, plan, settings)
                while True:
                    try:
                        findings = next(flow)
                    except StopIteration as stop:
                        local: LocalValidation = stop.value
                        break
                    if findings:
                        yield from self.tally.keep(count, findings)
                self.tally.note_places(count, file.reader.places)
                self.outcomes = local.merge.outcomes
                if consumer is not None and not local.merge.stopped:
                    deque(consumer.finish(), 0)
                validated = validated_file(file, local)
                yield from pairs.check_named_companion(
                    local.validators.variant, validated
                )
        except SourceError as error:
            count.reason = error.reason
            return
        finally:
            if consumer is not None:
                consumer.discard()
        note_end(file, local.merge)
        if not (self._options.fail_fast and count.errors):
            yield from pairs.check_matching_files(validated)

    def _merged(
        self, source: Source, found: FileResult, pairs: CompanionPairs
    ) -> Iterator[Problem]:
        """Merge what a worker found in a whole file."""
        count = found.count
        if found.findings:
            # The problems are counted as they are kept.
            count = replace(count, errors=0, warnings=0, notes=0)
        self.tally.begin_counted(count, found.plan.run.rules)
        if self._options.progress is not None:
            size = found.count.bytes
            self._options.progress(BytesRead(source.name, size, size))
        yield from self.tally.keep(count, found.findings)
        self.outcomes = outcomes = Outcomes(
            count,
            RecordSet(bytearray(found.invalid)),
            RecordSet(bytearray(found.undetermined)),
        )
        validated = file_of_result(source, found, outcomes)
        yield from pairs.check_named_companion(found.plan.variant, validated)
        yield from pairs.check_matching_files(validated)

    def _unanswered(
        self,
        source: Source,
        answer: "TooMuch | FileNotSeen | InternalFault | WorkerDied",
        pairs: CompanionPairs,
        pool: "WorkerPool | None",
        in_workers: ValidateInWorkers | None,
    ) -> Iterator[Problem]:
        """Validate a file that no worker did, or report why it cannot be."""
        if isinstance(answer, (TooMuch, FileNotSeen)):
            self.redone.count(answer)
            yield from self._validated(source, pairs, pool, in_workers)
            return
        count = self.tally.begin(source.name)
        Outcomes(count).add(b"", FIRST_RECORD, 0)
        count.records = 1
        rules = self._plans.of(source).active_rules()
        collector = Collector(rules, source.name, 0)
        if isinstance(answer, InternalFault):
            code, help_ = "V902", "please report it as a bug, with the file"
            message = f"harpia-formats failed on the file: {answer.error}"
        else:
            code = "V901"
            message = "the file could not be validated: its worker process died twice"
            help_ = (
                "see that there is memory enough, or look for what is special about it"
            )
        collector.add(code, message, help_, collector.place(Cursor()))
        yield from self.tally.keep(count, collector.take())


def _is_little(inputs: Sequence[Input]) -> bool:
    """Return whether there is one input, a small file that is not compressed."""
    name = inputs[0]
    if len(inputs) > 1 or not isinstance(name, (str, PathLike)) or is_url(str(name)):
        return False
    if str(name).lower().endswith(SUFFIXES):
        return False
    try:
        path = Path(name)
        return path.is_file() and path.stat().st_size < LITTLE
    except (OSError, ValueError):
        return False
