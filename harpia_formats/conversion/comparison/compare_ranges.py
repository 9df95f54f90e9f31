"""Have the rows of a large file read by other processes, to be compared here."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import msgspec

from harpia_formats.conversion.comparison.row_taker import RowTaker
from harpia_formats.conversion.comparison.stored_rows import (
    LINES,
    Block,
    BlockHead,
    StoredRows,
    is_of_chunk,
)
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.parallel.converted_rows import (
    memory_folder,
    rows_limit,
)
from harpia_formats.conversion.reading.record_ranges import (
    FileRows,
    RecordsState,
    are_apart,
    are_short,
)
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.files.framing.byte_ranges import read_range
from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.files.io.file_sink import temporary_folder
from harpia_formats.files.io.source import FileState, state_of_path
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.model.record import Header
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.range_worker import NotDone, RangeFrames
from harpia_formats.validation.parallel.ranges import FilePart, Ranges
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import FileBytes, RowRange
from harpia_formats.validation.unit.findings import Findings, RecordNumbers


class RangeRows(NamedTuple):
    """What a worker found in a range, whose rows are in its file if they have to."""

    records: int
    lines: int
    #: Whether all records have ids.
    have_ids: bool
    #: Whether the chunks that the main process cut are stored as they are.
    is_as_cut: bool
    #: The headers that were in rows.
    headers: list[Header]
    #: The state of the file of the range before it was read, None if it was sent.
    state: FileState | None


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


class RangeStoring:
    """The rows of the ranges of one file, which are stored here."""

    is_wordy = False

    def __init__(self, workers: StoringWorkers, local: LocalValidation) -> None:
        self._workers = workers
        self._local = local
        self._folder = ""
        #: The numbers of the files that workers write to, each of them in use once.
        self._slots = cycle(range(workers.pool.max_pending + 1))

    def can_share(self, done: int) -> bool:
        """Return whether workers can do the work."""
        return are_apart(self._local) and are_short(self._local, done)

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "StoringJob":
        """Return what workers do.

        Rows are not sent through a pipe: a worker that is killed while it does would
        leave half an answer, for whose rest this process would wait.
        """
        needed = rows_limit(size) * (self._workers.pool.max_pending + 1)
        # Without a folder, workers leave their ranges to this process.
        with suppress(OSError):
            folder = temporary_folder(memory_folder(needed))
            self._folder = stack.enter_context(folder)
        rows = FileRows.of_file(plan, self._local)
        return StoringJob(rows, self._folder)

    def given(self, part: FilePart) -> int:  # noqa: ARG002 - all ranges are alike
        """Return the number of the file that a worker writes the rows to."""
        return next(self._slots)

    def merge(
        self, answer: RangeRows, ranges: Ranges, part: FilePart, given: int
    ) -> Iterator[Findings]:
        """Store the rows of the next range, which has so many lines."""
        assert part.unit is not None  # noqa: S101 - it has an answer
        blocks: list[Block] | None = []
        if not answer.is_as_cut:
            written = _file_of(self._folder, given)
            blocks = _blocks_of(written, part.unit, answer.state)
        if blocks is None:
            yield from ranges.again(part)
            return
        merge, taker = self._local.merge, self._workers.taker
        taker.blocks.flush()
        taker.have_ids = taker.have_ids and answer.have_ids
        before = merge.records
        for chunk in part.frames if answer.is_as_cut else ():
            assert isinstance(chunk, Chunk)  # noqa: S101 - only rows go to a worker
            taker.blocks.add_chunk(chunk, RecordNumbers(before, []))
            before += len(chunk)
        source = len(taker.blocks.sources) - 1
        for head, data, places in blocks:
            moved = head._replace(
                source=source,
                before=head.before + merge.records,
                line=head.line + ranges.lines,
            )
            self._workers.rows.append((moved, data, places))
        stream = self._local.consumer
        assert isinstance(stream, RecordStream)  # noqa: S101 - it reads the records
        for header in answer.headers:
            stream.note_header(header)
        merge.pass_over(answer.records)
        ranges.move_on(part.unit.end, answer.lines)
        yield Findings()

    def note_left(self, reason: NotDone | None) -> None:
        """Note nothing: this process reads the same rows."""


#: A block as a worker writes it. Lines that are in a file are not written, only their
#: size: the main process reads them there. So each byte is copied twice less.
_WrittenBlock = tuple[BlockHead, bytes | int, bytes]
#: Decodes what a worker wrote.
_written_of = msgspec.msgpack.Decoder(list[_WrittenBlock]).decode


def _without_lines(block: Block) -> _WrittenBlock:
    """Return a block of a range that is in a file as it is written."""
    head, data, more = block
    return head, len(data) if head.kind == LINES else data, more


def _blocks_of(
    written: Path, unit: RowRange, state: FileState | None
) -> list[Block] | None:
    """Return the blocks of a range that a worker has `written`, with their lines.

    None if they cannot be read, or if the file of the range has another `state` by now.
    """
    given, blocks = unit.bytes, list[Block]()
    try:
        for head, rows, more in _written_of(written.read_bytes()):
            if isinstance(rows, int):
                assert isinstance(given, FileBytes)  # noqa: S101 - see `_without_lines`
                begin = given.begin + head.offset - unit.begin
                data = read_range(given.origin, begin, begin + rows)
            else:
                data = rows
            blocks.append((head, data, more))
        return blocks if _state_of(unit) == state else None
    except OSError:
        return None


def _state_of(unit: RowRange) -> FileState | None:
    """Return the state of the file with the bytes of a range, None if they are sent.

    Raises `OSError` if the file is gone.
    """
    given = unit.bytes
    if isinstance(given, FileBytes) and isinstance(given.origin, Path):
        return state_of_path(given.origin)
    return None


def _file_of(folder: str, slot: int) -> Path:
    """Return the file for the rows of a range."""
    return Path(folder, f"rows-{slot}")


@dataclass(frozen=True, slots=True)
class StoringJob:
    """How the rows of one file are read, and the folder for them: plain data."""

    rows: FileRows
    #: "" if there is none.
    folder: str

    @property
    def plan(self) -> FilePlan:
        """The plan of the file."""
        return self.rows.plan

    def state(self) -> "_State":
        """Return what a worker starts with."""
        return _State(self)


class _State(RecordsState):
    """Reads the rows of one range after the other."""

    def __init__(self, job: StoringJob) -> None:
        self._folder = job.folder
        self._blocks: list[Block] = []
        taker = self._taker = RowTaker(self._blocks.append, ModelSelection(None))
        assert job.plan.variant is not None  # noqa: S101 - only rows of a known format are read
        taker.open(job.plan.name, job.plan.variant)
        super().__init__(job.rows, taker.receive, taker)

    def run(self, frames: RangeFrames, given: int) -> RangeRows | None:
        """Write the rows of a range; None if the main process has to read them."""
        taker, state = self._taker, _state_of(frames.unit)
        taker.have_ids = True
        records = self.read(frames)
        taker.blocks.flush()
        blocks, pieces = self._blocks[:], frames.unit.pieces
        self._blocks.clear()
        if records is None or not self._folder:
            return None
        is_as_cut = 0 < len(pieces) == len(blocks) and all(
            is_of_chunk(block, piece.size, piece.rows)
            for block, piece in zip(blocks, pieces, strict=True)
        )
        if not is_as_cut:
            try:
                written = blocks if state is None else map(_without_lines, blocks)
                data = msgspec.msgpack.encode([*written])
                _file_of(self._folder, given).write_bytes(data)
            except OSError:  # no room is left
                return None
        found = records, frames.lines, taker.have_ids, is_as_cut
        return RangeRows(*found, self.headers, state)
