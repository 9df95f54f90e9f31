"""The beginning of a file, from which its format is told, and how it is cut then."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain, islice
from typing import Any

from harpia_formats.detection.candidates import Variant, variants_of
from harpia_formats.detection.file_name import plain_name
from harpia_formats.detection.recognize import HEAD_BYTES, HEAD_RECORDS, Head, values_in
from harpia_formats.framing.columns import Slices, slices_of
from harpia_formats.framing.container import (
    Layout,
    Opening,
    behind_comments,
    opening_of,
    rows_of,
)
from harpia_formats.framing.lines import WINDOW, Chunk, Feed, Frames, FramingFault
from harpia_formats.framing.next_value import State, read_item
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import Path
from harpia_formats.parsing.truncated_json import sketch_of

#: Columns that tell a table whose name does not, and names that tell otherwise.
FEWEST_COLUMNS = 2
_json_names = (".json", ".jsonl", ".ndjson")
#: Rows that are looked at where none parses.
BROKEN_ROWS = 20
_objects = {Layout.OBJECT, Layout.ONE_LINE, Layout.LONG_LINE}


class Cut(Enum):
    """How a file is cut into rows."""

    #: By its layout: each row is a value of its own.
    VALUES = auto()
    #: Into the items of some members of one object, and a header.
    MEMBERS = auto()
    #: Into rows of fields, below a header.
    TABLE = auto()


@dataclass(slots=True)
class Beginning:
    """A file of which nothing is lost, and what it begins with."""

    opening: Opening
    head: Head
    limit: int
    #: Frames that were taken to look at.
    held: list[Chunk | FramingFault] = field(default_factory=list)
    flow: Frames = field(default_factory=lambda: iter(()))

    def frames(self, cut: Cut, variant: Variant | None) -> Slices:
        """Return all frames of the file, cut as values or as members."""
        if cut is Cut.VALUES or variant is None:
            if self.head.layout in _objects or self.head.layout is Layout.TEXT:
                return rows_of(self.opening, self.limit)
            return chain(self.held, self.flow)
        return members_of(self.opening, variant, self.limit)


def members_of(opening: Opening, variant: Variant, limit: int) -> Slices:
    """Return the slices of an object, cut as its dialect says."""
    dialect = variant.dialect

    def is_cut(path: Path) -> bool:
        if dialect.container is Container.WRAPPED:
            return path == (dialect.rows_at,)
        return len(path) == dialect.depth

    return slices_of(opening.feed, opening.start, limit, is_cut, dialect.depth)


def frames_again(
    blocks: Callable[[], Iterable[bytes]], cut: Cut, variant: Variant | None, limit: int
) -> Slices:
    """Return the frames of a file that was judged as `variant`, from its `blocks`."""
    opening = opening_of(blocks())
    if cut is Cut.MEMBERS and variant is not None:
        return members_of(opening, variant, limit)
    return rows_of(opening, limit)


def cut_of(variant: Variant | None, layout: Layout) -> Cut:
    """Return how a file of `layout` is cut that is judged as `variant`."""
    container = variant.dialect.container if variant else Container.ROWS
    if container is Container.TABLE:
        return Cut.TABLE
    sliced = container in {Container.WRAPPED, Container.COLUMNS}
    return Cut.MEMBERS if sliced and layout in _objects else Cut.VALUES


def begin(
    opening: Opening,
    limit: int,
    formats: Sequence[Format],
    name: str,
    known: Sequence[Format],
) -> Beginning:
    """Return the beginning of a file called `name` that may be in one of `formats`.

    `known` are all formats that there are.
    """
    if _is_table(opening, formats, name, known):
        return Beginning(opening, _table_head(opening), limit)
    if opening.layout is Layout.LONG_LINE:
        opening.layout = _told_by_more(opening.feed)
    if opening.layout in _objects:
        return Beginning(opening, _object_head(opening), limit)
    if opening.layout is Layout.TEXT:
        opening.layout = Layout.LINES
    flow = rows_of(opening, limit)
    held = list(head_of(flow))
    rows = tuple(value for each in held for value in values_in(each))
    head = Head(opening.layout, rows or _sketches(held), whole=bool(rows))
    return Beginning(opening, head, limit, held, flow)


def _sketches(held: Iterable[Chunk | FramingFault]) -> tuple[Any, ...]:
    """Return what can be told of rows none of which parses."""
    texts = (text for each in held if isinstance(each, Chunk) for text in each.rows)
    values = (sketch_of(each) for each in islice(texts, BROKEN_ROWS))
    return tuple(each for each in values if each)


def head_of(flow: Frames) -> Frames:
    """Yield frames until they hold enough records to tell a format from."""
    records = size = 0
    while records < HEAD_RECORDS and size < HEAD_BYTES:
        frame = next(flow, None)
        if frame is None:
            return
        if isinstance(frame, Chunk):
            records += len(frame)
            size += len(frame.data)
        yield frame


def _told_by_more(feed: Feed) -> Layout:
    """Tell the layout of a file whose first lines are long, if its first value ends."""
    feed.fill(HEAD_BYTES)
    state, end = read_item(feed.data, 0)
    is_one_line = b"\n" not in feed.data[:end].strip()
    if state is State.ENDED and is_one_line and feed.data[end : end + 1] == b"{":
        feed.give_back(WINDOW)
        return Layout.LINES
    return Layout.LONG_LINE


def _object_head(opening: Opening) -> Head:
    feed = opening.feed
    whole = not feed.fill(HEAD_BYTES)
    text = behind_comments(feed.data)
    value = sketch_of(text)
    several = read_item(text, 0)[0] is State.ENDED
    feed.give_back(WINDOW)
    is_told = value or (value is not None and whole)
    rows = (value,) if is_told else ()
    if isinstance(value, list):  # an array behind a comment
        rows = tuple(value)
    return Head(opening.layout, rows, whole=whole, several=several)


def _is_table(
    opening: Opening, formats: Sequence[Format], name: str, known: Sequence[Format]
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
    if plain_name(name).endswith(".csv"):
        return True
    header, first = _first_rows(opening)
    row = _record(header, first)
    tables = variants_of(known, Layout.TEXT)
    particular = [each for each in tables if not each.format.general]
    if any(each.dialect.sniff(row) for each in particular):
        return True
    is_named = plain_name(name).endswith(_json_names)
    return not is_named and FEWEST_COLUMNS <= len(header) == len(first)


def _table_head(opening: Opening) -> Head:
    """Return the first record below the header, its fields by their columns."""
    header, first = _first_rows(opening)
    return Head(Layout.TEXT, (_record(header, first),) if header else ())


def _record(header: Sequence[str], first: Sequence[str]) -> dict[str, str]:
    return dict(zip(header, [*first, *[""] * len(header)], strict=False))


def _first_rows(opening: Opening) -> tuple[list[str], list[str]]:
    """Return the fields of the header and of the first row below it."""
    from harpia_formats.parsing.csv_records import TableRow, table_rows  # noqa: PLC0415 - only tables need it

    opening.feed.fill(HEAD_BYTES // 8)
    copy = Feed(iter(()), opening.feed.data)
    found = table_rows(copy, opening.start, len(copy.data))
    rows = (each.fields for each in found if isinstance(each, TableRow))
    texts = [[each.text for each in fields] for fields in islice(rows, 2)]
    opening.feed.give_back(WINDOW)
    header, first = [*texts, [], []][:2]
    return header, first
