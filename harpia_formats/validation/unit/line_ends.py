"""Find the first line end of each kind in rows, and say where they are mixed."""

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.formats.rules.doubtful_text import MIXED_LINE_ENDS
from harpia_formats.validation.unit.collector import Collector

#: The first LF and the first CRLF, as far as there are any.
LineEnds = tuple[Cursor | None, Cursor | None]


def line_ends_of(chunk: Chunk) -> LineEnds:
    """Return the first LF and the first CRLF of rows that are lines."""
    data = chunk.data
    crlf = stringzilla.find(data, b"\r\n")
    lf = stringzilla.find(data, b"\n")
    if crlf >= 0 and lf == crlf + 1:
        while lf > 0 and data[lf - 1 : lf] == b"\r":
            lf = data.find(b"\n", lf + 1)
    return _cursor(chunk, lf), _cursor(chunk, crlf)


def _cursor(chunk: Chunk, at: int) -> Cursor | None:
    return None if at < 0 else chunk.start.after(chunk.data[:at])


def report_mixed(ends: LineEnds, collector: Collector) -> None:
    """Report that lines end differently, if they do."""
    lf, crlf = ends
    if lf is None or crlf is None:
        return
    is_crlf = crlf.offset > lf.offset
    names = ("CRLF", "LF") if is_crlf else ("LF", "CRLF")
    first, odd = (lf, crlf) if is_crlf else (crlf, lf)
    message = f"this line ends with {names[0]}, and line {first.line:,} with {names[1]}"
    help_ = "save the file with one kind of line ends"
    collector.add(MIXED_LINE_ENDS, message, help_, collector.place(odd))
