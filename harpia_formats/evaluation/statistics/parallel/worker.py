"""Count the records of a unit of rows, in a worker process.

Rows are validated and read as in the main process. Where anything is found, the whole
unit is left to the main process.
"""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.evaluation.statistics.collect import RecordCounter
from harpia_formats.evaluation.statistics.counts import Counts
from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.byte_ranges import RangeReader
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.workers.same_file import difference_from
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import FileMerge, Frame
from harpia_formats.validation.parallel.unit_bytes import unit_frames, unit_reader
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import RowRange
from harpia_formats.validation.second_pass import table_frames
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.validators import FileValidators


@dataclass(frozen=True, slots=True)
class CountingJob:
    """How the rows of one file are read, which is the same for all of them."""

    plan: FilePlan
    #: The names of the fields in mapped columns, by the names of the columns.
    fields: dict[str, str]
    #: What stands around the rows, as far as their reader needs it.
    surroundings: Mapping[str, Any]
    #: The columns of a table, from its header.
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountedUnit:
    """The counts of a unit, whose places count from its beginning, and its size."""

    counts: Counts
    records: int
    lines: int


class _UnitCounter:
    """Counts the units of one job, and keeps what it learns from one to the next."""

    def __init__(self, job: CountingJob) -> None:
        self.job = job
        plan, variant = job.plan, job.plan.variant
        assert variant is not None  # noqa: S101 - only rows of a known format are read
        self.validators = FileValidators(plan)
        self._collector = Collector(self.validators.rules, plan.name, 1)
        self._counter = RecordCounter()
        self._counter.open(variant, 0)
        self._has_refused = False
        self._stream = RecordStream(
            plan.name,
            self._counter.receive,
            self._refuse,
            lambda _: None,
            self._counter,
            job.fields,
            settled=job.surroundings,
        )
        self._stream.open(variant)
        # The items of columns are kept in the main process.
        self._stream.discard()

    def _refuse(self, _: bytes) -> None:
        self._has_refused = True

    def counted(self, unit: RowRange) -> CountedUnit | None:
        """Count a unit; None if the main process has to do that.

        Raises `SourceError` if the unit cannot be read.
        """
        plan = self.job.plan
        merge = FileMerge(plan, FileCount(plan.name))
        merge.columns = self.job.columns
        local = LocalValidation(self.validators, merge, self._collector, self._stream)
        reader = unit_reader(plan.name, unit)
        self._has_refused = False
        has_found = any(local.frames(self._frames(unit, reader)))
        counts = self._counter.take()
        self._stream.headers.clear()
        if has_found or self._has_refused or reader.consumed != reader.total:
            self._collector.take()
            return None
        return CountedUnit(counts, merge.records, reader.lines)

    def _frames(self, unit: RowRange, reader: RangeReader) -> Iterator[Frame]:
        """Yield what a unit is cut into."""
        plan = self.job.plan
        if plan.cut is Framing.TABLE:
            return iter(table_frames(ByteBuffer(iter(reader)), unit.start, plan))
        return iter(unit_frames(unit, reader, plan.run.options.max_row_bytes))


class _ThreadState(threading.local):
    """The counter of a thread of this process, for the job that it got last."""

    counter: _UnitCounter | None = None


#: It changes speed only: a counter that learned counts rows as a new one does.
_state = _ThreadState()


def prepare(job: CountingJob, validators: FileValidators) -> None:
    """Let processes that are forked from this one start with what it has learned."""
    counter = _UnitCounter(job)
    counter.validators.part().validator.learn_from(validators.part().validator)
    _state.counter = counter


def count_unit(job: CountingJob, unit: RowRange) -> CountedUnit | None:
    """Count the records of a unit; None if the main process has to do that."""
    counter = _state.counter
    if counter is None or counter.job.plan.key != job.plan.key:
        fingerprint = job.plan.fingerprint
        if fingerprint is not None and difference_from(fingerprint):
            return None
        counter = _state.counter = _UnitCounter(job)
    try:
        return counter.counted(unit)
    except (OSError, SourceError):
        # What was read of the unit is counted by the main process.
        _state.counter = None
        return None
