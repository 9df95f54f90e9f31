"""Decoded rows of a file that are read as records together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.model.adapter import Row
from harpia_formats.schema.typed_decoder import TypedDecoder
from harpia_formats.validation.unit.record_numbers import RecordNumbers


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


@dataclass(frozen=True, slots=True)
class DecodedChunk:
    """The rows of a chunk, all of them valid, as a typed decoder decoded them."""

    chunk: Chunk
    numbers: RecordNumbers
    values: Sequence[Any]
    decoder: TypedDecoder
