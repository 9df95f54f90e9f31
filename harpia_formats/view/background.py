"""Run work in separate processes, each of which a thread follows."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from threading import Event, Thread
from typing import Any

from harpia_formats.files.workers.killable import (
    CallFailed,
    CallTimedOut,
    KillableProcess,
    ProcessDied,
)

#: Seconds without a message after which work on a file is given up.
PATIENCE = 3600.0


#: Seconds after which it is tried again to end a process.
_MOMENT = 0.05


class Background:
    """A generator that runs in another process, and its last message."""

    def __init__(
        self,
        work: Callable[..., Iterator[Any]],
        *arguments: Any,
        patience: float = PATIENCE,
        receive: Callable[[Any], None] = lambda _: None,
        turn: AbstractContextManager[Any] | None = None,
    ) -> None:
        """Start; `receive` is called with each message, in a thread of its own.

        It is given up after so many seconds of `patience` without a message, and begins
        once it has its `turn`.
        """
        self._turn = nullcontext() if turn is None else turn
        self._process = KillableProcess()
        self._receive = receive
        self._patience = patience
        self._has_ended = Event()
        self._is_stopped = False
        #: Why it failed, "" if it did not.
        self.failure = ""
        self._thread = Thread(target=self._follow, args=(work, arguments), daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return not self._has_ended.is_set()

    def cancel(self) -> None:
        """Keep it from starting, if it still waits for its turn."""
        self._is_stopped = True

    def stop(self) -> None:
        """End the process, and wait until it has ended."""
        self.cancel()
        while self._thread.is_alive():
            # A process that is just being started is ended the next time.
            self._process.close()
            self._thread.join(_MOMENT)

    def wait(self, seconds: float) -> bool:
        """Wait for its end; return whether it has ended."""
        return self._has_ended.wait(seconds)

    def _follow(self, work: Callable[..., Iterator[Any]], arguments: Any) -> None:
        """Run the work, and receive its messages."""
        try:
            with self._turn:
                self._run(work, arguments)
        except CallTimedOut:
            self.failure = "it took too long"
        except ProcessDied:
            self.failure = "" if self._is_stopped else "its process ended"
        except CallFailed:
            # The text of an unexpected error may have values of records.
            self.failure = "it failed"
        finally:
            self._process.close()
            self._has_ended.set()

    def _run(self, work: Callable[..., Iterator[Any]], arguments: Any) -> None:
        """Run the work unless it was stopped before."""
        if not self._is_stopped:
            for message in self._process.call(work, *arguments, timeout=self._patience):
                self._receive(message)
