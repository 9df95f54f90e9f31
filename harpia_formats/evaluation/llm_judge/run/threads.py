"""Daemon threads that apply one function to items."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


class DaemonThreads(Generic[Item, Done]):
    """A fixed number of daemon threads that apply a function to submitted items.

    This is not a `ThreadPoolExecutor`, whose threads the interpreter joins at exit: a
    request that hangs would keep an interrupted run from ending.
    """

    def __init__(self, count: int, work: Callable[[Item], Done]) -> None:
        self._work = work
        self._tasks: SimpleQueue[tuple[Item, Future[Done]] | None] = SimpleQueue()
        self._is_stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, name=f"judge-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, item: Item) -> Future[Done]:
        """Return the future of the result for `item`."""
        future: Future[Done] = Future()
        self._tasks.put((item, future))
        return future

    def stop(self, patience: float) -> None:
        """Start no further item, and wait `patience` seconds for the running ones."""
        self._is_stopped.set()
        for _ in self._threads:
            self._tasks.put(None)
        end = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None and not self._is_stopped.is_set():
            item, future = task
            try:
                future.set_result(self._work(item))
            except BaseException as error:  # noqa: BLE001 - the future raises it again
                future.set_exception(error)
