"""Repair the files of a run: find the repairs of each, then write it or show them."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.file_sink import write_file
from harpia_formats.files.io.inputs import (
    Input,
    checked_inputs,
    close_copies,
    is_one_file,
    rewind_inputs,
    sources_of_inputs,
)
from harpia_formats.files.io.outputs import FilesRead
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.source import FileState, Source, state_of_path
from harpia_formats.formats.rules import NoRuleLeft
from harpia_formats.model.format import Format
from harpia_formats.model.problem import OptionError
from harpia_formats.model.report import FileCount, Report
from harpia_formats.validation.companion_files import named_companion
from harpia_formats.validation.one_file import OpenFile, opened
from harpia_formats.validation.options import Options
from harpia_formats.validation.redaction import redaction_of
from harpia_formats.validation.repair.companions import (
    ChangedFile,
    Companions,
    Digesting,
    followed_by,
)
from harpia_formats.validation.repair.find import (
    Job,
    Means,
    blocks_again,
    find_repairs,
    job_for,
    name_and_schema,
)
from harpia_formats.validation.repair.found_repairs import RepairStore
from harpia_formats.validation.repair.repaired_file import (
    Change,
    FixOptions,
    RepairedFile,
    UnpackedError,
    check_combination,
    checked_output,
    inputs_to_repair,
    is_same_file,
    not_repaired,
    refused_unpackers,
    why_not_in_place,
    why_not_twice,
)
from harpia_formats.validation.run import RunBaseline, Validation
from harpia_formats.validation.run_plans import FileOptions
from harpia_formats.validation.unit.validators import SharedValidators

if TYPE_CHECKING:  # only for several processes
    from harpia_formats.files.workers.pool import WorkerPool
    from harpia_formats.validation.redaction.redacted_reports import Redaction


#: Bytes of all files together from which on worker processes are used.
LITTLE = 1024 * 1024


class Fixing:
    """One run of repairs over some inputs: iterate for the files.

    Raises when it is made: what `Validation` raises, `OptionError` for options that
    exclude each other, and `SinkError` for an output that cannot be written.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        options: Options,
        fix: FixOptions,
        file_options: FileOptions | None = None,
    ) -> None:
        """Take the options of the run, and what returns those of one file."""
        check_combination(options, fix)
        self._inputs = checked_inputs(inputs)
        self._options, self._fix = options, fix
        # Refused before a file is written, and left as they are in a folder of data.
        self._baseline = RunBaseline(options)
        self._output = ""
        # A file that is its own output is rewritten in place.
        if fix.output is not None:
            place = checked_output(fix.output, overwrite=fix.overwrite)
            read = (options.schema, options.companion, options.baseline)
            FilesRead(others=read).check(place)
            self._output = "" if is_same_file(self._inputs[0], place) else place
        self._file_options = file_options
        self._schema = name_and_schema(options.schema)
        self._job = self._new_job(options)
        #: The jobs of further options, by the identity of these, which are held.
        self._jobs: dict[int, tuple[Options, Job]] = {}
        self._shared = SharedValidators()
        self._companions = Companions(None)
        self._redaction = redaction_of(options, self._schema and self._schema[1])

    @property
    def output(self) -> str:
        """The place of the output, "" if files are rewritten in place, or none is."""
        return self._output

    @property
    def _is_in_place(self) -> bool:
        """Whether files are rewritten in place."""
        return not (self._output or self._fix.diff)

    def _new_job(self, options: Options) -> Job:
        return job_for(options, self._schema, unsafe=self._fix.unsafe)

    def _job_of(self, source: Source) -> Job | None:
        """Return by what a file is repaired, None if its options leave it as it is."""
        if self._file_options is None:
            return self._job
        options = self._file_options(source)
        if options is None:
            return None
        if id(options) not in self._jobs:
            try:
                self._jobs[id(options)] = options, self._new_job(options)
            except NoRuleLeft:
                return None
        return self._jobs[id(options)][1]

    def __iter__(self) -> Generator[RepairedFile, None, None]:
        if self._redaction is None:
            return self._files()

        return redacted_files(self._files(), self._redaction)

    def _files(self) -> Generator[RepairedFile, None, None]:
        options = self._options
        exclusion = Exclusion(options.exclude, may_leave_none=options.allow_no_files)
        sources: Iterable[Source | SourceError]
        found = sources_of_inputs(self._inputs, exclusion, refused_unpackers())
        sources = self._baseline.data_files(found)
        if self._fix.output is not None:  # it may be the only file itself
            sources = list(sources)
            if len(sources) > 1:
                raise OptionError(
                    f"`--output` takes the repairs of one file, and there are "
                    f"{len(sources):,}; without it each is rewritten in place"
                )
        companions = self._companions = Companions(self._given_companion())
        with self._pool() as pool:
            for source in sources:
                if isinstance(source, SourceError):
                    yield not_repaired(source.path, source.reason, is_unread=True)
                elif (job := self._job_of(source)) is not None:
                    yield from self._file(source, job, pool)
                    for held in companions.ready():
                        yield from self._file(*held, is_late=True)
        for held in companions.rest():
            yield from self._file(*held, is_late=True)
        yield from self._file_of_given()

    def unfollowed(self) -> list[ChangedFile]:
        """Return the repaired files with a document that could not follow them.

        It is for the end of the run: the digest of such a file in the document that the
        options name, or in one next to it, is out of date.
        """
        return list(self._companions.unmet())

    def _given_companion(self) -> Source | None:
        """Return the document that the options name, None if nothing follows there.

        Raises `CompanionError` if it cannot be opened.
        """
        given = self._options.companion
        return None if given is None or self._output else named_companion(given)

    def _file_of_given(self) -> Iterator[RepairedFile]:
        """Let the document that the options name follow if it is not in the run."""
        companions = self._companions
        given = companions.given
        if given is None or companions.has_given or not companions.is_changed:
            return
        if self._fix.diff or not why_not_in_place(given):
            job = self._new_job(replace(self._options, format=None))
            only = msgspec.structs.replace(job.settings, codes=frozenset[str]())
            job = msgspec.structs.replace(job, settings=only)
            yield from self._file(given, job, is_late=True)

    def _pool(self) -> "AbstractContextManager[WorkerPool | None]":
        """Return the worker processes, None if this process does all the work."""
        options = self._options
        is_far = options.executor is not None or options.engine is not None
        if not is_far and (options.jobs == 1 or _is_little(self._inputs)):
            return nullcontext()
        from harpia_formats.files.workers.pool import open_pool  # noqa: PLC0415 - only for several processes

        return open_pool(options)

    def _file(
        self,
        source: Source,
        job: Job,
        pool: "WorkerPool | None" = None,
        *,
        is_late: bool = False,
    ) -> Iterator[RepairedFile]:
        """Repair one file; yield what was done while it can be asked for it.

        Unless it `is_late`, nothing is yielded for a document that is to follow others.
        """
        reason = why_not_twice(source) if self._is_in_place else ""
        if reason:
            yield not_repaired(source.name, reason)
            return
        origin = source.origin
        follow_of = partial(self._companions.repairs, source, job.following)
        means = Means(self._shared, self._options.progress, pool, follow_of)
        try:
            state = state_of_path(origin) if isinstance(origin, Path) else None
            with RepairStore(source.name) as store:
                count = FileCount(source.name)
                with opened(source, count) as file:
                    done = self._repaired(
                        file, job, store, state, means, is_late=is_late
                    )
                    if done is not None:
                        yield done
        except SourceError as error:
            yield not_repaired(source.name, error.reason, is_unread=True)
        except OSError as error:
            yield not_repaired(source.name, error_reason(error), is_unread=True)

    def _repaired(  # noqa: PLR0913 - a file has so many parts
        self,
        file: OpenFile,
        job: Job,
        store: RepairStore,
        state: FileState | None,
        means: Means,
        *,
        is_late: bool,
    ) -> RepairedFile | None:
        """Find the repairs of a file, and write it unless only a diff is wanted.

        Return None for a document that is to follow others, and for a file that is
        passed over because it is in no known format.
        """
        source, name = file.source, file.source.name
        blocks = partial(blocks_again, file, state)
        try:
            found = find_repairs(file, job, store, means)
            error = file.blocks.error
            if error is not None:
                is_unread = not isinstance(error, UnpackedError)
                return not_repaired(name, error.reason, is_unread=is_unread)
            is_passed_over = found.format is None and job.skips_unrecognised
            may_wait = not (is_late or self._output)
            if is_passed_over or (
                may_wait and self._companions.hold(source, job, found)
            ):
                return None
            if self._is_in_place and store.changes:
                reason = why_not_in_place(source)
                if reason:
                    return not_repaired(name, reason)
            done = RepairedFile(name, store, job.rules, blocks)
            if store.changes or self._output:
                self._write(done, source, blocks(), store, found.format)
        except SourceError as error:
            return not_repaired(name, error.reason)
        except SinkError as error:
            return not_repaired(name, error.outcome)
        return done

    def _write(
        self,
        done: RepairedFile,
        source: Source,
        blocks: Iterable[bytes],
        store: RepairStore,
        format_: Format | None,
    ) -> None:
        """Write a file unless only a diff is wanted; note its digests if they matter.

        Raises `SinkError`, and `SourceError` if the file has changed since its repairs
        were found.
        """
        companion = followed_by(format_)
        algorithms: tuple[str, ...] = ()
        if companion is not None and store.changes and self._may_follow():
            algorithms = self._companions.algorithms(source, companion)
        digesting = Digesting(algorithms)
        repaired = digesting.repaired(blocks, store.edits())
        if not self._fix.diff:
            done.written = self._output or str(source.origin)
            overwrite = self._fix.overwrite or not self._output
            write_file(done.written, repaired, overwrite=overwrite)
        elif algorithms:
            deque(repaired, maxlen=0)
        if companion is not None and store.changes:
            changed = ChangedFile(done.path, companion, digesting.digests())
            self._companions.add(source, changed)

    def _may_follow(self) -> bool:
        """Return whether a document of the run may follow the repairs of a file."""
        is_alone = self._options.companion is None and is_one_file(self._inputs)
        return not (self._output or is_alone)


def _is_little(inputs: Sequence[Input]) -> bool:
    """Return whether there is one input, a small file."""
    first = inputs[0]
    if len(inputs) > 1 or not isinstance(first, (str, PathLike)):
        return False
    try:
        path = Path(first)
        return path.is_file() and path.stat().st_size < LITTLE
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class FixReport:
    """What a repair changed, and what is still wrong."""

    #: Every change, in order of the places in each file. Documents that follow the
    #: repairs of others come after these.
    changes: tuple[Change, ...]
    #: The files that were written.
    written: tuple[str, ...]
    #: The files that could not be repaired, each with the reason.
    failures: tuple[tuple[str, str], ...]
    #: The changes as a unified diff, if that was asked for.
    diff: bytes = b""
    #: The report of the validation after the repair; None with a diff, or without an
    #: output.
    report: Report | None = None
    #: Repaired files of which a digest in another file, such as an aggregate, is out of
    #: date: it is next to them, or was named, and no document among the inputs could
    #: follow. With an output it is the input, which such a digest is still of.
    unfollowed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every file could be repaired, and no error is left."""
        return not self.failures and (self.report is None or self.report.ok)


def fixed(inputs: Sequence[Input], options: Options, fix: FixOptions) -> FixReport:
    """Repair inputs, and return the report; the changes are held in memory.

    Raises what `Fixing` and `Validation` raise, and `OptionError` for options of the
    report with a diff, which has none.
    """
    for name in ("min_records", "write_baseline"):
        if fix.diff and getattr(options, name):
            raise OptionError(f"{name} and diff cannot be combined: nothing is counted")
    kept = inputs_to_repair(inputs, fix)
    try:
        return _fixed(kept, options, fix)
    finally:
        close_copies(inputs, kept)


def _fixed(inputs: list[Input], options: Options, fix: FixOptions) -> FixReport:
    """Repair inputs that can be read twice if they are to be validated then."""
    changes: list[Change] = []
    written: list[str] = []
    failures: list[tuple[str, str]] = []
    diff = b""
    fixing = Fixing(inputs, options, fix)
    for file in fixing:
        changes += file.changes()
        if file.reason:
            failures.append((file.path, file.reason))
        if file.written:
            written.append(file.written)
        if fix.diff:
            diff += b"".join(file.diff())
    unfollowed = tuple(one.path for one in fixing.unfollowed())
    found = FixReport(
        tuple(changes), tuple(written), tuple(failures), diff, unfollowed=unfollowed
    )
    left: Sequence[Input] = written if fixing.output else inputs
    if fix.diff or not left:
        return found
    rewind_inputs(left)
    run = Validation(left, options)
    problems = tuple(run)
    return replace(found, report=replace(run.report(), problems=problems))


def redacted_files(
    files: Generator[RepairedFile, None, None], redaction: "Redaction"
) -> Generator[RepairedFile, None, None]:
    """Yield repaired files with changes, reasons and errors without values.

    `files` is closed when this is.
    """
    from harpia_formats.validation.redaction.redacted_reports import (  # noqa: PLC0415 - imported only for `redact`
        errors_without_values,
    )

    def redact(change: Change) -> Change:
        pointer = redaction.pointer(change.pointer)
        return replace(change, pointer=pointer, what="changed")

    try:
        with errors_without_values(redaction):
            for file in files:
                file.redact = redact
                file.reason = redaction.reason(file.reason)
                yield file
    finally:
        files.close()
