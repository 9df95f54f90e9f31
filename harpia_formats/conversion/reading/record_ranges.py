"""Read the rows in ranges of a large file as records, in worker processes.

That is what counting and scoring do with a range before anything else: its rows are
validated and read as in the main process. A range in which anything is found is left
to the main process as a whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from harpia_formats.conversion.reading.placed_record import NotApart, Receive
from harpia_formats.conversion.reading.record_stream import RecordStream, TakeRows
from harpia_formats.model.record import Header
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import FileMerge
from harpia_formats.validation.parallel.range_worker import RangeFrames, RangeState
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.validators import FileValidators

#: Bytes of a row, on average, above which one process holds fewer of them at once.
MAX_ROW = 1024 * 1024


def are_apart(local: LocalValidation) -> bool:
    """Tell whether each row of a file is a record, whichever rows came before it."""
    stream = local.consumer
    return isinstance(stream, RecordStream) and not (
        stream.keys is not None or stream.merges_rows
    )


def are_short(local: LocalValidation, done: int, most: int = MAX_ROW) -> bool:
    """Tell whether workers may hold rows such as the first ones, of `done` bytes."""
    return done <= most * max(local.merge.records, 1)


@dataclass(frozen=True, slots=True)
class FileRows:
    """How the rows of one file are read, which is the same for all of them."""

    plan: FilePlan
    #: The names of the fields in mapped columns, by the names of the columns.
    fields: dict[str, str]
    #: What stands around the rows, as far as their reader needs it.
    surroundings: Mapping[str, Any]
    #: The columns of a table, from its header.
    columns: tuple[str, ...]

    @classmethod
    def of_file(cls, plan: FilePlan, local: LocalValidation) -> Self:
        """Return how the rows of a file are read that `local` has begun."""
        stream = local.consumer
        assert isinstance(stream, RecordStream)  # noqa: S101 - it reads the records
        return cls(plan, stream.fields, stream.surroundings, local.merge.columns)


class RecordsState(RangeState):
    """Reads one range after the other."""

    def __init__(
        self, rows: FileRows, receive: Receive, bulk: TakeRows | None = None
    ) -> None:
        """Take what is called with each record; the others are those of the stream."""
        super().__init__(FileValidators(rows.plan))
        plan, variant = rows.plan, rows.plan.variant
        assert variant is not None  # noqa: S101 - only rows of a known format are read
        self._rows = rows
        self._collector = Collector(self.validators.rules, plan.name, 1)
        self._has_refused = False
        self._stream = RecordStream(
            plan.name,
            receive,
            self._refuse,
            lambda _: None,
            bulk,
            rows.fields,
            known_surroundings=rows.surroundings,
        )
        self._stream.open(variant)
        # The items of columns are kept in the main process.
        self._stream.discard()
        #: The headers in the rows of the last range.
        self.headers: list[Header] = []

    def _refuse(self, _: bytes | None) -> None:
        self._has_refused = True

    def read(self, frames: RangeFrames) -> int | None:
        """Read a range; return the number of its records, None if anything is found.

        What takes the records may raise `NotApart`.
        """
        plan = self._rows.plan
        merge = FileMerge(plan, FileCount(plan.name))
        merge.columns = self._rows.columns
        local = LocalValidation(self.validators, merge, self._collector, self._stream)
        self._has_refused = False
        try:
            has_found = any(local.frames(iter(frames)))
        except NotApart:
            has_found = True
        self.headers, self._stream.headers = self._stream.headers, []
        if has_found or self._has_refused:
            self._collector.take()
            return None
        return merge.records
