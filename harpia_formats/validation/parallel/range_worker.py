"""Work on ranges of a large file in a worker process, which exchanges plain data.

A worker keeps what it learned from one range to the next. That changes its speed only:
a range gets the same answer from a worker that is new.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from harpia_formats.files.framing.byte_ranges import RangeReader
from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.files.framing.container import line_rows
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.workers.worker_checks import difference_from
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.validation.local import LocalValidation, table_frames
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import FileBytes, RowRange
from harpia_formats.validation.unit.collector import TooManyFindings
from harpia_formats.validation.unit.findings import (
    FileNotSeen,
    InternalFault,
    TooMuch,
    internal_fault,
)
from harpia_formats.validation.unit.validators import FileValidators

#: Why a worker did nothing with a range.
NotDone = TooMuch | FileNotSeen | InternalFault
_Answer = TypeVar("_Answer")


class NotSeenError(Exception):
    """The file is not the one that was planned: its content or size differs."""


class RangeFrames:
    """The rows of one range, to be read once."""

    def __init__(self, plan: FilePlan, unit: RowRange) -> None:
        self.unit = unit
        self._plan = plan
        given = unit.bytes
        if isinstance(given, FileBytes):
            end = given.begin + given.size
            self.reader = RangeReader(plan.name, given.begin, end, given.origin)
        else:
            self.reader = RangeReader(plan.name, 0, given.size, given.data)

    def __iter__(self) -> Iterator[Frame]:
        plan, unit = self._plan, self.unit
        if plan.cut is Framing.TABLE:
            yield from table_frames(ByteBuffer(iter(self.reader)), unit.start, plan)
            return
        if not unit.pieces:
            limit = plan.run.options.max_row_bytes
            yield from line_rows(ByteBuffer(iter(self.reader)), unit.start, limit)
            return
        data, at = b"".join(self.reader), 0
        for piece in unit.pieces:
            text = data[at : at + piece.size]
            if piece.rows:
                yield Chunk(text, piece.start, items=piece.rows)
            else:
                yield Chunk(text, piece.start, [text])
            at += piece.size

    @property
    def lines(self) -> int:
        """How many lines end in what was read so far."""
        return self.reader.lines

    @property
    def is_read(self) -> bool:
        """Whether the range was read to its end: a file may have become shorter."""
        return self.reader.consumed == self.reader.total


class RangeState:
    """What a worker keeps from one range of a file to the next."""

    def __init__(self, validators: FileValidators) -> None:
        self.validators = validators

    def learn_from(self, local: LocalValidation) -> None:
        """Start with what was learned from the rows that came first."""
        learned = local.validators.part().validator
        self.validators.part().validator.learn_from(learned)

    def run(self, frames: RangeFrames, given: Any) -> Any:
        """Return what came of a range; None if the main process has to work on it.

        `given` is what `RangeWork.given` returned for the range.
        """
        raise NotImplementedError


class RangeJob(Protocol):
    """What is done with the ranges of one file, the same for all: plain data."""

    @property
    def plan(self) -> FilePlan:
        """The plan of the file."""

    def state(self) -> RangeState:
        """Return what a worker starts with."""


class _Kept(threading.local):
    """What a thread of this process keeps for the job that it got last."""

    key: "tuple[type[RangeJob], str] | None" = None
    state: RangeState | None = None


_kept = _Kept()


def _keep(job: RangeJob) -> RangeState:
    _kept.key, _kept.state = (type(job), job.plan.key), job.state()
    return _kept.state


def prepare(job: RangeJob, local: LocalValidation) -> None:
    """Let processes that are forked from this one start with what it has learned."""
    _keep(job).learn_from(local)


def run_range(job: RangeJob, unit: RowRange, given: Any) -> Any:
    """Return what came of a range, None or why if the main process has to do it."""
    answer = answer_or_reason(lambda: _run(job, unit, given))
    if isinstance(answer, NotDone):
        # What is kept may be in an unfinished state.
        _kept.key = _kept.state = None
    return answer


def _run(job: RangeJob, unit: RowRange, given: Any) -> Any:
    if _kept.key != (type(job), job.plan.key):
        fingerprint = job.plan.fingerprint
        difference = fingerprint and difference_from(fingerprint)
        if difference:
            raise NotSeenError(difference)
        _keep(job)
    state, frames = _kept.state, RangeFrames(job.plan, unit)
    assert state is not None  # noqa: S101 - it is kept with its key
    answer = state.run(frames, given)
    if answer is not None and not frames.is_read:
        raise NotSeenError(f"it has fewer bytes than {unit.end:,}")
    return answer


def answer_or_reason(run: Callable[[], _Answer]) -> "_Answer | NotDone":
    """Return what `run` returns, or what its exception means to the main process."""
    try:
        return run()
    except TooManyFindings:
        return TooMuch()
    except NotSeenError as error:
        return FileNotSeen(str(error))
    except (OSError, SourceError) as error:
        reason = error.reason if isinstance(error, SourceError) else error_reason(error)
        return FileNotSeen(reason)
    except Exception as error:  # noqa: BLE001 - an error of ours, which the main process reports
        return internal_fault(error)
