"""Ranges of a file of lines, and the work on them in several processes.

A range of which there is anything to say is not converted here: it is handed back, and
goes the way that a whole file goes.
"""

import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any, Self

from harpia_formats.bulk import Bulk
from harpia_formats.choices import Choices
from harpia_formats.contract import record_schema
from harpia_formats.detection import Variant
from harpia_formats.exact import decode
from harpia_formats.format import Container
from harpia_formats.framing import Chunk, Cursor
from harpia_formats.identity import Identity
from harpia_formats.judge import Brief, Judge
from harpia_formats.notes import Note, Unconvertible
from harpia_formats.pairing import Pairing
from harpia_formats.registry import all_formats, spoke_of
from harpia_formats.spoke import Row
from harpia_formats.taking import HEADED
from harpia_formats.writers import joined

#: PR_SET_PDEATHSIG, see prctl(2).
_DEATH_SIGNAL = 1
#: Bytes of a range, and of the pieces that are judged at once.
RANGE, PIECE = 8 * 1024 * 1024, 64 * 1024
#: How many times as long as a range its rows may be in another format; where they
#: are longer it is done where they need not be kept.
MOST = 4
#: Ranges that wait for each process.
AHEAD = 3


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done with every range: plain data, the same for all of them."""

    path: str
    #: The format of the rows, and which of its dialects.
    source: str
    dialect: int
    target: str
    choices: Choices
    separator: bytes
    max_row_bytes: int
    #: Where rows are put for whoever hands out the work: quicker than a pipe.
    folder: str


@dataclass(frozen=True, slots=True)
class Range:
    """Some whole lines of a file."""

    begin: int
    end: int
    #: Records before it, where rows need their number.
    before: int = 0
    #: Which of the files for rows is free for its rows.
    block: int = 0


#: What tells the plans of all processes apart: the process, and a number.
PlanKey = tuple[int, int]
#: Paths and notes of like records, where the first of them is from the start of the
#: range (byte, line, record), and how many there are or the plan that counts them.
Shape = tuple[tuple[str, ...], tuple[Note, ...], tuple[int, int, int], int | PlanKey]


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a range."""

    #: How many bytes of rows there are in the file of the range.
    size: int
    #: Rows that were written, records and lines that were read.
    count: int
    records: int
    lines: int
    shapes: list[Shape]
    #: How many records each plan was followed for; it was told of before.
    plans: list[tuple[PlanKey, int]]
    #: What tells the rows that were written apart.
    keys: list[str]


def ranges_of(path: Path, begin: int) -> Iterator[tuple[int, int]]:
    """Yield where ranges of whole lines begin and end, from `begin` on."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while begin < size:
            file.seek(min(begin + RANGE, size))
            file.readline()
            end = file.tell()
            yield begin, end
            begin = end


def block_of(folder: str, work: Range) -> Path:
    """Return the file for the rows of a range."""
    return Path(folder, f"rows-{work.block}")


def bytes_of(path: Path, begin: int, end: int) -> bytes:
    """Return the bytes of a range."""
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        parts = []
        while begin < end and (part := file.read(end - begin)):
            parts.append(part)
            begin += len(part)
    return b"".join(parts)


@dataclass(slots=True)
class _Block:
    """The file for the rows of one range, for `with`.

    A file is used again and again: memory that it has already costs nothing.
    """

    path: Path
    work: Range
    size: int = 0
    _file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, rows: bytes, separator: bytes) -> bool:
        """Write some rows; tell whether they are not too many to be kept."""
        if not rows:
            return True
        if self._file is None:
            self._file = os.fdopen(_opened(self.path), "wb", buffering=0)
        elif self.size:
            self._file.write(separator)
            self.size += len(separator)
        left = memoryview(rows)
        while left:
            left = left[self._file.write(left) :]
        self.size += len(rows)
        return self.size <= MOST * (self.work.end - self.work.begin)


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)


@dataclass(slots=True)
class _Worker:
    """What a process needs for one job, and keeps from range to range."""

    job: Job
    variant: Variant
    judge: Judge
    bulk: Bulk
    identity: Identity | None
    #: The plans that were told of, by the identity of their paths, which are kept.
    told: dict[int, tuple[PlanKey, tuple[str, ...]]] = field(default_factory=dict)
    #: How often they were forgotten.
    forgotten: int = 0

    @property
    def has_headed_rows(self) -> bool:
        """Whether a row may hold a header, which is for whoever hands out the work."""
        is_rows = self.variant.dialect.container is Container.ROWS
        return is_rows and self.bulk.source.read_header is not None

    def run(self, work: Range) -> Done | None:
        """Convert a range; None if it is not all plain valid rows."""
        try:
            with _Block(block_of(self.job.folder, work), work) as block:
                done = self._run(work, block)
        except OSError:
            done = None
        if done is None:
            # It is done again elsewhere, and so must not count here.
            list(self.bulk.counted())
            self.told.clear()
            self.forgotten += 1
        return done

    def _run(self, work: Range, block: "_Block") -> Done | None:
        shapes: list[Shape] = []
        keys: list[str] = []
        records = count = 0
        for chunk in _chunks(Path(self.job.path), work):
            if len(chunk.data) > self.job.max_row_bytes:
                return None
            if self.has_headed_rows and HEADED in chunk.data:
                return None
            verdict = self.judge.judge(chunk)
            if verdict.findings or verdict.blank:
                return None
            made = self._made(chunk, verdict.accepted, work.before + records)
            if made is None:
                return None
            found, told = made
            for paths, notes, row, times in told:
                start = chunk.start_of(row)
                place = (start.offset, start.line, records + row)
                key = times or self._new_plan(paths)
                if key is not None:
                    shapes.append((paths, notes, place, key))
            if not block.write(joined(found, self.job.separator), self.job.separator):
                return None
            keys += self._keys(found)
            count += len(found)
            records += len(chunk)
        plans = [
            (self.told[id(paths)][0], times) for paths, _, times in self.bulk.counted()
        ]
        # No line is blank, so there are as many as records.
        return Done(block.size, count, records, records, shapes, plans, keys)

    def _new_plan(self, paths: tuple[str, ...]) -> PlanKey | None:
        """Return the key of a plan if it was not told of before."""
        if id(paths) in self.told:
            return None
        key = (os.getpid(), len(self.told) + 1_000_000 * self.forgotten)
        self.told[id(paths)] = key, paths
        return key

    def _made(self, chunk: Chunk, values: Any, before: int) -> Any:
        lane = self.judge.lane
        if values is not None and lane is not None:
            made = self.bulk.made(values, lane, self.judge.lane_schema, before)
            return None if made is None else (made.rows, made.shapes)
        rows: list[Row] = []
        shapes = []
        try:
            for number, text in enumerate(chunk.rows):
                found, paths, notes = self.bulk.ordinary(
                    decode(text), before + number + 1
                )
                rows += found
                shapes.append((paths, notes, number, 1))
        except Unconvertible:
            return None
        return rows, shapes

    def _keys(self, rows: list[Row]) -> list[str]:
        if self.identity is None:
            return []
        return [key for each in rows for key in self.identity.of_value(each)]


def _chunks(path: Path, work: Range) -> Iterator[Chunk]:
    """Yield the lines of a range, a piece at a time; their places begin with 0."""
    at, line, size = work.begin, 0, PIECE
    with path.open("rb", buffering=0) as file:
        while at < work.end:
            file.seek(at)
            data = file.read(min(size, work.end - at))
            end = data.rfind(b"\n") + 1
            if not data:
                return
            if at + len(data) == work.end:
                end = len(data)
            elif not end:
                size *= 2
                continue
            chunk = Chunk(data[:end], Cursor(at - work.begin, line))
            yield chunk
            at, line, size = at + end, line + len(chunk), PIECE


def _worker_for(job: Job) -> _Worker:
    source, target = all_formats()[job.source], all_formats()[job.target]
    variant = Variant(source, source.dialects[job.dialect])
    dialect = variant.dialect
    # What is only doubtful is the business of validation.
    remarks = dialect.remarks if dialect.remarks_refuse else None
    strict = record_schema(dialect, strict=True) if remarks else None
    brief = Brief(advise=source.advise, remarks=remarks, lane_schema=strict)
    judge = Judge(record_schema(dialect), brief)
    bulk = Bulk(variant, spoke_of(source), Pairing(spoke_of(target), job.choices))
    identity = None
    if target.tells_apart:
        identity = Identity(target.tells_apart, by_text=target.id_by_text)
    return _Worker(job, variant, judge, bulk, identity)


#: What this process works with, for the job that it got last.
_present: list[_Worker] = []


def prepare(job: Job, judge: Judge, bulk: Bulk) -> None:
    """Have processes that begin as copies of this one know what it has learned."""
    worker = _worker_for(job)
    worker.judge.learn_from(judge)
    worker.bulk.follow(bulk)
    _present[:] = [worker]


def converted(job: Job, work: Range) -> Done | None:
    """Convert a range in whatever process this is."""
    if not _present or _present[0].job != job:
        _present[:] = [_worker_for(job)]
    return _present[0].run(work)


def pool_of(jobs: int) -> Executor:
    """Return an executor with so many processes."""
    return ProcessPoolExecutor(jobs, get_context(_method()), _begin_process)


def _method() -> str:
    """Return how processes are begun: a copy is quick, but not safe with threads."""
    if sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1:  # noqa: PTH208 - a count only
        return "fork"
    return "forkserver" if os.name == "posix" else "spawn"


def _begin_process() -> None:
    """Leave interrupts to the process that hands out the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A copy of a process has its handlers, too, which would outlive the pool.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with_parent()
    # Rows have no cycles, and looking for some takes as long as judging them.
    gc.disable()


def _end_with_parent() -> None:
    """Have this process end where the one that hands out the work is killed."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - on Linux only

        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def in_order(
    executor: Executor,
    job: Job,
    ranges: Iterator[Range],
    jobs: int,
    run: Callable[[Job, Range], Done | None] = converted,
) -> Iterator[tuple[Range, Done | None]]:
    """Yield what became of each range, in order, with a few of them under way.

    Where processes die, what is left is handed back undone.
    """
    waiting: deque[tuple[Range, Future[Done | None] | None]] = deque()
    for each in ranges:
        waiting.append((each, _submitted(executor, run, job, each)))
        if len(waiting) >= AHEAD * jobs:
            yield _first_of(waiting)
    while waiting:
        yield _first_of(waiting)


def _submitted(
    executor: Executor, run: Any, job: Job, work: Range
) -> "Future[Done | None] | None":
    try:
        return executor.submit(run, job, work)
    except BrokenProcessPool:
        return None


def _first_of(
    waiting: "deque[tuple[Range, Future[Done | None] | None]]",
) -> tuple[Range, Done | None]:
    work, future = waiting.popleft()
    if future is None:
        return work, None
    try:
        return work, future.result()
    except BrokenProcessPool:
        return work, None
