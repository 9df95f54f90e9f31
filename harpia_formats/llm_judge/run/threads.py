"""Threads that do one thing with what they are given, and that nobody waits for."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


class DaemonThreads(Generic[Item, Done]):
    """A fixed number of threads.

    They are no `ThreadPoolExecutor`, for which the interpreter waits when it ends: a
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
        for each in self._threads:
            each.start()

    def submit(self, item: Item) -> Future[Done]:
        """Return what will come of `item`."""
        future: Future[Done] = Future()
        self._tasks.put((item, future))
        return future

    def stop(self, patience: float) -> None:
        """Begin nothing more, and wait some seconds for what is under way."""
        self._is_stopped.set()
        for _ in self._threads:
            self._tasks.put(None)
        end = time.monotonic() + patience
        for each in self._threads:
            each.join(max(0.0, end - time.monotonic()))

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None and not self._is_stopped.is_set():
            item, future = task
            try:
                future.set_result(self._work(item))
            except BaseException as error:  # noqa: BLE001 - whoever waits gets to know it
                future.set_exception(error)
