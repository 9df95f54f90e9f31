"""Decoded rows of a file that are read as records together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harpia_formats.framing.chunk import Cursor
from harpia_formats.model.adapter import Row


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Valid rows of a file, decoded, in order; not all of them need be adjacent.

    Bytes and places are computed when they are asked for, since most rows are converted
    without them.
    """

    #: The rows, as the adapter of their format reads them.
    values: Sequence[Row]
    #: The number in the file of the record that each row is.
    numbers: Sequence[int]
    #: Returns where in the file row n of the batch, from 0, begins.
    start_of: Callable[[int], Cursor]
    #: Returns the bytes of row n of the batch, from 0.
    text_of: Callable[[int], bytes]
