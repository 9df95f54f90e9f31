"""A progress bar on standard error, for runs that take longer than a moment."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from harpia_formats.io.source import ReadProgress
from harpia_formats.text.sanitize import safe

if TYPE_CHECKING:  # rich is slow to import, and most runs are short
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

#: Seconds that a run lasts before the bar is shown.
DELAY = 0.5


class Progress:
    """A bar that shows how much of the current file was read."""

    def __init__(self, *, quiet: bool) -> None:
        """Show the bar if standard error is a terminal, unless `quiet`."""
        self._shown = not quiet and sys.stderr.isatty()
        self._start = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._reader: ReadProgress | None = None

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
        if self._bar is not None:
            self._bar.stop()

    def update(self, reader: ReadProgress) -> None:
        """Show how many bytes of `reader` were consumed."""
        if not self._shown or time.monotonic() - self._start < DELAY:
            return
        if self._bar is None:
            self._bar = _new_bar()
        self._bar.start()
        if reader is not self._reader or self._task is None:
            self._reader = reader
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(safe(reader.name, 60), total=reader.total)
        self._bar.update(self._task, completed=reader.consumed)

    def hidden_for(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """Return a function that hides the bar, then writes text with `write`."""

        def write_without_bar(text: str) -> None:
            self.hide()
            write(text)
            # Text that waits in a buffer would come out in the middle of the bar.
            sys.stdout.flush()

        return write_without_bar


def _new_bar() -> "Bar":
    """Return a bar on standard error that disappears when it is stopped."""
    from rich.console import Console  # noqa: PLC0415 - slow, and only for long runs
    from rich.progress import (  # noqa: PLC0415 - slow, and only for long runs
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
