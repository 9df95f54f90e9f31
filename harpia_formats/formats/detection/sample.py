"""A sample of rows from the beginning of a file, and what the name of the file says."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import Struct

from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.files.framing.container import Layout
from harpia_formats.files.io.encodings import SUFFIXES
from harpia_formats.files.parsing.csv_delimiter import COMMA, TAB, delimiter_named
from harpia_formats.model.exact_json import NOT_JSON

_decoder = msgspec.json.Decoder()
#: Records of a sample, at most.
SAMPLE_RECORDS = 1_000
#: Bytes that a sample is taken from, at most, but for the last chunk.
SAMPLE_BYTES = 8 * 1024 * 1024
#: Bytes of a document that are kept with its value, at most.
DECODED_BYTES = 256 * 1024


class Sample(Struct, frozen=True):
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
    #: The delimiter by which a text may be a table, apart from the comma, if any.
    likely_delimiter: str = ""
    #: The bytes that the one value of `rows` was decoded from, if they are few.
    decoded: bytes = b""
    #: The name of what made text of the file, empty if the file is text.
    unpacker: str = ""

    @property
    def is_one_document(self) -> bool:
        """Whether the one value in `rows` is all that the file holds, if it is JSON."""
        is_object = self.layout is Layout.OBJECT or self.layout is Layout.ONE_LINE
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


#: Layouts that a suffix stands for.
_expected = {
    ".json": {Layout.ARRAY, Layout.OBJECT, Layout.ONE_LINE, Layout.LONG_LINE},
    ".jsonl": {Layout.LINES, Layout.ONE_LINE, Layout.LONG_LINE},
    ".ndjson": {Layout.LINES, Layout.ONE_LINE, Layout.LONG_LINE},
    ".csv": {Layout.TEXT},
    ".tsv": {Layout.TEXT},
}
#: Suffixes of tables, and of files of JSON.
TABLE_SUFFIXES = (".csv", ".tsv")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
#: The suffix for a layout; `.json` for all others.
_suffixes = {Layout.LINES: ".jsonl", Layout.TEXT: ".csv"}
#: Records that a file must have to be lines for sure, not one broken document.
FEWEST = 2


def misleading_suffix(name: str, sample: Sample) -> tuple[str, str] | None:
    """Return a message and a help if the suffix of `name` is wrong, else None."""
    plain, layout = uncompressed_lower_name(name), sample.layout
    if sample.several or (layout is Layout.LINES and len(sample.rows) < FEWEST):
        return None
    suffix = plain[plain.rfind(".") :]
    expected = _expected.get(suffix)
    if expected is None or layout is Layout.EMPTY or layout in expected:
        return None
    content = "a table" if layout is Layout.TEXT else layout.value
    message = f"the file is called {suffix} and holds {content}"
    return message, f"call it {_suffixes.get(layout, '.json')}"


def delimiter_of(given: str | None, name: str) -> str:
    """Return the delimiter of a table: the `given` one, or that of a file so called.

    Fields of a file called .tsv are separated by tabs, those of others by commas.
    Raises `ValueError` if `given` is no delimiter.
    """
    if given is not None:
        return delimiter_named(given)
    return TAB if uncompressed_lower_name(name).endswith(".tsv") else COMMA


def has_suffix(name: str) -> bool:
    """Tell whether `name` has a suffix: that of standard input or a pipe has none."""
    return bool(PurePath(without_compression(name)).suffix)


def uncompressed_lower_name(name: str) -> str:
    """Return `name` in lower case, without the suffix of its compression."""
    return without_compression(name).casefold()


def without_compression(name: str) -> str:
    """Return `name` without the suffix of its compression, such as `.gz`."""
    lower = name.casefold()
    if not lower.endswith(SUFFIXES):
        return name
    return name[: -next(len(suffix) for suffix in SUFFIXES if lower.endswith(suffix))]
