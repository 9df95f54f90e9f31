"""Take a sample from the beginning of a file, and cut the file into rows afterwards."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain, islice
from typing import Any

from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.chunk import JSON_SPACE, Chunk, Frame, Frames
from harpia_formats.files.framing.columns import DocumentFrames, document_frames
from harpia_formats.files.framing.container import (
    Layout,
    OpenedContainer,
    frames_of,
    open_container,
    without_leading_comments,
)
from harpia_formats.files.framing.limits import WINDOW
from harpia_formats.files.framing.next_value import ValueState, read_value
from harpia_formats.files.parsing.full_width import with_plain_punctuation
from harpia_formats.files.parsing.truncated_json import parse_truncated
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.file_name import (
    JSON_SUFFIXES,
    delimiter_of,
    uncompressed_lower_name,
)
from harpia_formats.formats.detection.sample import (
    DECODED_BYTES,
    SAMPLE_BYTES,
    SAMPLE_RECORDS,
    Sample,
    decoded_value,
    parsed_rows,
)
from harpia_formats.formats.detection.table_sample import (
    is_table,
    likely_delimiter,
    table_sample,
)
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import Path

#: Rows that a sample is made of if none is JSON.
BROKEN_ROWS = 20
_object_layouts = {Layout.OBJECT, Layout.ONE_LINE, Layout.LONG_LINE}


class Framing(Enum):
    """How a file is cut into rows."""

    #: By its layout: each row is a value of its own.
    VALUES = auto()
    #: Into the items of some members of one object, and a header.
    MEMBERS = auto()
    #: Into rows of fields, below a header.
    TABLE = auto()
    #: Not at all: of a text that is neither JSON nor a table, and of a table with
    #: another delimiter, it is not known what a record is.
    NONE = auto()


@dataclass(slots=True)
class SampledFile:
    """A file from which a sample was taken, with all of its bytes still to be cut."""

    opened: OpenedContainer
    sample: Sample
    #: Bytes of one row, at most.
    limit: int
    #: Frames that were cut for the sample.
    held: list[Frame] = field(default_factory=list)
    #: The frames behind those.
    rest: Frames = field(default_factory=lambda: iter(()))

    def frames(self, framing: Framing, variant: FormatVariant | None) -> DocumentFrames:
        """Return all frames of the file, cut as values, or as members of `variant`."""
        if framing is Framing.VALUES or variant is None:
            layout = self.sample.layout
            if layout in _object_layouts or layout is Layout.TEXT:
                return frames_of(self.opened, self.limit)
            return chain(self.held, self.rest)
        return frames_of_members(self.opened, variant, self.limit)


def frames_of_members(
    opened: OpenedContainer, variant: FormatVariant, limit: int
) -> DocumentFrames:
    """Return the frames of an object whose arrays are cut as its dialect says."""
    dialect, depth = variant.dialect, variant.dialect.depth
    if dialect.container is Container.WRAPPED:
        depth = len(dialect.rows_path)

    def is_cut(path: Path) -> bool:
        if dialect.container is Container.WRAPPED:
            return path == dialect.rows_path
        return len(path) == depth

    return document_frames(opened.buffer, opened.start, limit, is_cut, depth)


def reread_frames(
    blocks: Callable[[], Iterable[bytes]],
    framing: Framing,
    variant: FormatVariant | None,
    limit: int,
) -> DocumentFrames:
    """Return the frames of a file from its `blocks`, read once more.

    `framing` and `variant` are those that the file was read with before.
    """
    opened = open_container(blocks())
    if framing is Framing.MEMBERS and variant is not None:
        return frames_of_members(opened, variant, limit)
    return frames_of(opened, limit)


def framing_of(variant: FormatVariant | None, layout: Layout) -> Framing:
    """Return how a file of `layout` is cut if it is read as `variant`."""
    container = variant.dialect.container if variant else Container.ROWS
    if container is Container.TABLE:
        return Framing.TABLE
    has_members = container in {Container.WRAPPED, Container.COLUMNS}
    is_object = layout in _object_layouts
    return Framing.MEMBERS if has_members and is_object else Framing.VALUES


def sample_file(
    opened: OpenedContainer,
    limit: int,
    formats: Sequence[Format],
    name: str,
    delimiter: str | None = None,
) -> SampledFile:
    """Take the sample of a file called `name` that may be in one of `formats`.

    `limit` is the most bytes of one row, `delimiter` is that of tables if the user
    named one.
    """
    if is_table(opened, formats, name, delimiter):
        sample = table_sample(opened, delimiter_of(delimiter, name))
        return SampledFile(opened, sample, limit)
    if opened.layout is Layout.LONG_LINE:
        opened.layout = _layout_by_first_value(opened.buffer)
    if opened.layout in _object_layouts:
        return SampledFile(opened, _object_sample(opened), limit)
    is_text, likely = opened.layout is Layout.TEXT, ""
    if is_text:
        opened.layout = Layout.LINES
        is_text = not uncompressed_lower_name(name).endswith(JSON_SUFFIXES)
        likely = likely_delimiter(opened) if is_text and formats else ""
    frames = frames_of(opened, limit)
    held = list(first_frames(frames))
    rows = tuple(value for frame in held for value in parsed_rows(frame))
    is_json = bool(rows)
    rows = rows or _truncated_rows(held)
    if is_text and not is_json:
        # Lines of a text may begin like a number.
        rows = tuple(row for row in rows if isinstance(row, dict | list))
    text, layout = is_text and not rows, opened.layout
    sample = Sample(
        layout,
        rows,
        whole=is_json,
        broken=not is_json,
        text=text,
        likely_delimiter=likely,
    )
    return SampledFile(opened, sample, limit, held, frames)


def _truncated_rows(frames: Iterable[Frame]) -> tuple[Any, ...]:
    """Return what can be read of the first rows if none of them is JSON."""
    texts = (
        text for frame in frames if isinstance(frame, Chunk) for text in frame.rows
    )
    values = (_readable_part(text) for text in islice(texts, BROKEN_ROWS))
    return tuple(value for value in values if value)


def _readable_part(text: bytes) -> Any:
    """Return what can be read of a broken text: all if punctuation is its fault."""
    plain = with_plain_punctuation(text)
    whole = decoded_value(plain) if plain != text else iter(())
    return next(whole, None) or parse_truncated(text)


def first_frames(frames: Frames) -> Frames:
    """Yield frames until they hold enough records for a sample."""
    records = size = 0
    while records < SAMPLE_RECORDS and size < SAMPLE_BYTES:
        frame = next(frames, None)
        if frame is None:
            return
        if isinstance(frame, Chunk):
            records += len(frame)
            size += len(frame.data)
        yield frame


def _layout_by_first_value(buffer: ByteBuffer) -> Layout:
    """Return the layout of a file whose first line is long.

    It is lines if the first value is one line and another object follows it.
    """
    buffer.fill(SAMPLE_BYTES)
    state, end = read_value(buffer.data, 0)
    is_one_line = b"\n" not in buffer.data[:end].strip()
    has_next = buffer.data[end : end + 1] == b"{"
    if state is ValueState.ENDED and is_one_line and has_next:
        buffer.put_back(WINDOW)
        return Layout.LINES
    return Layout.LONG_LINE


def _object_sample(opened: OpenedContainer) -> Sample:
    """Return the first value of a file of objects, cut short if it is long."""
    buffer = opened.buffer
    whole = not buffer.fill(SAMPLE_BYTES)
    text = without_leading_comments(buffer.data)
    value, several = next(decoded_value(text), None) if whole else None, False
    is_json = value is not None
    if not is_json:
        value = _readable_part(text) if whole else parse_truncated(text)
        several = read_value(text, 0)[0] is ValueState.ENDED
    buffer.put_back(WINDOW)
    is_known = value or (value is not None and whole)
    rows = (value,) if is_known else ()
    if isinstance(value, list):  # an array behind a comment
        rows = tuple(value)
    broken = whole and not is_json and not several
    is_one = is_json and isinstance(value, dict)
    is_kept = is_one and len(text) <= DECODED_BYTES
    return Sample(
        opened.layout,
        rows,
        whole=whole,
        several=several,
        broken=broken,
        decoded=text.strip(JSON_SPACE) if is_kept else b"",
    )
