"""The records of a file with their numbers, as far as its container can be read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault, is_blank
from harpia_formats.files.framing.columns import DocumentFrame
from harpia_formats.model.exact_json import NOT_JSON

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class NumberedRecord:
    """A record with its number and the chunk that it is a row of."""

    #: From 1; blank lines are not counted, rows over the limit are.
    number: int
    chunk: Chunk
    row: int

    @property
    def start(self) -> Cursor:
        """Where in the file the record begins."""
        return self.chunk.start_of(self.row)

    @property
    def text(self) -> bytes:
        """The bytes of the record in the file."""
        return self.chunk.texts[self.row]

    def value(self) -> Any:
        """Return the decoded record, None if it is not JSON."""
        return decoded_or_none(self.chunk.rows[self.row])


def decoded_or_none(text: bytes) -> Any:
    """Return the value of a JSON text, None if it is not JSON."""
    try:
        return _decode(text)
    except NOT_JSON:
        return None


def numbered_records(
    frames: Iterable[DocumentFrame], before: int = 0
) -> Iterator[NumberedRecord]:
    """Yield each record of `frames` in order, with its number.

    There are so many records `before` the first one.
    """
    number = before
    for frame in frames:
        if isinstance(frame, FramingFault):
            number += frame.record
        elif isinstance(frame, Chunk):
            for row, text in enumerate(frame.rows):
                if not is_blank(text):
                    number += 1
                    yield NumberedRecord(number, frame, row)
