"""The progress of a run on standard error: a bar on a terminal, or lines in a pipe."""

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Self

from harpia_formats.cli.output.terminal import USUAL_WIDTH, width_of
from harpia_formats.files.io.source import ReadProgress

#: Seconds that a run lasts before anything is shown.
DELAY = 0.5
#: Seconds between two pictures of the bar, and between two lines.
_PICTURES, LINES = 0.1, 5.0
#: Seconds whose mean rate is shown, and the most times that are kept for it.
_WINDOW, _TIMES = 10.0, 200
_ERASE = "\r\x1b[2K"


class When(StrEnum):
    """When progress is shown: on a terminal, or never, or always."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class UnitsDone:
    """The progress of other work than reading bytes, such as rows that were judged."""

    #: What was done with them.
    name: str
    #: What they are, in the plural.
    unit: str
    #: How many were done.
    consumed: int
    #: How many there are; of `files` all files of the inputs if it is None.
    total: int | None = None


class Progress:
    """Shows how much was read, how fast, and how long the rest takes.

    A command makes one of these, gives `update` to the run as its option `progress`,
    and uses it as a context around the run, so that the bar is gone at the end. What is
    printed meanwhile is printed by `hidden_for`.
    """

    def __init__(
        self,
        *,
        quiet: bool,
        when: str = When.AUTO,
        inputs: Iterable[str] = (),
        exclude: Iterable[str] | None = None,
    ) -> None:
        """Show a bar on a terminal; lines in a pipe only if `when` is `always`.

        `quiet` hides the bar unless it is to be shown always. The sizes of the `inputs`
        of the command, without what the patterns `exclude` match, give the total of
        several files.
        """
        can_draw = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        is_wanted = when == When.ALWAYS or (when == When.AUTO and not quiet)
        self._is_bar = is_wanted and can_draw
        self._is_lines = when == When.ALWAYS and not can_draw
        self._inputs = (tuple(inputs), tuple(exclude or ()))
        self._start = time.monotonic()
        # The bar is shown at once when it may be, a line after the first pause.
        self._last = self._start if self._is_lines else 0.0
        self._is_drawn = False
        self._count = _ByteCount()
        #: What was shown last of why the run waits.
        self._notice = ""
        #: The number and the bytes of all files; None before they were added up.
        self._whole: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.hide()

    def hide(self) -> None:
        """Remove the bar from the terminal until the next update."""
        if self._is_drawn:
            self._is_drawn = False
            self._write(_ERASE)

    def update(self, reader: ReadProgress) -> None:
        """Show how many bytes of `reader` were consumed, or why the run waits."""
        notice = getattr(reader, "notice", "")
        if notice:
            self._show_wait(reader, notice)
            return
        if not (self._is_bar or self._is_lines):
            return
        now = time.monotonic()
        self._count.note(reader, now)
        pause = _PICTURES if self._is_bar else LINES
        if now - self._start < DELAY or now - self._last < pause:
            return
        self._last = now
        self._show(reader)

    def hidden_for(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """Return a function that hides the bar, then writes text with `write`."""

        def write_without_bar(text: str) -> None:
            self.hide()
            write(text)
            # Text that waits in a buffer would come out in the middle of the bar.
            sys.stdout.flush()

        return write_without_bar

    def _show_wait(self, reader: ReadProgress, notice: str) -> None:
        """Write why the run waits, at once and in every case; then show how long."""
        if notice != self._notice:
            self._notice = notice
            self.hide()
            from harpia_formats.cli.output.streams import print_notes  # noqa: PLC0415 - only for runs that wait

            print_notes([notice])
            self._last = time.monotonic()
        now = time.monotonic()
        pause = _PICTURES if self._is_bar else LINES
        if (self._is_bar or self._is_lines) and now - self._last >= pause:
            self._last = now
            done, total = reader.consumed, reader.total or 0
            self._draw(reader.name, done, total, f"{done:,} of {total:,} s")

    def _show(self, reader: ReadProgress) -> None:
        """Draw the bar, or write a line, for what was read."""
        from harpia_formats.model.text.progress_line import progress_text  # noqa: PLC0415 - only for long runs: start-up time

        if self._whole is None:
            from harpia_formats.cli.output.input_sizes import count_and_bytes  # noqa: PLC0415 - for the same reason

            self._whole = count_and_bytes(*self._inputs)
        files, size = self._whole
        name, done, total = reader.name, reader.consumed, reader.total
        unit = getattr(reader, "unit", "bytes")
        if unit == "files":
            total = total or files or None
        elif unit == "bytes" and files > 1:
            name += f" ({min(self._count.files, files):,} of {files:,})"
            if self._count.done <= size:
                done, total = self._count.done, size
        text = progress_text(done, total, self._count.rate(), unit)
        self._draw(name, done, total, text)

    def _draw(self, name: str, done: int, total: int | None, text: str) -> None:
        """Draw the bar, or write a line."""
        from harpia_formats.model.text.progress_line import progress_bar  # noqa: PLC0415 - only for long runs: start-up time
        from harpia_formats.model.text.sanitize import safe  # noqa: PLC0415 - for the same reason

        name = safe(name)
        if self._is_lines:
            self._write(f"progress: {name}: {text}\n")
            return
        width = (width_of(sys.stderr) or USUAL_WIDTH) - 1
        bar = progress_bar(name, done / total if total else None, text, width)
        self._write(f"{_ERASE}{bar}")
        self._is_drawn = True

    def _write(self, text: str) -> None:
        """Write text as it is to standard error, if that is possible."""
        from harpia_formats.cli.output.streams import write_stderr  # noqa: PLC0415 - only for long runs

        write_stderr(text, is_fitted=True)


class _ByteCount:
    """Adds up the bytes of several files, and knows their rate."""

    def __init__(self) -> None:
        #: How many files were begun.
        self.files = 0
        #: The bytes that were read of all files, of several passes only those of one.
        self.done = 0
        self._name: str | None = None
        self._consumed = 0
        self._times: deque[tuple[float, int]] = deque(maxlen=_TIMES)
        self._read = 0

    def note(self, reader: ReadProgress, now: float) -> None:
        """Note how many bytes of a file were consumed at a time in seconds."""
        if reader.name != self._name:
            self._name, self._consumed = reader.name, 0
            self.files += 1
        more = reader.consumed - self._consumed
        # Less than before is the beginning of another pass.
        self._read += max(0, more)
        self.done += more
        self._consumed = reader.consumed
        last = self._times[-1][0] if self._times else 0
        if now - last >= _WINDOW / _TIMES:
            self._times.append((now, self._read))
        while now - self._times[0][0] > _WINDOW and len(self._times) > 2:  # noqa: PLR2004 - a rate needs two
            self._times.popleft()

    def rate(self) -> float:
        """Return the bytes of a second, 0 if that is not known."""
        (first, before), (last, read) = self._times[0], self._times[-1]
        return (read - before) / (last - first) if last > first else 0.0
