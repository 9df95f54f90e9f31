"""Watch that a cluster has workers, and end a run that waits for them too long."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.workers.awaited import WorkersAwaited
from harpia_formats.model.errors import EngineError

#: Seconds between two looks for workers.
LOOK = 0.25


@dataclass(slots=True)
class WorkerWatch:
    """Looks for workers of a cluster, and says it as long as there are none.

    What it says goes to `progress`; without one it is logged as a warning, which is
    written to standard error unless the program says otherwise.
    """

    #: The name of the cluster in messages.
    name: str
    #: Returns how many workers there are now; raises `EngineError`.
    count: Callable[[], int]
    #: Seconds without a worker that end a run.
    timeout: float
    progress: Callable[[ReadProgress], None] | None = None
    #: Since when there is no worker, None if there was one at the last look.
    _since: float | None = None
    #: The most workers that there were.
    _most: int = 0
    _notice: str = ""

    def wait(self) -> None:
        """Return once there is a worker; raises `EngineError`."""
        while not self.has_worker():
            time.sleep(LOOK)

    def has_worker(self) -> bool:
        """Tell whether there is a worker, and show if there is none.

        Raises `EngineError` after `timeout` seconds without any.
        """
        found = self.count()
        if found:
            self._most = max(self._most, found)
            self.reset()
            return True
        now = time.monotonic()
        if self._since is None:
            self._since = now
            self._notice = self._new_notice()
            if self.progress is None:
                logging.getLogger("harpia_formats").warning("%s", self._notice)
        waited = now - self._since
        if waited >= self.timeout:
            raise EngineError(self.name, self._reason())
        if self.progress is not None:
            self.progress(self._awaited(waited))
        return False

    def reset(self) -> None:
        """Note that there is a worker, or was one until now."""
        self._since = None

    def _awaited(self, waited: float) -> WorkersAwaited:
        return WorkersAwaited(
            f"waiting for a worker of {self.name}",
            int(waited),
            max(1, round(self.timeout)),
            self._notice,
        )

    def _new_notice(self) -> str:
        end = time.localtime(time.time() + self.timeout)
        had = f"the last of {self._most:,} is gone" if self._most else "it has none yet"
        return (
            f"{self.name}: waiting for 1 worker at least, since {had}; until "
            f"{time.strftime('%Y-%m-%d %H:%M:%S', end)} ({_duration(self.timeout)}, "
            "--cluster-timeout)"
        )

    def _reason(self) -> str:
        had = (
            f"all of its workers ({self._most:,} at most) are gone"
            if self._most
            else "it has no workers"
        )
        return (
            f"{had}, and none came within {_duration(self.timeout)}: start workers, or "
            "wait longer with --cluster-timeout"
        )


def _duration(seconds: float) -> str:
    """Return a duration as text, in minutes if it is whole minutes."""
    if seconds >= 60 and not seconds % 60:  # noqa: PLR2004 - seconds of a minute
        minutes = round(seconds / 60)
        return f"{minutes:,} minute{'' if minutes == 1 else 's'}"
    return f"{seconds:,g} s"
