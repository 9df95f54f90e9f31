"""The first records of a file, by which its format is recognized."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.files.framing.container import Layout
from harpia_formats.model.exact_json import NOT_JSON

_decoder = msgspec.json.Decoder()
#: Records of a sample, at most.
SAMPLE_RECORDS = 1_000
#: Bytes that a sample is taken from, at most, but for the last chunk.
SAMPLE_BYTES = 8 * 1024 * 1024
#: Bytes of a document that are kept with its value, at most.
DECODED_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Sample:
    """The layout of a file and the values that it begins with."""

    layout: Layout
    #: Its first records that are JSON; of a document the one value, perhaps cut short.
    rows: tuple[Any, ...] = ()
    #: Whether nothing was cut off from `rows`.
    whole: bool = True
    #: Whether other values follow the document.
    several: bool = False
    #: Whether none of its first records is JSON, so that `rows` are parts of them.
    broken: bool = False
    #: Whether the file is text that is neither JSON nor a table.
    text: bool = False
    #: The delimiter of a table, and the one that its lines have in its place, if any.
    delimiter: str = ""
    other_delimiter: str = ""
    #: The delimiter by which a text may be a table, beside the comma, if any.
    likely_delimiter: str = ""
    #: The bytes that the one value of `rows` was decoded from, if they are few.
    decoded: bytes = b""
    #: The name of what made text of the file, empty if the file is text.
    unpacker: str = ""

    @property
    def is_one_document(self) -> bool:
        """Whether the one value in `rows` is all that the file holds, if it is JSON."""
        is_object = self.layout in {Layout.OBJECT, Layout.ONE_LINE}
        return is_object and self.whole and not self.several and len(self.rows) == 1


def parsed_rows(frame: Any) -> Iterator[Any]:
    """Yield the decoded rows of `frame` that are JSON; a fault has none."""
    if not isinstance(frame, Chunk):
        return
    values = _all_values(frame)
    if values is not None:
        yield from values
        return
    for row in frame.rows:
        yield from decoded_value(row)


def _all_values(chunk: Chunk) -> list[Any] | None:
    """Return the values of all rows, decoded at once; None where that is not sure."""
    if chunk.lines and not chunk.is_plain():
        return None
    try:
        if chunk.lines:
            values: list[Any] = _decoder.decode_lines(chunk.data)
        else:
            values = _decoder.decode(b"".join((b"[", chunk.data, b"]")))
    except NOT_JSON:
        return None
    # As many values as lines are one value in each line.
    return values if len(values) == len(chunk) else None


def decoded_value(text: bytes) -> Iterator[Any]:
    """Yield the value of `text` if it is JSON."""
    try:
        yield _decoder.decode(text)
    except NOT_JSON:
        return
