"""Which container a stream of bytes is, told from its beginning."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from harpia_formats.framing.lines import (
    BOM,
    JSON_SPACE,
    ROW_LIMIT,
    WINDOW,
    ByteBuffer,
    Cursor,
    Frames,
    FramingFault,
    document_rows,
    is_blank,
    line_rows,
)
from harpia_formats.framing.next_value import ValueState, read_value


class Layout(StrEnum):
    """How a file is put together, whatever its records mean."""

    LINES = "JSON Lines"
    ARRAY = "a JSON array"
    #: One object, or several, over several lines.
    OBJECT = "a JSON object"
    #: One object in one line: a document, or the only row of JSON Lines.
    ONE_LINE = "a JSON object in one line"
    #: A line that is too long to tell whether others follow.
    LONG_LINE = "a long line"
    #: Anything else.
    TEXT = "text"
    EMPTY = "nothing"


_space = re.compile(rb"[ \t\r\n]*+")
_comments = re.compile(rb"(?:[ \t\r\n]++|(?://|#)[^\n]*+\n|/\*.*?\*/)*+", re.DOTALL)


@dataclass(slots=True)
class OpenedContainer:
    """A stream of bytes whose container is known, with nothing cut from it yet."""

    feed: ByteBuffer
    layout: Layout
    #: Position of the first byte of `feed.data`.
    start: Cursor
    #: Position behind a byte order mark.
    content_start: Cursor
    #: What is wrong before the first record.
    faults: list[FramingFault] = field(default_factory=list)


def open_container(blocks: Iterable[bytes]) -> OpenedContainer:
    """Read the beginning of the `blocks` of a file, and tell their container."""
    feed = ByteBuffer(iter(blocks))
    feed.fill(len(BOM))
    start = beginning = Cursor()
    flaws = []
    if feed.data.startswith(BOM):
        flaws.append(FramingFault("bom", start, len(BOM)))
        feed.data = feed.data[len(BOM) :]
        start = beginning = Cursor(len(BOM))
    while is_blank(feed.data) and feed.grow():
        if is_blank(feed.data) and len(feed.data) > WINDOW:
            start, feed.data = start.after(feed.data), b""
    if is_blank(feed.data):
        flaws.append(FramingFault("empty", beginning))
        return OpenedContainer(feed, Layout.EMPTY, start, beginning, flaws)
    return OpenedContainer(feed, _layout_of(feed), start, beginning, flaws)


def frames(blocks: Iterable[bytes], *, limit: int = ROW_LIMIT) -> Frames:
    """Yield the rows of `blocks` in chunks, and what is wrong around them.

    The container is recognised by content. Nothing larger than a block, a window
    and a row is held in memory; a row beyond `limit` bytes becomes a flaw.
    """
    opening = open_container(blocks)
    yield from opening.faults
    yield from frames_of(opening, limit)


def frames_of(opening: OpenedContainer, limit: int) -> Frames:
    """Return the rows of what is opened, cut by its container."""
    layout = opening.layout
    if layout is Layout.EMPTY:
        return iter(())
    if layout is Layout.ARRAY:
        from harpia_formats.framing.array import array_rows  # noqa: PLC0415 - only arrays need it

        return array_rows(opening.feed, opening.start, limit)
    if layout is Layout.LONG_LINE:
        layout = Layout.OBJECT if _is_document(opening.feed, limit) else layout
        # What was read to tell would be cut into a single chunk.
        opening.feed.put_back(WINDOW)
    rows = document_rows if layout is Layout.OBJECT else line_rows
    return rows(opening.feed, opening.start, limit)


def _layout_of(feed: ByteBuffer) -> Layout:
    """Tell the container that `feed` begins with."""
    first = feed.data.lstrip(JSON_SPACE)[:1]
    if first == b"[":
        return Layout.LINES if _is_array_a_line(feed) else Layout.ARRAY
    if first != b"{":
        return _behind_comment(feed)
    if not _holds_a_line(feed):
        return Layout.LONG_LINE
    if _is_document(feed, WINDOW):
        return Layout.OBJECT
    return Layout.ONE_LINE if _is_one_line(feed) else Layout.LINES


def _behind_comment(feed: ByteBuffer) -> Layout:
    """Tell whether a document stands behind comments, which JSON has not."""
    feed.fill(WINDOW)
    rest = without_leading_comments(feed.data)
    if len(rest) < len(feed.data) and rest.startswith((b"{", b"[")):
        layout = _layout_of(ByteBuffer(iter(()), rest))
        # An array is taken as a whole too, for its comment to be told once.
        if layout in {Layout.OBJECT, Layout.ARRAY}:
            return Layout.OBJECT
    return Layout.TEXT


def without_leading_comments(data: bytes) -> bytes:
    """Return `data` without white space and comments in front."""
    found = _comments.match(data)
    return data[found.end() :] if found else data


def _holds_a_line(feed: ByteBuffer) -> bool:
    """Tell whether the first line ends within a window, or with the data."""
    while not _first_lines(feed.data)[2] and len(feed.data) < WINDOW:
        if not feed.grow(WINDOW):
            return True
    return _first_lines(feed.data)[2]


def _is_one_line(feed: ByteBuffer) -> bool:
    """Tell whether all of `feed` is one line."""
    return not _first_lines(feed.data)[1] and not feed.grow()


def _is_array_a_line(feed: ByteBuffer) -> bool:
    """Tell whether the first line is a whole array and another value follows it."""
    feed.fill(WINDOW)
    first, second, _ = _first_lines(feed.data[:WINDOW])
    return second.startswith((b"[", b"{")) and _complaint(first) is None


def _is_document(feed: ByteBuffer, limit: int) -> bool:
    """Tell whether an object begins that is spread over several lines.

    A first line that was cut off is told from one by the next: in a document it
    continues the object, in JSON Lines it begins another.
    """
    first, second, is_whole = _first_lines(feed.data)
    while not is_whole and len(feed.data) < limit and feed.grow(limit):
        first, second, is_whole = _first_lines(feed.data)
    # With its newline, a line that ends inside of a string is broken, not cut off.
    if not second or _complaint(first + b"\n") != "Input data was truncated":
        return False
    if not second.startswith((b"{", b"[")):
        return True
    if _goes_on(feed):
        return True
    is_open = first.rstrip(JSON_SPACE).endswith((b"{", b"[", b",", b":"))
    return is_open and _complaint(second) is not None


def _goes_on(feed: ByteBuffer) -> bool:
    """Tell whether an object that the first line leaves open is closed further on.

    One that is still open in a window goes on if more than two lines are in it.
    """
    while True:
        data = feed.data.strip(JSON_SPACE)
        state, _ = read_value(data, 0)
        if state is not ValueState.OPEN:
            return state is not ValueState.BROKEN
        if len(feed.data) >= WINDOW or not feed.grow(WINDOW):
            return data.count(b"\n") > 1


def _first_lines(data: bytes) -> tuple[bytes, bytes, bool]:
    """Return the first two lines of `data` that are not blank, and whether both end."""
    # What is behind them may be megabytes, and is not copied.
    data = data.lstrip(JSON_SPACE)
    end = data.find(b"\n")
    if end < 0:
        return data, b"", False
    space = _space.match(data, end)
    begin = space.end() if space else end
    second = data.find(b"\n", begin)
    is_whole = second >= 0
    return data[:end], data[begin : second if is_whole else None], is_whole


def _complaint(text: bytes) -> str | None:
    """Return what the parser says against `text`, if anything."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        return str(error)
    except RecursionError:
        return "too deep"
    return None
