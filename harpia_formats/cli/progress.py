"""A progress bar on standard error, for runs that take more than a moment."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from harpia_formats.io.source import ReadProgress
from harpia_formats.text.sanitize import safe

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

#: Seconds before a bar is worth showing.
PATIENCE = 0.5


class Progress:
    """Shows how far a run is; rich is imported only if it lasts."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
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
        self.stop()

    def stop(self) -> None:
        """Take the bar off the terminal for good."""
        if self._bar is not None:
            self._bar.stop()

    def update(self, reader: ReadProgress) -> None:
        """Show how much of `reader` was consumed."""
        if not self._shown or time.monotonic() - self._start < PATIENCE:
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

    def around(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """Return `write`, taking the bar off the terminal until there is progress."""

        def write_apart(text: str) -> None:
            if self._bar is not None:
                self._bar.stop()
            write(text)
            # Text that waits in a buffer would come out in the middle of the bar.
            sys.stdout.flush()

        return write_apart


def _new_bar() -> "Bar":
    from rich.console import Console  # noqa: PLC0415 - slow, and only for long runs
    from rich.progress import (  # noqa: PLC0415 - likewise
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
