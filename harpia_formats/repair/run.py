"""Repair the files of a run: find the repairs of each, then write it or show them."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harpia_formats.io.exclude import Exclusion
from harpia_formats.io.file_state import FileState, state_of_path
from harpia_formats.io.inputs import Input, checked_inputs, sources_of_inputs
from harpia_formats.io.open_sink import open_sink
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.sink import SinkError
from harpia_formats.io.source import Source
from harpia_formats.model.errors import OptionError
from harpia_formats.model.format import Format
from harpia_formats.model.report import FileCount
from harpia_formats.registry import all_formats, formats_named, rules_for
from harpia_formats.repair.consumer import RepairConsumer
from harpia_formats.repair.edits import Edit
from harpia_formats.repair.options import FixOptions, check_combination
from harpia_formats.repair.proposals import RepairSettings
from harpia_formats.repair.reread import MARK_BYTES, blocks_again, has_mark
from harpia_formats.repair.result import RepairedFile, not_repaired
from harpia_formats.repair.rows import PlacedChange, PlacedRepair
from harpia_formats.repair.splice import spliced
from harpia_formats.repair.store import RepairStore
from harpia_formats.repair.table import BYTE_ORDER_MARK
from harpia_formats.repair.target import checked_output, is_same_file, why_not_in_place
from harpia_formats.rules import NoRuleLeft, Rule, selected_rules
from harpia_formats.schema.load import Schema
from harpia_formats.validation.one_file import (
    FileSettings,
    OpenFile,
    opened,
    validate_open,
)
from harpia_formats.validation.options import Options
from harpia_formats.validation.plan.run_plan import RunPlan, run_plan_of
from harpia_formats.validation.plan.units import Demand
from harpia_formats.validation.run_plans import FileOptions
from harpia_formats.validation.unit.validators import SharedValidators

if TYPE_CHECKING:  # only for several processes
    from harpia_formats.workers.pool import WorkerPool

#: Rules across records, of which nothing is repaired.
_across = "X"
#: Bytes of all files together from which on worker processes are used.
LITTLE = 1024 * 1024


class _Job(msgspec.Struct, frozen=True):
    """By what files of equal options are repaired."""

    plan: RunPlan
    settings: RepairSettings
    #: All rules by code.
    rules: Mapping[str, Rule]


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
        self._output = ""
        # A file that is its own output is rewritten in place.
        if fix.output is not None and not is_same_file(self._inputs[0], fix.output):
            self._output = checked_output(fix.output, overwrite=fix.overwrite)
        self._file_options = file_options
        self._schema = _given_schema(options.schema)
        self._job = self._job_for(options)
        #: The jobs of further options, by the identity of these, which are held.
        self._jobs: dict[int, tuple[Options, _Job]] = {}
        self._shared = SharedValidators()

    def _job_for(self, options: Options) -> "_Job":
        """Return by what files with these options are repaired.

        Raises `UnknownRule`, `NoRuleLeft` and `UnknownFormat`.
        """
        formats = _formats_of(options.format)
        rules = rules_for(formats, [*options.select, *options.ignore])
        selected = selected_rules(
            rules, list(options.select), list(options.ignore), lint=self._fix.unsafe
        )
        # All rules on single rows are active, whichever may be repaired: what is wrong
        # with a row decides whether it can be.
        active = {
            code: rule
            for code, rule in rules.items()
            if not (rule.lint or code.startswith(_across))
        }
        plain = replace(options, select=(), ignore=(), lint=False, examples=1)
        plan = run_plan_of(plain, active, self._schema, formats, for_reading=True)
        return _Job(plan, RepairSettings(selected, self._fix.unsafe), rules)

    def _job_of(self, source: Source) -> "_Job | None":
        """Return by what a file is repaired, None if its options leave it as it is."""
        if self._file_options is None:
            return self._job
        options = self._file_options(source)
        if options is None:
            return None
        if id(options) not in self._jobs:
            try:
                self._jobs[id(options)] = options, self._job_for(options)
            except NoRuleLeft:
                return None
        return self._jobs[id(options)][1]

    def __iter__(self) -> Generator[RepairedFile, None, None]:
        exclusion = Exclusion(self._options.exclude)
        sources: Iterable[Source | SourceError]
        sources = sources_of_inputs(self._inputs, exclusion)
        if self._output:
            sources = list(sources)
            if len(sources) > 1:
                raise OptionError(
                    f"--output takes the repairs of one file, and there are "
                    f"{len(sources):,}; without it each is rewritten in place"
                )
        with self._pool() as pool:
            for source in sources:
                if isinstance(source, SourceError):
                    yield not_repaired(source.path, source.reason, is_unread=True)
                elif (job := self._job_of(source)) is not None:
                    yield from self._file(source, job, pool)

    def _pool(self) -> "AbstractContextManager[WorkerPool | None]":
        """Return the worker processes, None if this process does all the work."""
        options = self._options
        is_far = options.executor is not None or options.engine is not None
        if not is_far and (options.jobs == 1 or _is_little(self._inputs)):
            return nullcontext()
        from harpia_formats.workers.pool import open_pool  # noqa: PLC0415 - only for several processes

        return open_pool(options.jobs, options.executor, options.engine)

    def _file(
        self, source: Source, job: "_Job", pool: "WorkerPool | None"
    ) -> Iterator[RepairedFile]:
        """Repair one file; yield what was done while it can be asked for it."""
        is_in_place = not (self._output or self._fix.diff)
        reason = why_not_in_place(source) if is_in_place else ""
        if reason:
            yield not_repaired(source.name, reason)
            return
        origin = source.origin
        try:
            state = state_of_path(origin) if isinstance(origin, Path) else None
            with RepairStore(source.name) as store:
                count = FileCount(source.name)
                with opened(source, count) as file:
                    yield self._repaired(file, job, store, state, pool)
        except SourceError as error:
            yield not_repaired(source.name, error.reason, is_unread=True)
        except OSError as error:
            yield not_repaired(source.name, error_reason(error), is_unread=True)

    def _repaired(
        self,
        file: OpenFile,
        job: "_Job",
        store: RepairStore,
        state: FileState | None,
        pool: "WorkerPool | None",
    ) -> RepairedFile:
        """Find the repairs of a file, and write it unless only a diff is wanted."""
        name = file.source.name
        try:
            self._find(file, job, store, pool)
            if file.blocks.error is not None:
                return not_repaired(name, file.blocks.error.reason, is_unread=True)
            blocks = partial(blocks_again, file, state)
            found = RepairedFile(name, store, job.rules, blocks)
            if not self._fix.diff and (store.changes or self._output):
                found.written = self._output or str(file.source.origin)
                self._write(found.written, blocks(), store.edits())
        except SourceError as error:
            return not_repaired(name, error.reason)
        except SinkError as error:
            return not_repaired(name, f"nothing was written: {error.reason}")
        return found

    def _find(
        self,
        file: OpenFile,
        job: "_Job",
        store: RepairStore,
        pool: "WorkerPool | None",
    ) -> None:
        """Store the repairs of a file."""
        consumer = RepairConsumer(job.settings, store)
        in_workers = None
        if pool is not None:
            from harpia_formats.repair.large_file import RepairWork  # noqa: PLC0415 - only for several processes

            in_workers = RepairWork(pool, consumer).rows
        # Nothing is described: what is found is reported when it is validated again.
        known = Demand(satisfied_rest=frozenset(job.plan.rules))
        settings = FileSettings(
            lambda: known,
            consumer,
            in_workers=in_workers,
            progress=self._options.progress,
            # The bytes of a stream are kept, to be read again when it is written.
            has_companion=True,
            shared=self._shared,
        )
        flow = validate_open(file, job.plan, settings)
        while True:
            try:
                next(flow)
            except StopIteration as stop:
                consumer.finish(stop.value.validators)
                break
        if BYTE_ORDER_MARK in job.settings.codes and has_mark(file):
            what = "dropped the byte order mark"
            change = PlacedChange(BYTE_ORDER_MARK, 1, 1, 0, "", what)
            store.add(PlacedRepair((Edit(0, MARK_BYTES, b""),), (change,)))

    def _write(
        self, place: str, blocks: Iterable[bytes], edits: Iterable[Edit]
    ) -> None:
        """Write the repaired file; raises `SinkError` and `SourceError`.

        Reading `blocks` to their end raises the latter if the file has changed since
        its repairs were found.
        """
        overwrite = self._fix.overwrite or not self._output
        sink = open_sink(place, overwrite=overwrite)
        try:
            for data in spliced(blocks, edits):
                sink.write(data)
            sink.commit()
        except BaseException:
            sink.discard()
            raise


def _given_schema(given: Any) -> tuple[str, Schema] | None:
    """Return the name and content of the user's schema, None without one."""
    if given is None:
        return None
    from harpia_formats.validation.unit.given_schema import given_schema  # noqa: PLC0415 - only with a schema of the user

    checked = given_schema(given)
    return Path(checked.name).name, checked.schema


def _formats_of(name: str | None) -> tuple[Format, ...]:
    """Return the formats called `name`, all without a name. Raises `UnknownFormat`."""
    return tuple(all_formats().values()) if name is None else formats_named(name)


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
