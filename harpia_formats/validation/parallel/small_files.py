"""Have many small files validated by other processes, some at a time, in order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.detection.splittable import splittable_size
from harpia_formats.io.reader import SourceError
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import Source
from harpia_formats.workers.ordered import submit_in_order
from harpia_formats.workers.pool import PendingTask, Task, WorkerDied, WorkerPool

if TYPE_CHECKING:  # imported only if there are many files: start-up time
    from harpia_formats.validation.plan.run_plan import RunPlan
    from harpia_formats.validation.plan.units import WholeFile
    from harpia_formats.validation.unit.result import FileAnswer

#: A file of so many bytes is not validated as a whole by another process.
SMALL = 8 * 1024 * 1024
#: The same for a cluster, where ranges are longer.
SMALL_FAR = 32 * 1024 * 1024
#: What a file costs besides its bytes, in bytes that are validated meanwhile.
FILE = 64 * 1024
#: Bytes of a batch, and of small files that are worth a second process.
BATCH, WORTH = 1024 * 1024, 8 * 1024 * 1024

#: A source and the answer of the worker that validated it; `WorkerDied` if it
#: did twice, None if no worker has it.
Answered = tuple[Source | SourceError, "FileAnswer | WorkerDied | None"]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Small files that follow each other, or one source that is not a small file."""

    sources: tuple[Source | SourceError, ...]
    #: The work on them, in bytes; 0 if this process validates them.
    size: int = 0


def in_batches(
    sources: Iterable[Source | SourceError], pool: WorkerPool, run: "RunPlan"
) -> Iterator[Answered]:
    """Yield all sources in order, small files with the answers of workers.

    Workers validate none unless there are enough of them.
    """
    batches = _batches(sources, is_far=pool.is_far)
    first, size = [], 0
    while size < WORTH and (batch := next(batches, None)):
        first.append(batch)
        size += batch.size
        if not batch.size:
            # It is not kept waiting for what comes after it.
            size = 0
            yield from _here(first)
            first = []
    if size < WORTH:
        yield from _here(first)
        return
    if pool.is_far:
        _see_first(pool, first)
    items = (
        (each, _work(run, each, is_far=pool.is_far) if each.size else None)
        for each in chain(first, batches)
    )
    for each, ticket in submit_in_order(pool, items):
        if ticket is None:
            yield from _here([each])
        else:
            yield from _answers(each, ticket, pool, run)


def _see_first(pool: WorkerPool, batches: Iterable[_Batch]) -> None:
    """Have the workers look at the first small file.

    Raises `EngineError` if they do not see it. Other files that a worker does not see
    are validated by this process.
    """
    for each in chain.from_iterable(each.sources for each in batches if each.size):
        if isinstance(each, Source) and isinstance(each.origin, (Path, RemoteFile)):
            pool.check_visible(each.origin)
            return


def _here(batches: Iterable[_Batch]) -> Iterator[Answered]:
    """Yield sources that this process validates."""
    for each in batches:
        yield from ((source, None) for source in each.sources)


def _batches(
    sources: Iterable[Source | SourceError], *, is_far: bool
) -> Iterator[_Batch]:
    held: list[Source | SourceError] = []
    size = 0
    for each in sources:
        own = _size_of(each, is_far=is_far)
        if own is None or size + own > BATCH:
            if held:
                yield _Batch(tuple(held), size)
            held, size = [], 0
        if own is None:
            yield _Batch((each,))
            continue
        held.append(each)
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


def _work(run: "RunPlan", batch: _Batch, *, is_far: bool) -> Task:
    """Return the work on a batch of small files."""
    from harpia_formats.validation.parallel.worker import answer_files  # noqa: PLC0415 - only if there are many files: start-up time

    files = tuple(_file(each, is_far=is_far) for each in batch.sources)
    return answer_files, (run, files)


def _file(source: Source | SourceError, *, is_far: bool) -> "WholeFile":
    assert isinstance(source, Source)  # noqa: S101 - so it was measured
    from harpia_formats.validation.plan.units import WholeFile  # noqa: PLC0415 - only if there are many files: start-up time

    origin = source.origin
    size = splittable_size(origin) if is_far else None
    if isinstance(origin, RemoteFile):
        return WholeFile(source.name, origin, size)
    assert isinstance(origin, Path)  # noqa: S101 - so it was measured
    # A worker may have another working folder.
    return WholeFile(source.name, origin.absolute(), size)


def _answers(
    batch: _Batch, ticket: PendingTask, pool: WorkerPool, run: "RunPlan"
) -> Iterator[Answered]:
    """Yield the files of a batch; where a process dies of them, one by one."""
    try:
        yield from zip(batch.sources, pool.result(ticket), strict=True)
    except WorkerDied as died:
        if len(batch.sources) == 1:
            yield batch.sources[0], died
            return
        for each in batch.sources:
            alone = _Batch((each,), batch.size)
            ticket = pool.submit(_work(run, alone, is_far=pool.is_far))
            yield from _answers(alone, ticket, pool, run)
