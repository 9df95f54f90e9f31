"""Have many small files judged elsewhere, several at a time, in order."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.detection.splittable import splittable_size
from harpia_formats.io.reader import SourceError
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import Source
from harpia_formats.workers.ordered import in_turn
from harpia_formats.workers.pool import Died, Ticket, Work, WorkerPool

if TYPE_CHECKING:  # as before
    from harpia_formats.validation.parallel.messages import File, FoundFile, Job

#: A file of so many bytes is judged in ranges, if at all elsewhere.
SMALL = 8 * 1024 * 1024
#: The same on other machines, where no shorter one is judged in ranges.
SMALL_FAR = 32 * 1024 * 1024
#: What a file costs besides its bytes, in bytes that are judged meanwhile.
FILE = 64 * 1024
#: Bytes of a batch, and of small files that are worth a second process.
BATCH, WORTH = 1024 * 1024, 8 * 1024 * 1024

#: What comes next, and what was found in it if it was judged elsewhere; of a file
#: whose process died, the reason.
Judged = tuple[Source | SourceError, "FoundFile | Died | None"]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Small files that follow each other, or something that is no small file."""

    sources: tuple[Source | SourceError, ...]
    #: What their work amounts to, in bytes; 0 if it is not done elsewhere.
    size: int = 0


def in_batches(
    sources: Iterable[Source | SourceError],
    pool: WorkerPool,
    job_of: "Callable[[], Job]",
) -> Iterator[Judged]:
    """Yield all sources in order, small files with what was found in them.

    Nothing is done elsewhere unless there are enough of them.
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
    job = job_of()
    items = (
        (each, _work(job, each, is_far=pool.is_far) if each.size else None)
        for each in chain(first, batches)
    )
    for each, ticket in in_turn(pool, items):
        if ticket is None:
            yield from _here([each])
        else:
            yield from _judged(each, ticket, pool, job)


def _see_first(pool: WorkerPool, batches: Iterable[_Batch]) -> None:
    """Have those who work look at the first small file; raises `EngineError`.

    Of others that they do not see the work is handed back.
    """
    for each in chain.from_iterable(each.sources for each in batches if each.size):
        if isinstance(each, Source) and isinstance(each.origin, (Path, RemoteFile)):
            pool.see(each.origin)
            return


def _here(batches: Iterable[_Batch]) -> Iterator[Judged]:
    """Yield sources that are to be judged here."""
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
    """Return what the work on a source amounts to, None if it is no small file."""
    if isinstance(source, SourceError):
        return None
    size = splittable_size(source.origin)
    # Of a remote file one connection gives as much as several.
    if size is None or (isinstance(source.origin, RemoteFile) and not is_far):
        return None
    return size + FILE if size < (SMALL_FAR if is_far else SMALL) else None


def _work(job: "Job", batch: _Batch, *, is_far: bool) -> Work:
    """Return the work on a batch of small files."""
    from harpia_formats.validation.parallel.worker import judged_files  # noqa: PLC0415 - only if there are many

    files = tuple(_file(each, is_far=is_far) for each in batch.sources)
    return judged_files, (job, files)


def _file(source: Source | SourceError, *, is_far: bool) -> "File":
    assert isinstance(source, Source)  # noqa: S101 - so it was measured
    from harpia_formats.validation.parallel.messages import File  # noqa: PLC0415 - likewise

    origin = source.origin
    size = splittable_size(origin) if is_far else None
    if isinstance(origin, RemoteFile):
        return File(source.name, "", origin, size)
    assert isinstance(origin, Path)  # noqa: S101 - so it was measured
    return File(source.name, str(origin.absolute()), None, size)


def _judged(
    batch: _Batch, ticket: Ticket, pool: WorkerPool, job: "Job"
) -> Iterator[Judged]:
    """Yield the files of a batch; where a process dies of them, one by one."""
    try:
        yield from zip(batch.sources, pool.result(ticket), strict=True)
    except Died as died:
        if len(batch.sources) == 1:
            yield batch.sources[0], died
            return
        for each in batch.sources:
            alone = _Batch((each,), batch.size)
            ticket = pool.submit(_work(job, alone, is_far=pool.is_far))
            yield from _judged(alone, ticket, pool, job)
