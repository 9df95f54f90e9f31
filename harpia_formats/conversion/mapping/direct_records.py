"""Read all rows of a chunk straight from what a typed decoder decoded."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.model.record import Record

#: The record of a row with the fields that a target needs, and the key of what becomes
#: of all its fields; None for a row that has to be read as a whole.
DirectRecord = tuple[Record, Hashable] | None


@dataclass(frozen=True, slots=True)
class DirectRead:
    """Reads rows of one decoder for one target."""

    #: Returns the record of a decoded row, with its exact parts if there are any.
    read: Callable[[Any, Any], DirectRecord]
    #: Decodes the exact parts of all rows of a chunk.
    parts: Callable[[Chunk], Sequence[Any]] | None

    def records(self, chunk: Chunk, values: Sequence[Any]) -> Iterator[DirectRecord]:
        """Yield the record of each row of `chunk`, decoded as `values`."""
        if self.parts is None:
            return map(self.read, values, repeat(None))
        try:
            parts = self.parts(chunk)
        except msgspec.MsgspecError:
            return repeat(None, len(values))
        return map(self.read, values, parts)
