"""The beginning of a file, from which its format is told, and how it is cut then."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain, islice
from typing import Any

from harpia_formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.detection.file_name import uncompressed_lower_name
from harpia_formats.detection.recognize import (
    SAMPLE_BYTES,
    SAMPLE_RECORDS,
    Sample,
    parsed_rows,
)
from harpia_formats.framing.columns import DocumentFrames, document_frames
from harpia_formats.framing.container import (
    Layout,
    OpenedContainer,
    frames_of,
    open_container,
    without_leading_comments,
)
from harpia_formats.framing.lines import WINDOW, ByteBuffer, Chunk, Frames, FramingFault
from harpia_formats.framing.next_value import ValueState, read_value
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import Path
from harpia_formats.parsing.truncated_json import parse_truncated

#: Columns that tell a table whose name does not, and names that tell otherwise.
FEWEST_COLUMNS = 2
_json_names = (".json", ".jsonl", ".ndjson")
#: Rows that are looked at where none parses.
BROKEN_ROWS = 20
_objects = {Layout.OBJECT, Layout.ONE_LINE, Layout.LONG_LINE}


class Framing(Enum):
    """How a file is cut into rows."""

    #: By its layout: each row is a value of its own.
    VALUES = auto()
    #: Into the items of some members of one object, and a header.
    MEMBERS = auto()
    #: Into rows of fields, below a header.
    TABLE = auto()


@dataclass(slots=True)
class SampledFile:
    """A file of which nothing is lost, and what it begins with."""

    opening: OpenedContainer
    head: Sample
    limit: int
    #: Frames that were taken to look at.
    held: list[Chunk | FramingFault] = field(default_factory=list)
    flow: Frames = field(default_factory=lambda: iter(()))

    def frames(self, cut: Framing, variant: FormatVariant | None) -> DocumentFrames:
        """Return all frames of the file, cut as values or as members."""
        if cut is Framing.VALUES or variant is None:
            if self.head.layout in _objects or self.head.layout is Layout.TEXT:
                return frames_of(self.opening, self.limit)
            return chain(self.held, self.flow)
        return frames_of_members(self.opening, variant, self.limit)


def frames_of_members(
    opening: OpenedContainer, variant: FormatVariant, limit: int
) -> DocumentFrames:
    """Return the slices of an object, cut as its dialect says."""
    dialect = variant.dialect

    def is_cut(path: Path) -> bool:
        if dialect.container is Container.WRAPPED:
            return path == (dialect.rows_at,)
        return len(path) == dialect.depth

    return document_frames(opening.feed, opening.start, limit, is_cut, dialect.depth)


def reread_frames(
    blocks: Callable[[], Iterable[bytes]],
    cut: Framing,
    variant: FormatVariant | None,
    limit: int,
) -> DocumentFrames:
    """Return the frames of a file that was judged as `variant`, from its `blocks`."""
    opening = open_container(blocks())
    if cut is Framing.MEMBERS and variant is not None:
        return frames_of_members(opening, variant, limit)
    return frames_of(opening, limit)


def framing_of(variant: FormatVariant | None, layout: Layout) -> Framing:
    """Return how a file of `layout` is cut that is judged as `variant`."""
    container = variant.dialect.container if variant else Container.ROWS
    if container is Container.TABLE:
        return Framing.TABLE
    sliced = container in {Container.WRAPPED, Container.COLUMNS}
    return Framing.MEMBERS if sliced and layout in _objects else Framing.VALUES


def sample_file(
    opening: OpenedContainer,
    limit: int,
    formats: Sequence[Format],
    name: str,
    known: Sequence[Format],
) -> SampledFile:
    """Return the beginning of a file called `name` that may be in one of `formats`.

    `known` are all formats that there are.
    """
    if _is_table(opening, formats, name, known):
        return SampledFile(opening, _table_head(opening), limit)
    if opening.layout is Layout.LONG_LINE:
        opening.layout = _told_by_more(opening.feed)
    if opening.layout in _objects:
        return SampledFile(opening, _object_head(opening), limit)
    if opening.layout is Layout.TEXT:
        opening.layout = Layout.LINES
    flow = frames_of(opening, limit)
    held = list(first_frames(flow))
    rows = tuple(value for each in held for value in parsed_rows(each))
    head = Sample(opening.layout, rows or _sketches(held), whole=bool(rows))
    return SampledFile(opening, head, limit, held, flow)


def _sketches(held: Iterable[Chunk | FramingFault]) -> tuple[Any, ...]:
    """Return what can be told of rows none of which parses."""
    texts = (text for each in held if isinstance(each, Chunk) for text in each.rows)
    values = (parse_truncated(each) for each in islice(texts, BROKEN_ROWS))
    return tuple(each for each in values if each)


def first_frames(flow: Frames) -> Frames:
    """Yield frames until they hold enough records to tell a format from."""
    records = size = 0
    while records < SAMPLE_RECORDS and size < SAMPLE_BYTES:
        frame = next(flow, None)
        if frame is None:
            return
        if isinstance(frame, Chunk):
            records += len(frame)
            size += len(frame.data)
        yield frame


def _told_by_more(feed: ByteBuffer) -> Layout:
    """Tell the layout of a file whose first lines are long, if its first value ends."""
    feed.fill(SAMPLE_BYTES)
    state, end = read_value(feed.data, 0)
    is_one_line = b"\n" not in feed.data[:end].strip()
    if state is ValueState.ENDED and is_one_line and feed.data[end : end + 1] == b"{":
        feed.put_back(WINDOW)
        return Layout.LINES
    return Layout.LONG_LINE


def _object_head(opening: OpenedContainer) -> Sample:
    feed = opening.feed
    whole = not feed.fill(SAMPLE_BYTES)
    text = without_leading_comments(feed.data)
    value = parse_truncated(text)
    several = read_value(text, 0)[0] is ValueState.ENDED
    feed.put_back(WINDOW)
    is_told = value or (value is not None and whole)
    rows = (value,) if is_told else ()
    if isinstance(value, list):  # an array behind a comment
        rows = tuple(value)
    return Sample(opening.layout, rows, whole=whole, several=several)


def _is_table(
    opening: OpenedContainer,
    formats: Sequence[Format],
    name: str,
    known: Sequence[Format],
) -> bool:
    """Tell whether a file is a table: by what is asked for, its name or its header.

    One that is not asked for is told all the same, to say so.
    """
    if not formats:
        return False
    if len(variants_of(formats, Layout.TEXT)) == len(variants_of(formats)):
        return True
    if opening.layout is not Layout.TEXT:
        return False
    if uncompressed_lower_name(name).endswith(".csv"):
        return True
    header, first = _first_rows(opening)
    row = _record(header, first)
    tables = variants_of(known, Layout.TEXT)
    particular = [each for each in tables if not each.format.general]
    if any(each.dialect.sniff(row) for each in particular):
        return True
    is_named = uncompressed_lower_name(name).endswith(_json_names)
    return not is_named and FEWEST_COLUMNS <= len(header) == len(first)


def _table_head(opening: OpenedContainer) -> Sample:
    """Return the first record below the header, its fields by their columns."""
    header, first = _first_rows(opening)
    return Sample(Layout.TEXT, (_record(header, first),) if header else ())


def _record(header: Sequence[str], first: Sequence[str]) -> dict[str, str]:
    return dict(zip(header, [*first, *[""] * len(header)], strict=False))


def _first_rows(opening: OpenedContainer) -> tuple[list[str], list[str]]:
    """Return the fields of the header and of the first row below it."""
    from harpia_formats.parsing.csv_records import TableRow, table_rows  # noqa: PLC0415 - only tables need it

    opening.feed.fill(SAMPLE_BYTES // 8)
    copy = ByteBuffer(iter(()), opening.feed.data)
    found = table_rows(copy, opening.start, len(copy.data))
    rows = (each.fields for each in found if isinstance(each, TableRow))
    texts = [[each.text for each in fields] for fields in islice(rows, 2)]
    opening.feed.put_back(WINDOW)
    header, first = [*texts, [], []][:2]
    return header, first
