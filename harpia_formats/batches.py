"""Have many small files judged elsewhere, several at a time, in order."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from harpia_formats.bytestream import SourceError
from harpia_formats.crew import Crew, Died, Ticket, Work, in_turn
from harpia_formats.source import Source

if TYPE_CHECKING:  # as before
    from harpia_formats.work import File, FoundFile, Job

#: A file of so many bytes is judged in ranges, if at all elsewhere.
SMALL = 8 * 1024 * 1024
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
    sources: Iterable[Source | SourceError], crew: Crew, job_of: "Callable[[], Job]"
) -> Iterator[Judged]:
    """Yield all sources in order, small files with what was found in them.

    Nothing is done elsewhere unless there are enough of them.
    """
    batches = _batches(sources)
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
    job = job_of()
    items = (
        (each, _work(job, each) if each.size else None)
        for each in chain(first, batches)
    )
    for each, ticket in in_turn(crew, items):
        if ticket is None:
            yield from _here([each])
        else:
            yield from _judged(each, ticket, crew, job)


def _here(batches: Iterable[_Batch]) -> Iterator[Judged]:
    """Yield sources that are to be judged here."""
    for each in batches:
        yield from ((source, None) for source in each.sources)


def _batches(sources: Iterable[Source | SourceError]) -> Iterator[_Batch]:
    held: list[Source | SourceError] = []
    size = 0
    for each in sources:
        own = _size_of(each)
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


def _size_of(source: Source | SourceError) -> int | None:
    """Return what the work on a source amounts to, None if it is no small file."""
    if isinstance(source, SourceError) or not isinstance(source.origin, Path):
        return None
    try:
        status = source.origin.stat()
    except OSError:
        return None
    if not S_ISREG(status.st_mode) or status.st_size >= SMALL:
        return None
    return status.st_size + FILE


def _work(job: "Job", batch: _Batch) -> Work:
    """Return the work on a batch of small files."""
    from harpia_formats.working import judged_files  # noqa: PLC0415 - only if there are many

    return judged_files, (job, tuple(map(_file, batch.sources)))


def _file(source: Source | SourceError) -> "File":
    assert isinstance(source, Source)  # noqa: S101 - so it was measured
    assert isinstance(source.origin, Path)  # noqa: S101 - likewise
    from harpia_formats.work import File  # noqa: PLC0415 - likewise

    return File(source.name, str(source.origin))


def _judged(batch: _Batch, ticket: Ticket, crew: Crew, job: "Job") -> Iterator[Judged]:
    """Yield the files of a batch; where a process dies of them, one by one."""
    try:
        yield from zip(batch.sources, crew.result(ticket), strict=True)
    except Died as died:
        if len(batch.sources) == 1:
            yield batch.sources[0], died
            return
        for each in batch.sources:
            alone = _Batch((each,), batch.size)
            yield from _judged(alone, crew.submit(_work(job, alone)), crew, job)
