"""Processes that do work for this one, and end with it."""

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # most runs need none
    from concurrent.futures import Executor

#: PR_SET_PDEATHSIG, see prctl(2).
_DEATH_SIGNAL = 1


def pool_of(jobs: int) -> "Executor":
    """Return an executor with so many processes."""
    from concurrent.futures.process import ProcessPoolExecutor  # noqa: PLC0415 - most runs need none
    from multiprocessing import get_context  # noqa: PLC0415 - likewise

    pool = ProcessPoolExecutor(jobs, get_context(_method()), _begin_process)
    # All begin with the first work. Otherwise one may begin just when another is found
    # dead and the rest is ended, and would be waited for without an end.
    pool._safe_to_dynamically_spawn_children = False  # type: ignore[attr-defined]  # noqa: SLF001 - see above
    return pool


def jobs_of(asked: int) -> int:
    """Return how many processes are meant; 0 is as many as there are processors."""
    return asked or _processors() or 1


def _processors() -> int | None:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


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
    from multiprocessing import parent_process  # noqa: PLC0415 - it is there already

    parent = parent_process()
    if parent is not None:
        import threading  # noqa: PLC0415 - likewise

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
    from multiprocessing.connection import wait  # noqa: PLC0415 - likewise

    wait([sentinel])
    os._exit(1)
