"""Cut a JSON array into rows by verified windows.

A window ends at a candidate for a row boundary. If it decodes as the inside of an
array, everything in it parses, so the cut is right; if not, the candidate before
it is tried. Where none decodes, the slow scanner reads one row: it finds the end of
a row that is longer than the window, or the place where a row is broken.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from harpia_formats.framing import (
    JSON_SPACE,
    WINDOW,
    Chunk,
    Cursor,
    Feed,
    Flaw,
    Frames,
    is_blank,
)
from harpia_formats.fault import FaultKind
from harpia_formats.scan import find_fault

#: Candidates of each kind that are tried before the scanner is asked.
ATTEMPTS = 12

_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_fault_byte = re.compile(r"\(byte (\d+)\)$")
_head = re.compile(rb'[ \t\r\n]*(\{[ \t\r\n]*"[^"\\]*")')
_any_row = re.compile(rb"\}[ \t\r\n]*(,)[ \t\r\n]*\{")


def array_rows(feed: Feed, start: Cursor, limit: int) -> Frames:
    """Yield the items of the array that `feed` begins with, and what is wrong."""
    opening = feed.data.index(b"[") + 1
    cutter = Cutter(feed, start, limit)
    cutter.consume(opening)
    return cutter.run()


@dataclass(slots=True)
class Cutter:
    """How far an array has been cut into rows."""

    feed: Feed
    #: Position of the first byte of `feed.data`.
    start: Cursor
    limit: int
    window: int = WINDOW
    #: Matches a comma and what a row begins with: its brace and first key.
    next_row: re.Pattern[bytes] | None = None
    #: Whether a comma was read and an item must follow.
    owed: bool = False
    #: Whether the blocks are at their end.
    ended: bool = field(default=False)

    def run(self) -> Frames:
        """Yield rows and flaws until the array and the file end."""
        while True:
            self.ended = not self.feed.fill(self.window)
            data = self.feed.data
            space = len(data) - len(data.lstrip(JSON_SPACE))
            following = data[space : space + 1]
            if not following and not self.ended:
                self.consume(space)
            elif following in {b"", b"]"}:
                yield from self._close(space)
                return
            elif following == b",":
                yield Flaw("missing-item", self.start.after(data[:space]))
                self.consume(space + 1)
            else:
                yield from self._rows()

    def consume(self, size: int) -> bytes:
        """Take the next `size` bytes off the feed."""
        data = self.feed.data[:size]
        self.feed.data = self.feed.data[size:]
        self.start = self.start.after(data)
        return data

    def _close(self, space: int) -> Frames:
        """Say what is wrong at the end of the array, and behind it."""
        place = self.start.after(self.feed.data[:space])
        if space == len(self.feed.data):
            yield Flaw("unclosed", place)
            return
        if self.owed:
            yield Flaw("missing-item", place)
        self.consume(space + 1)
        while is_blank(self.feed.data):
            self.consume(len(self.feed.data))
            if not self.feed.fill(1):
                return
        rest = self.feed.data
        space = len(rest) - len(rest.lstrip(JSON_SPACE))
        yield Flaw("trailing", self.start.after(rest[:space]))

    def _rows(self) -> Frames:
        """Yield the rows that can be cut from what is held, or one broken row."""
        cut = self._verified_cut()
        if cut is not None:
            yield self._chunk(*cut)
            self._take_comma()
            self.window = WINDOW
            return
        fault = find_fault(self.feed.data)
        if fault is None or fault.kind is FaultKind.TRUNCATED:
            yield from self._unended_row()
        else:
            yield from self._broken_row(fault.start)

    def _verified_cut(self) -> tuple[int, list[bytes]] | None:
        """Return the end of the last row that can be verified, and the rows."""
        data, broken = self.feed.data, len(self.feed.data)
        for end in self._candidates():
            if end > broken:
                continue
            try:
                rows = _items(b"[%b]" % data[:end])
            except msgspec.DecodeError as error:
                found = _fault_byte.search(str(error))
                place = int(found[1]) - 1 if found else end
                broken = min(broken, place) if place < end else broken
            except RecursionError:
                continue
            else:
                return end, [bytes(each) for each in rows]
        return None

    def _candidates(self) -> Iterator[int]:
        """Yield places where a row may end, the likely and the late ones first."""
        data = self.feed.data
        if self.ended:
            yield from islice(_places_before_end(data, b"]"), 2)
            yield len(data)
        if self.next_row is not None:
            found = [each.start() for each in self.next_row.finditer(data)]
            yield from found[: -ATTEMPTS - 1 : -1]
        yield from islice(_places_before_end(data, b","), ATTEMPTS)

    def _chunk(self, end: int, rows: list[bytes]) -> Chunk:
        if self.next_row is None and (head := _head.match(self.feed.data)):
            self.next_row = re.compile(rb",[ \t\r\n]*" + re.escape(head[1]))
        start = self.start
        return Chunk(self.consume(end), start, rows)

    def _take_comma(self) -> None:
        """Take the comma behind a row, if there is one."""
        data = self.feed.data
        space = len(data) - len(data.lstrip(JSON_SPACE))
        self.owed = data[space : space + 1] == b","
        if self.owed:
            self.consume(space + 1)

    def _unended_row(self) -> Frames:
        """Read on in a row that goes beyond the window, up to the limit."""
        if not self.ended and self.window <= self.limit:
            self.window *= 2
            return
        self.window = WINDOW
        if not self.ended:
            yield from self._pass_over_row()
            return
        end = len(self.feed.data.rstrip(JSON_SPACE))
        yield from self._single_row(end)
        # The row's own fault says that the file ends too early.
        self.feed.data, self.owed = b"]", False

    def _broken_row(self, fault: int) -> Frames:
        """Yield a broken row, up to what looks like the beginning of the next."""
        end = self._next_row_after(fault)
        while end is None and len(self.feed.data) <= self.limit and self.feed.grow():
            end = self._next_row_after(fault)
        if end is None and len(self.feed.data) > self.limit:
            yield from self._pass_over_row()
            return
        if end is None:
            end = len(self.feed.data.rstrip(JSON_SPACE).removesuffix(b"]"))
        yield from self._single_row(max(end, 1))
        self._take_comma()

    def _next_row_after(self, fault: int) -> int | None:
        """Return where the comma before the next row is, seen from a fault."""
        data = self.feed.data
        if self.next_row is not None and (found := self.next_row.search(data, fault)):
            return found.start()
        found = _any_row.search(data, max(0, fault - 1))
        return found.start(1) if found else None

    def _single_row(self, end: int) -> Frames:
        start = self.start
        data = self.consume(end)
        space = len(data) - len(data.lstrip(JSON_SPACE))
        row = data[space:].rstrip(JSON_SPACE)
        start = start.after(data[:space])
        if len(row) > self.limit:
            yield Flaw("oversize", start, len(row), record=True)
        else:
            yield Chunk(row, start, [row])

    def _pass_over_row(self) -> Frames:
        """Skip a row that is longer than the limit, without holding it."""
        start, size = self.start, 0
        while (end := self._next_row_after(0)) is None:
            keep = min(len(self.feed.data), 4096)
            size += len(self.consume(len(self.feed.data) - keep))
            if not self.feed.grow():
                end = len(self.feed.data.rstrip(JSON_SPACE).removesuffix(b"]"))
                break
        size += len(self.consume(end))
        yield Flaw("oversize", start, size, record=True)
        self._take_comma()


def _places_before_end(data: bytes, mark: bytes) -> Iterator[int]:
    """Yield the places of `mark` in `data`, the last first."""
    place = data.rfind(mark)
    while place >= 0:
        yield place
        place = data.rfind(mark, 0, place)
