"""Convert a range of a file of lines, in a worker process or in the main process.

Only valid rows are converted here. Lines with findings are left to the main process,
maybe with some of the lines around them: it validates them like those of any file.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from harpia_formats.conversion.batch import BatchConverter
from harpia_formats.conversion.containers.row_writer import terminated_rows
from harpia_formats.conversion.parallel.job import (
    ConversionJob,
    ConvertedPart,
    Parts,
)
from harpia_formats.conversion.parallel.row_files import RowFile, claim_file, range_file
from harpia_formats.conversion.written_rows import (
    WrittenRowCheck,
    validator_of_rows,
)
from harpia_formats.dedup.identity import IdentityReader
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.byte_ranges import LineRange, range_chunks, read_range
from harpia_formats.framing.chunk import Chunk, Cursor, count_newlines
from harpia_formats.mapping.misfits import misfits_of
from harpia_formats.mapping.record_program import Outcome
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.exact_json import decode
from harpia_formats.model.format import Container
from harpia_formats.reading.record_stream import HEADER_KEY
from harpia_formats.registry import adapter_of, format_of
from harpia_formats.validation.unit.row_validator import RowValidator
from harpia_formats.workers.same_file import difference_from


class _TooManyRows(Exception):  # noqa: N818 - a reason to stop, not an error
    """The rows of a range are longer than is kept."""


@dataclass(slots=True)
class _OpenPart:
    """Lines that follow each other, as far as they are converted."""

    #: Where they begin in the file (bytes), and in the range.
    begin: int
    start: Cursor
    #: Records before them.
    before: int
    #: Where their rows begin among the rows of the range (bytes).
    rows_at: int
    #: What became of the fields, with the place of the first record and their number.
    outcomes: dict[Outcome, tuple[tuple[int, int, int], int]] = field(
        default_factory=dict
    )
    keys: list[str] = field(default_factory=list)
    records: int = 0
    count: int = 0


@dataclass(slots=True)
class _Worker:
    """Converts the ranges of one job, and keeps what it learned from range to range."""

    job: ConversionJob
    variant: FormatVariant
    validator: RowValidator
    batches: BatchConverter
    identity: IdentityReader | None

    @property
    def has_headed_rows(self) -> bool:
        """Whether a row may hold a header, which the main process has to read."""
        is_rows = self.variant.dialect.container is Container.ROWS
        return is_rows and adapter_of(self.variant.format).read_header is not None

    def convert(self, work: LineRange) -> Parts | None:
        """Convert the parts of a range that are valid rows without a header.

        None if the range cannot be read, or its rows are longer than is kept.
        """
        job = self.job
        # On other machines a range may be converted twice, so a file has a new name.
        path = claim_file(job.folder) if job.is_far else range_file(job.folder, work)
        try:
            with RowFile(path, work) as file:
                return self._convert(work, file)
        except (OSError, _TooManyRows):
            # The main process converts the range again.
            return None

    def _convert(self, work: LineRange, file: RowFile) -> Parts:
        parts: Parts = []
        part = _OpenPart(work.begin, Cursor(0, 0), work.before, 0)
        for chunk in range_chunks(self.job.origin, work):
            if self._is_plain(chunk):
                values = self.validator.accepted(chunk)
                if values is not None and self._add(chunk, values, part, file):
                    # Free the memory before the next rows need some.
                    values = None
                    continue
            for piece, is_valid in self._pieces(chunk):
                if is_valid and self._add(piece, None, part, file):
                    continue
                begin = work.begin + piece.start.offset
                parts += self._finished(part, begin, work, file)
                end = begin + len(piece.data)
                if parts and parts[-1][1] is None:
                    begin = parts.pop()[0].begin
                parts.append((LineRange(begin, end, block=work.block), None))
                lines = piece.start.line + len(piece)
                start, before = Cursor(end - work.begin, lines), work.before + lines
                part = _OpenPart(end, start, before, file.size)
        return parts + self._finished(part, work.end, work, file)

    def _is_plain(self, chunk: Chunk) -> bool:
        """Tell whether no row of a chunk is too long or has a header."""
        if len(chunk.data) > self.job.max_row_bytes:
            return False
        return not (self.has_headed_rows and HEADER_KEY in chunk.data)

    def _pieces(self, chunk: Chunk) -> Iterator[tuple[Chunk, bool]]:
        """Cut a chunk into pieces of valid and of invalid rows, by turns."""
        if not self._is_plain(chunk):
            yield chunk, False
            return
        for is_valid, rows in groupby(
            range(len(chunk)), lambda row: self.validator.is_valid(chunk.rows[row])
        ):
            first, *others = rows
            yield chunk.between(first, first + 1 + len(others)), is_valid

    def _add(
        self, chunk: Chunk, values: list[Any] | None, part: _OpenPart, file: RowFile
    ) -> bool:
        """Convert the rows of a chunk; return False if that is not possible.

        `values` are the decoded rows if the decoder accepted all of them at once.
        Raises `_TooManyRows`.
        """
        if values is None:
            verdict = self.validator.validate(chunk)
            if verdict.findings or verdict.blank:
                return False
            values = verdict.accepted
        before = part.before + part.records
        if values is None:
            batch = self.batches.convert(map(decode, chunk.rows), before)
        else:
            rows = self.batches.rows_in(chunk, values)
            batch = self.batches.convert(rows, before)
        if batch is None:
            return False
        for outcome, first, times in batch.outcomes:
            if outcome in part.outcomes:
                place, known = part.outcomes[outcome]
                part.outcomes[outcome] = place, known + times
                continue
            start = chunk.start_of(first)
            offset = start.offset - part.start.offset
            line = start.line - part.start.line
            part.outcomes[outcome] = (offset, line, part.records + first), times
        if not file.write(terminated_rows(batch.rows, self.job.separator)):
            raise _TooManyRows
        if self.identity is not None:
            part.keys += self.identity.keys_of_values(batch.rows)
        part.count += len(batch.rows)
        part.records += batch.records
        return True

    def _finished(
        self, part: _OpenPart, end: int, work: LineRange, file: RowFile
    ) -> Parts:
        """Return the part up to the byte `end` of the input, none if it is empty."""
        if part.begin == end:
            return []
        size = max(0, file.size - part.rows_at - len(self.job.separator))
        converted = ConvertedPart(
            size,
            part.count,
            part.records,
            # No line is blank, so there are as many lines as records.
            part.records,
            [(outcome, *found) for outcome, found in part.outcomes.items()],
            part.keys,
            file.take_held()[:size],
            str(file.path or "") if self.job.is_far else "",
            part.rows_at,
        )
        return [(LineRange(part.begin, end, part.before, work.block), converted)]


def _worker_for(job: ConversionJob) -> _Worker:
    source, target = format_of(job.source), format_of(job.target)
    variant = FormatVariant(source, source.dialects[job.dialect])
    validator = validator_of_rows(source, variant.dialect)
    check = WrittenRowCheck(target)
    ours = adapter_of(source)
    mapper = RecordMapper(
        adapter_of(target), job.choices, check=check, owners=ours.extra_owners
    )
    mapper.misfits = misfits_of(ours)
    batches = BatchConverter(variant, mapper, job.steps, check)
    identity = None
    if job.checks_ids and target.identity_paths:
        identity = IdentityReader(target.identity_paths, by_text=target.id_by_text)
    return _Worker(job, variant, validator, batches, identity)


class _ThreadState(threading.local):
    """The worker of a thread of this process, for the job that it got last."""

    worker: _Worker | None = None


_state = _ThreadState()


def prepare_workers(job: ConversionJob, validator: RowValidator) -> None:
    """Let processes that are forked from this one start with what it has learned."""
    worker = _worker_for(job)
    worker.validator.learn_from(validator)
    _state.worker = worker


def convert_range(job: ConversionJob, work: LineRange) -> Parts | None:
    """Convert a range in this process; None if the main process has to do that."""
    worker = _state.worker
    if worker is None or worker.job != job:
        if job.fingerprint is not None and difference_from(job.fingerprint):
            return None
        worker = _state.worker = _worker_for(job)
    return worker.convert(work)


def count_lines(job: ConversionJob, work: tuple[int, int]) -> int:
    """Return the number of lines in a range of bytes; 0 if it cannot be read."""
    try:
        return count_newlines(read_range(job.origin, *work))
    except OSError:
        return 0
