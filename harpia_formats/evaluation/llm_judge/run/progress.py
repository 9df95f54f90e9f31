"""The progress bar of judged rows on standard error, for long runs."""

import os
import sys
import time
from types import TracebackType
from typing import Self

#: Seconds before the bar appears, and between two pictures of it.
PATIENCE, PICTURES = 0.5, 0.1
#: Columns of a terminal that does not tell its width.
_USUAL_WIDTH = 80
_ERASE = "\r\x1b[2K"


class RowProgress:
    """Shows the number of judged rows, in the bar that commands show for bytes."""

    def __init__(self, total: int | None, *, shown: bool) -> None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._total = total
        self._may_be_shown = shown and is_terminal and os.environ.get("TERM") != "dumb"
        self._start = time.monotonic()
        self._last = 0.0
        self._done = 0
        self._is_drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_drawn:
            self._is_drawn = False
            _write(_ERASE)

    def step(self) -> None:
        """Count one row."""
        self._done += 1
        if not self._may_be_shown:
            return
        now = time.monotonic()
        if now - self._start < PATIENCE or now - self._last < PICTURES:
            return
        self._last = now
        self._is_drawn = True
        _write(f"{_ERASE}{self._line(now)}")

    def _line(self, now: float) -> str:
        """Return the bar with the rows so far."""
        from harpia_formats.model.text.progress_line import (  # noqa: PLC0415 - only for long runs
            progress_bar,
            progress_text,
        )

        rate = self._done / max(now - self._start, 1e-9)
        text = progress_text(self._done, self._total, rate, "rows")
        share = self._done / self._total if self._total else None
        return progress_bar("judging", share, text, _width() - 1)


def _width() -> int:
    """Return the columns of the terminal that standard error is."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError, AttributeError):
        return _USUAL_WIDTH


def _write(text: str) -> None:
    """Write text to standard error at once; a terminal that is gone ends no run."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        return
