"""Have ranges of a file worked on by several processes, and take them in order."""

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import Any

from harpia_formats.ranges import AHEAD, Range
from harpia_formats.shards import Done, Job, converted

#: PR_SET_PDEATHSIG, see prctl(2).
_DEATH_SIGNAL = 1


def pool_of(jobs: int) -> Executor:
    """Return an executor with so many processes."""
    return ProcessPoolExecutor(jobs, get_context(_method()), _begin_process)


def _method() -> str:
    """Return how processes are begun: a copy is quick, but not safe with threads."""
    if sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1:  # noqa: PTH208 - a count only
        return "fork"
    return "forkserver" if os.name == "posix" else "spawn"


def _begin_process() -> None:
    """Leave interrupts to the process that hands out the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A copy of a process has its handlers, too, which would outlive the pool.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with_parent()
    # Rows have no cycles, and looking for some takes as long as judging them.
    gc.disable()


def _end_with_parent() -> None:
    """Have this process end where the one that hands out the work is killed."""
    parent = parent_process()
    if parent is not None:
        # The system's parent of this process may be a server that begins processes, so
        # what is watched is what only the one that hands out the work holds.
        threading.Thread(
            target=_end_after, args=(parent.sentinel,), daemon=True
        ).start()
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - on Linux only

        # It ends this process even while a library keeps threads from running.
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def _end_after(sentinel: int) -> None:
    """End this process, whatever it does, once another one has ended."""
    wait([sentinel])
    os._exit(1)


def in_order(
    executor: Executor,
    job: Job,
    ranges: Iterator[Range],
    jobs: int,
    run: Callable[[Job, Range], Done | None] = converted,
) -> Iterator[tuple[Range, Done | None]]:
    """Yield what became of each range, in order, with a few of them under way.

    Where processes die, what is left is handed back undone.
    """
    waiting: deque[tuple[Range, Future[Done | None] | None]] = deque()
    for each in ranges:
        waiting.append((each, _submitted(executor, run, job, each)))
        if len(waiting) >= AHEAD * jobs:
            yield _first_of(waiting)
    while waiting:
        yield _first_of(waiting)


def _submitted(
    executor: Executor, run: Any, job: Job, work: Range
) -> "Future[Done | None] | None":
    try:
        return executor.submit(run, job, work)
    except BrokenProcessPool:
        return None


def _first_of(
    waiting: "deque[tuple[Range, Future[Done | None] | None]]",
) -> tuple[Range, Done | None]:
    work, future = waiting.popleft()
    if future is None:
        return work, None
    try:
        return work, future.result()
    except BrokenProcessPool:
        return work, None
