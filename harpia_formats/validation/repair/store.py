"""Keep the repairs of one file until it is written: in memory, then on the disk."""

from collections.abc import Iterator
from heapq import merge
from itertools import chain
from types import TracebackType
from typing import Self

import msgspec

from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.spill import FramedRecords
from harpia_formats.validation.repair.edits import Edit
from harpia_formats.validation.repair.rows import PlacedChange, PlacedRepair

#: Bytes of repairs that are held in memory before they go to the disk.
HELD = 8 * 1024 * 1024

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PlacedRepair).decode


class RepairStore:
    """The repairs of one file in order of their place, for `with`."""

    def __init__(self, name: str) -> None:
        """Take the name of the file, for errors."""
        self._name = name
        self._repairs = FramedRecords("", 1, HELD)
        #: Repairs at places before those of others: of a document around its records.
        self._late: list[PlacedRepair] = []
        self._end = 0
        #: How many changes there are.
        self.changes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._repairs.close()

    def add(self, repair: PlacedRepair) -> None:
        """Add a repair; raises `SinkError` if there is no room on the disk for it."""
        self.changes += len(repair.changes)
        if repair.edits[0].start < self._end:
            self._late.append(repair)
            return
        self._end = repair.edits[-1].end
        try:
            self._repairs.append((), (_encode(repair),))
        except OSError as error:
            reason = f"its changes cannot be kept on the disk: {error_reason(error)}"
            raise SinkError(self._name, reason) from error

    def edits(self) -> Iterator[Edit]:
        """Yield all edits in order of their place."""
        late = sorted(edit for repair in self._late for edit in repair.edits)
        yield from merge((edit for one in self._stored() for edit in one.edits), late)

    def placed_changes(self) -> Iterator[PlacedChange]:
        """Yield all changes, those of the file and its document first."""
        for repair in chain(reversed(self._late), self._stored()):
            yield from repair.changes

    def _stored(self) -> Iterator[PlacedRepair]:
        """Yield the repairs of the rows."""
        for _, _, (data,) in self._repairs.records():
            yield _decode(data)
