"""Validate many small files in worker processes, in batches and in order."""

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.source import Source
from harpia_formats.files.workers.pool import (
    Task,
    WorkerDied,
    WorkerPool,
    answers_in_order,
)
from harpia_formats.formats.detection.splittable import splittable_size
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.report import FileCount
from harpia_formats.validation.merge.tally import count_findings, joined
from harpia_formats.validation.one_file import (
    FileSettings,
    names_of_files,
    note_end,
    opened,
    validate_open,
)
from harpia_formats.validation.parallel.range_worker import (
    NotDone,
    NotSeenError,
    answer_or_reason,
)
from harpia_formats.validation.plan.units import Demand, GroupKey, WholeFile
from harpia_formats.validation.single_objects import SingleObjects
from harpia_formats.validation.unit.collector import (
    DESCRIBED_LIMIT,
    GROUP_LIMIT,
    TooManyFindings,
)
from harpia_formats.validation.unit.findings import FileAnswer, FileResult, Findings
from harpia_formats.validation.unit.validators import SharedValidators

if TYPE_CHECKING:  # imported only if there are many files: start-up time
    from harpia_formats.validation.plan.file_plan import RunPlan


#: Bytes from which on a file is not validated as a whole by a worker.
SMALL = 8 * 1024 * 1024
#: The same for a cluster, where ranges are longer.
SMALL_FAR = 32 * 1024 * 1024
#: The time that a file costs besides its bytes, as bytes validated in that time.
FILE = 64 * 1024
#: Bytes of one of the first batches, and of small files that are worth a second
#: process.
BATCH, WORTH = 1024 * 1024, 8 * 1024 * 1024
#: Where there are many files, each batch has more than the one before it, since a task
#: costs as much as two files: by this share of all bytes before it, up to the most.
GROWTH, LARGEST = 1 / 4, 8 * 1024 * 1024

#: A source and the answer of the worker that validated it: `WorkerDied` if two workers
#: died of it, None if this process validates it.
Answered = tuple[Source | SourceError, "FileAnswer | WorkerDied | None"]


#: Returns the plan of a file.
PlanOf = Callable[[Source], "RunPlan"]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Small files that follow each other, or one source that is not a small file."""

    sources: tuple[Source | SourceError, ...]
    #: The work on them, in bytes; 0 if this process validates them.
    size: int = 0


def in_batches(
    sources: Iterable[Source | SourceError], pool: WorkerPool, plan_of: PlanOf
) -> Iterator[Answered]:
    """Yield all sources in order, small files with the answers of workers.

    `plan_of` returns the plan of each.
    Workers validate none unless there are enough of them.
    """
    batches = _batches(sources, is_far=pool.is_far)
    first, size = [], 0
    while size < WORTH and (batch := next(batches, None)):
        first.append(batch)
        size += batch.size
        if not batch.size:
            # This process validates it at once.
            size = 0
            yield from _without_answers(first)
            first = []
    if size < WORTH:
        yield from _without_answers(first)
        return
    if pool.is_far:
        _check_visible(pool, first)
    items = (
        (batch, _work(plan_of, batch, is_far=pool.is_far) if batch.size else None)
        for batch in chain(first, batches)
    )
    for batch, answers in answers_in_order(pool, items):
        if answers is None:
            yield from _without_answers([batch])
        elif isinstance(answers, WorkerDied):
            yield from _one_by_one(batch, answers, pool, plan_of)
        else:
            yield from zip(batch.sources, answers, strict=True)


def _check_visible(pool: WorkerPool, batches: Iterable[_Batch]) -> None:
    """Check that the workers see the first small file.

    Raises `EngineError` if they do not. Other files that a worker does not see are
    validated by this process.
    """
    sources = chain.from_iterable(batch.sources for batch in batches if batch.size)
    for source in sources:
        if isinstance(source, Source) and isinstance(source.origin, (Path, RemoteFile)):
            pool.check_visible(source.origin)
            return


def _without_answers(batches: Iterable[_Batch]) -> Iterator[Answered]:
    """Yield the sources of batches that this process validates."""
    for batch in batches:
        yield from ((source, None) for source in batch.sources)


def _batches(
    sources: Iterable[Source | SourceError], *, is_far: bool
) -> Iterator[_Batch]:
    """Yield sources in batches; later ones have more files where there are many."""
    held: list[Source | SourceError] = []
    size = before = 0
    for source in sources:
        own = _size_of(source, is_far=is_far)
        most = max(BATCH, min(LARGEST, int(before * GROWTH)))
        if own is None or size + own > most:
            if held:
                yield _Batch(tuple(held), size)
            before += size
            held, size = [], 0
        if own is None:
            yield _Batch((source,))
            continue
        held.append(source)
        size += own
    if held:
        yield _Batch(tuple(held), size)


def _size_of(source: Source | SourceError, *, is_far: bool) -> int | None:
    """Return the work on a source in bytes, None if it is no small file."""
    if isinstance(source, SourceError):
        return None
    size = splittable_size(source.origin)
    # One connection reads a remote file as fast as several.
    if size is None or (isinstance(source.origin, RemoteFile) and not is_far):
        return None
    return size + FILE if size < (SMALL_FAR if is_far else SMALL) else None


def _work(plan_of: PlanOf, batch: _Batch, *, is_far: bool) -> Task:
    """Return the work on a batch of small files."""
    files = tuple(_file(source, plan_of, is_far=is_far) for source in batch.sources)
    return answer_files, (files,)


def _file(
    source: Source | SourceError, plan_of: PlanOf, *, is_far: bool
) -> "WholeFile":
    assert isinstance(source, Source)  # noqa: S101 - only such sources have a size
    from harpia_formats.validation.plan.units import WholeFile  # noqa: PLC0415 - only if there are many files: start-up time

    origin, run = source.origin, plan_of(source)
    size = splittable_size(origin) if is_far else None
    if isinstance(origin, Path):
        # A worker may have another working folder.
        origin = origin.absolute()
    assert isinstance(origin, (Path, RemoteFile))  # noqa: S101 - only such sources have a size
    return WholeFile(run, source.name, origin, size, source.is_found, source.encoding)


def _one_by_one(
    batch: _Batch, died: WorkerDied, pool: WorkerPool, plan_of: PlanOf
) -> Iterator[Answered]:
    """Yield the files of a batch that killed its workers, each validated alone."""
    if len(batch.sources) == 1:
        yield batch.sources[0], died
        return
    for source in batch.sources:
        task = _work(plan_of, _Batch((source,)), is_far=pool.is_far)
        try:
            (answer,) = pool.result(pool.submit(task))
        except WorkerDied as again:
            answer = again
        yield source, answer


_End = TypeVar("_End")


class _Kept(threading.local):
    """The validators of the small files of a run, which a thread keeps."""

    def __init__(self) -> None:
        self.shared = SharedValidators()
        self.objects = SingleObjects(self.shared)


#: It changes speed only: validators that learned give the verdicts of new ones.
_kept = _Kept()


def answer_files(files: tuple[WholeFile, ...]) -> list[FileAnswer]:
    """Return what was found in each file, or why nothing was."""
    answers = []
    for file in files:
        answer = answer_or_reason(lambda: _whole(file))  # noqa: B023 - called at once
        if isinstance(answer, NotDone):
            # The validators may be left in an unfinished state.
            _kept.shared.forget()
        answers.append(answer)
    return answers


@dataclass(slots=True)
class _FindingLog:
    """The findings of a whole file, limited to what is worth sending."""

    count: FileCount
    #: Examples that are wanted of each group; 0 for all.
    examples: int
    found: list[Findings] = field(default_factory=list)
    _described: int = 0
    _times: dict[GroupKey, int] = field(default_factory=dict)
    _satisfied: set[GroupKey] = field(default_factory=set)

    def demand(self) -> Demand:
        """Return which problems need no description any more."""
        return Demand(self._satisfied)

    def take(self, flow: Generator[Findings, None, _End]) -> _End:
        """Add all that `flow` yields; return what it returns.

        Raises `TooManyFindings`.
        """
        while True:
            try:
                self._add(next(flow))
            except StopIteration as stop:
                end: _End = stop.value
                return end

    def _add(self, findings: Findings) -> None:
        count_findings(self.count, findings)
        if not findings:
            return
        self.found.append(findings)
        self._described += sum(map(len, findings.described))
        for row in findings.described:
            for group, _ in row:
                times = self._times[group] = self._times.get(group, 0) + 1
                if self.examples and times >= self.examples:
                    self._satisfied.add(group)
        if self._described > DESCRIBED_LIMIT or len(self._times) > GROUP_LIMIT:
            raise TooManyFindings


def _source_of(file: WholeFile) -> Source:
    return Source(
        file.name, file.origin, file.is_found, all_unpackers(), encoding=file.encoding
    )


def _whole(file: WholeFile) -> FileResult:
    """Validate a file from its beginning to its end."""
    run = file.run
    count, source = FileCount(file.name), _source_of(file)
    if file.size is not None and splittable_size(file.origin) != file.size:
        raise NotSeenError(f"it does not have {file.size:,} bytes")
    result = _kept.objects.result(source, run)
    if result is not None:
        return result
    log = _FindingLog(count, run.options.examples)
    with opened(source, count, run.block_bytes()) as open_file:
        settings = FileSettings(demand=log.demand, shared=_kept.shared)
        local = log.take(validate_open(open_file, run, settings))
        note_end(open_file, local.merge)
        merge, error = local.merge, open_file.blocks.error
    if file.size is not None and count.reason is not None:
        raise NotSeenError(count.reason)
    return FileResult(
        merge.plan,
        count,
        joined(log.found),
        bytes(merge.outcomes.invalid.bits),
        bytes(merge.outcomes.undetermined.bits),
        until=merge.records,
        whole=not (merge.stopped or merge.gap or error),
        names=names_of_files(local, file.name),
        counts=merge.counts,
        pending=merge.pending,
    )
