"""A progress bar of judged rows on standard error, for long runs."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

#: Seconds before the bar appears.
PATIENCE = 0.5


class RowProgress:
    """Shows the number of judged rows; rich is imported only when the bar appears."""

    def __init__(self, total: int | None, *, shown: bool) -> None:
        self._total = total
        self._max_shown = shown and sys.stderr is not None and sys.stderr.isatty()
        self._start = time.monotonic()
        self._done = 0
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self) -> None:
        """Count one row."""
        self._done += 1
        if not self._max_shown or time.monotonic() - self._start < PATIENCE:
            return
        if self._bar is None:
            self._bar = _new_bar()
            self._bar.add_task("judging", total=self._total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=self._done)


def _new_bar() -> "Bar":
    from rich.console import Console  # noqa: PLC0415 - slow, and only long runs need it
    from rich.progress import (  # noqa: PLC0415 - slow, and only long runs need it
        BarColumn,
        MofNCompleteColumn,
        Progress,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text  # noqa: PLC0415 - slow, and only long runs need it

    class Rate(TextColumn):
        """Shows how many rows are judged in a second."""

        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.1f} rows/s")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(""),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
