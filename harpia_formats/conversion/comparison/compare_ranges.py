"""Have the rows of a large file read by other processes, to be compared here."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from msgspec import Struct

from harpia_formats.conversion.comparison.row_taker import RowTaker
from harpia_formats.conversion.comparison.stored_rows import Block, StoredRows
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.reading.record_ranges import (
    FileRows,
    RecordsState,
    are_apart,
    are_short,
)
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.range_worker import NotDone, RangeFrames
from harpia_formats.validation.parallel.ranges import FilePart, Ranges
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.unit.findings import Findings


class RangeRows(Struct, array_like=True):
    """The rows of a range, as a worker returns them."""

    blocks: list[Block]
    records: int
    lines: int
    #: Whether all records have ids.
    have_ids: bool


@dataclass(frozen=True, slots=True)
class StoringWorkers:
    """The worker processes of a run, which read the rows of its large files."""

    pool: WorkerPool
    taker: RowTaker
    rows: StoredRows

    def work(self, local: LocalValidation) -> "RangeStoring":
        """Return what is done with the ranges of a file."""
        return RangeStoring(self, local)

    def finish(self, local: LocalValidation, stream: RecordStream) -> Iterator[None]:  # noqa: ARG002 - the protocol of workers
        """Read what is read only at the end of a file, here; yield after some rows."""
        yield from stream.finish()


@dataclass(frozen=True, slots=True)
class RangeStoring:
    """The rows of the ranges of one file, which are stored here."""

    workers: StoringWorkers
    local: LocalValidation
    is_wordy: bool = True

    def can_share(self, done: int) -> bool:
        """Return whether workers can do the work."""
        return are_apart(self.local) and are_short(self.local, done)

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "StoringJob":  # noqa: ARG002 - all is in the plan
        """Return what workers do."""
        return StoringJob.of_file(plan, self.local)

    def given(self, part: FilePart) -> None:
        """Return nothing: a worker needs the rows only."""

    def merge(
        self,
        answer: RangeRows,
        ranges: Ranges,
        part: FilePart,
        given: None,  # noqa: ARG002 - for the worker only
    ) -> Iterator[Findings]:
        """Store the rows of the next range, which has so many lines."""
        merge, taker = self.local.merge, self.workers.taker
        taker.blocks.flush()
        taker.have_ids = taker.have_ids and answer.have_ids
        source = len(taker.blocks.sources) - 1
        for head, data, places in answer.blocks:
            moved = head._replace(
                source=source,
                before=head.before + merge.records,
                line=head.line + ranges.lines,
            )
            self.workers.rows.append((moved, data, places))
        merge.pass_over(answer.records)
        assert part.unit is not None  # noqa: S101 - it has an answer
        ranges.move_on(part.unit.end, answer.lines)
        yield Findings()

    def note_left(self, reason: NotDone | None) -> None:
        """Note nothing: this process reads the same rows."""


class StoringJob(FileRows):
    """How the rows of one file are read: plain data."""

    __slots__ = ()

    def state(self) -> "_State":
        """Return what a worker starts with."""
        return _State(self)


class _State(RecordsState):
    """Reads the rows of one range after the other."""

    def __init__(self, rows: FileRows) -> None:
        self._blocks: list[Block] = []
        taker = self._taker = RowTaker(self._blocks.append, ModelSelection(None))
        assert rows.plan.variant is not None  # noqa: S101 - only rows of a known format are read
        taker.open(rows.plan.name, rows.plan.variant)
        super().__init__(rows, taker.receive, taker)

    def run(self, frames: RangeFrames, given: None) -> RangeRows | None:  # noqa: ARG002 - all is in the job
        """Read the rows of a range; None if the main process has to do that."""
        taker = self._taker
        taker.have_ids = True
        records = self.read(frames)
        taker.blocks.flush()
        blocks = self._blocks[:]
        self._blocks.clear()
        if records is None:
            return None
        return RangeRows(blocks, records, frames.lines, taker.have_ids)
