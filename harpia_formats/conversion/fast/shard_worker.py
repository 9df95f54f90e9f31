"""Work on a range of a file of lines, in whatever process.

Lines of which there is anything to say are not converted here: they are handed back,
maybe with some around them, and go the way that a whole file goes.
"""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from harpia_formats.conversion.containers.row_writer import terminated_rows
from harpia_formats.conversion.fast.batch import Bulk
from harpia_formats.conversion.fast.block_files import Block, block_of, block_once
from harpia_formats.dedup.identity import IdentityReader
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.byte_ranges import LineRange, range_chunks, read_range
from harpia_formats.framing.chunk import Chunk, Cursor, count_newlines
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.mapping.choices import Choices
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode
from harpia_formats.model.field_fates import FieldFate, Unconvertible
from harpia_formats.model.format import Container
from harpia_formats.reading.record_stream import HEADED
from harpia_formats.registry import adapter_of, format_of
from harpia_formats.schema.dialect import record_schema
from harpia_formats.validation.file.row_validator import Brief, Judge
from harpia_formats.workers.same_file import FileFingerprint, unlike


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
    #: They come back with what became of a range where it is "": others may have no
    #: such place.
    folder: str
    #: The file, if it is a remote one.
    remote: RemoteFile | None = None
    #: The file as it is seen where work is handed out, if not all need see the same.
    fingerprint: FileFingerprint | None = None
    #: Whether what tells rows apart is wanted, if there is something.
    checks_ids: bool = True

    @property
    def origin(self) -> Path | RemoteFile:
        """The file."""
        return self.remote or Path(self.path)

    @property
    def is_far(self) -> bool:
        """Whether others than processes of ours do it, where work may be lost."""
        return self.fingerprint is not None


#: What tells the plans of all processes on all machines apart: two numbers.
PlanKey = tuple[int, int]
#: Paths and notes of like records, where the first of them is from the start of the
#: range (byte, line, record), and how many there are or the plan that counts them.
Shape = tuple[
    tuple[str, ...], tuple[FieldFate, ...], tuple[int, int, int], int | PlanKey
]


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a range, or of a part of it."""

    #: How many bytes of rows there are in the file of the range, before what stands
    #: behind the last of them.
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
    #: The rows, if there is no folder for them.
    rows: bytes = b""
    #: The file that they are in, if it is not that of the range.
    file: str = ""
    #: Where in the file they begin.
    begin: int = 0


#: The parts of a range in order, each with what became of it, None of those that are
#: handed back.
Parts = list[tuple[LineRange, Done | None]]


class _TooMuch(Exception):  # noqa: N818 - a reason to stop, not an error
    """The rows of a range are more than are kept."""


@dataclass(slots=True)
class _Part:
    """Lines that follow each other, as far as they were converted."""

    #: Where they begin in the file, and in the range.
    begin: int
    start: Cursor
    #: Records before them.
    before: int
    #: Where their rows begin among those of the range.
    rows_at: int
    shapes: list[Shape] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    records: int = 0
    count: int = 0


@dataclass(slots=True)
class _Worker:
    """What a process needs for one job, and keeps from range to range."""

    job: Job
    variant: FormatVariant
    judge: Judge
    bulk: Bulk
    identity: IdentityReader | None
    #: The plans that were told of, by the identity of their paths, which are kept.
    told: dict[int, tuple[PlanKey, tuple[str, ...]]] = field(default_factory=dict)
    #: What tells these plans from those of others, and the process that drew it.
    number: int = 0
    process: int = 0

    @property
    def has_headed_rows(self) -> bool:
        """Whether a row may hold a header, which is for whoever hands out the work."""
        is_rows = self.variant.dialect.container is Container.ROWS
        return is_rows and self.bulk.source.read_header is not None

    def run(self, work: LineRange) -> Parts | None:
        """Convert the parts of a range that are plain valid rows.

        None where it cannot be read, or its rows are more than are kept.
        """
        # Others may do it once more, or lose what they were told before: then each
        # range tells all that it needs. A copy of a process has what its parent has.
        job = self.job
        if job.is_far or self.process != os.getpid():
            self._forget()
        path = block_once(job.folder) if job.is_far else block_of(job.folder, work)
        try:
            with Block(path, work) as block:
                return self._run(work, block)
        except (OSError, _TooMuch):
            # It is done again elsewhere, and so must not count here.
            list(self.bulk.counted())
            self._forget()
            return None

    def _forget(self) -> None:
        """Tell all plans anew, by new keys."""
        self.told.clear()
        self.process = os.getpid()
        # Machines give the same numbers to their processes.
        self.number = int.from_bytes(os.urandom(8), "big")

    def _run(self, work: LineRange, block: Block) -> Parts:
        parts: Parts = []
        part = _Part(work.begin, Cursor(0, 0), work.before, 0)
        for chunk in range_chunks(self.job.origin, work):
            if self._is_plain(chunk):
                values = self.judge.accepted(chunk)
                if values is not None and self._taken(chunk, values, part, block):
                    # What is free again is the memory that the next rows get.
                    values = None
                    continue
            for piece, is_valid in self._pieces(chunk):
                if is_valid and self._taken(piece, None, part, block):
                    continue
                begin = work.begin + piece.start.offset
                parts += self._finished(part, begin, work, block)
                end = begin + len(piece.data)
                if parts and parts[-1][1] is None:
                    begin = parts.pop()[0].begin
                parts.append((LineRange(begin, end, block=work.block), None))
                lines = piece.start.line + len(piece)
                start, before = Cursor(end - work.begin, lines), work.before + lines
                part = _Part(end, start, before, block.size)
        return parts + self._finished(part, work.end, work, block)

    def _is_plain(self, chunk: Chunk) -> bool:
        """Tell whether no row of a chunk is too long or has a header."""
        if len(chunk.data) > self.job.max_row_bytes:
            return False
        return not (self.has_headed_rows and HEADED in chunk.data)

    def _pieces(self, chunk: Chunk) -> Iterator[tuple[Chunk, bool]]:
        """Yield the rows of a chunk that are alike, and whether they are valid."""
        if not self._is_plain(chunk):
            yield chunk, False
            return
        for is_valid, rows in groupby(
            range(len(chunk)), lambda row: self.judge.is_valid(chunk.rows[row])
        ):
            first, *others = rows
            yield chunk.between(first, first + 1 + len(others)), is_valid

    def _taken(
        self, chunk: Chunk, values: list[Any] | None, part: _Part, block: Block
    ) -> bool:
        """Convert the rows of a chunk; tell whether that can be done.

        `values` are the rows as the decoder decoded them, if it accepted them at once.
        Raises `_TooMuch`.
        """
        if values is None:
            verdict = self.judge.judge(chunk)
            if verdict.findings or verdict.blank:
                return False
            values = verdict.accepted
        made = self._made(chunk, values, part.before + part.records)
        if made is None:
            return False
        found, told = made
        for paths, fates, row, times in told:
            start = chunk.start_of(row)
            offset = start.offset - part.start.offset
            line = start.line - part.start.line
            key = times or self._new_plan(paths)
            if key is not None:
                place = offset, line, part.records + row
                part.shapes.append((paths, fates, place, key))
        if not block.write(terminated_rows(found, self.job.separator)):
            raise _TooMuch
        part.keys += self._keys(found)
        part.count += len(found)
        part.records += len(chunk)
        return True

    def _finished(self, part: _Part, end: int, work: LineRange, block: Block) -> Parts:
        """Return what became of lines up to a byte of the file, if there are any."""
        if part.begin == end:
            return []
        plans = [
            (self.told[id(paths)][0], times) for paths, _, times in self.bulk.counted()
        ]
        size = max(0, block.size - part.rows_at - len(self.job.separator))
        done = Done(
            size,
            part.count,
            part.records,
            # No line is blank, so there are as many as records.
            part.records,
            part.shapes,
            plans,
            part.keys,
            block.let_go()[:size],
            str(block.path or "") if self.job.is_far else "",
            part.rows_at,
        )
        return [(LineRange(part.begin, end, part.before, work.block), done)]

    def _new_plan(self, paths: tuple[str, ...]) -> PlanKey | None:
        """Return the key of a plan if it was not told of before."""
        if id(paths) in self.told:
            return None
        key = (self.number, len(self.told))
        self.told[id(paths)] = key, paths
        return key

    def _made(self, chunk: Chunk, values: Any, before: int) -> Any:
        decoder = self.judge.decoder
        if values is not None and decoder is not None:
            made = self.bulk.made(values, decoder, self.judge.decoder_schema, before)
            return None if made is None else (made.rows, made.shapes)
        rows: list[Row] = []
        shapes = []
        try:
            for number, text in enumerate(chunk.rows):
                found, paths, fates = self.bulk.ordinary(
                    decode(text), before + number + 1
                )
                rows += found
                shapes.append((paths, fates, number, 1))
        except Unconvertible:
            return None
        return rows, shapes

    def _keys(self, rows: list[Row]) -> list[str]:
        return [] if self.identity is None else self.identity.keys_of_values(rows)


def _worker_for(job: Job) -> _Worker:
    source, target = format_of(job.source), format_of(job.target)
    variant = FormatVariant(source, source.dialects[job.dialect])
    dialect = variant.dialect
    # What is only doubtful is the business of validation.
    remarks = dialect.remarks if dialect.remarks_refuse else None
    strict = record_schema(dialect, strict=True) if remarks else None
    brief = Brief(advise=source.advise, remarks=remarks, decoder_schema=strict)
    judge = Judge(record_schema(dialect), brief)
    bulk = Bulk(
        variant, adapter_of(source), RecordMapper(adapter_of(target), job.choices)
    )
    bulk.help(judge)
    identity = None
    if job.checks_ids and target.identity_paths:
        identity = IdentityReader(target.identity_paths, by_text=target.id_by_text)
    return _Worker(job, variant, judge, bulk, identity)


class _Present(threading.local):
    """What a thread of this process works with, for the job that it got last."""

    worker: _Worker | None = None


_present = _Present()


def prepare(job: Job, judge: Judge, bulk: Bulk) -> None:
    """Have processes that begin as copies of this one know what it has learned."""
    worker = _worker_for(job)
    worker.judge.learn_from(judge)
    worker.bulk.follow(bulk)
    _present.worker = worker


def converted(job: Job, work: LineRange) -> Parts | None:
    """Convert what can be converted of a range, in whatever process this is."""
    worker = _present.worker
    if worker is None or worker.job != job:
        if job.fingerprint is not None and unlike(job.fingerprint):
            return None
        worker = _present.worker = _worker_for(job)
    return worker.run(work)


def lines_of_range(job: Job, work: tuple[int, int]) -> int:
    """Return the lines in a range, in whatever process this is; 0 if it is not read."""
    try:
        return count_newlines(read_range(job.origin, *work))
    except OSError:
        return 0
