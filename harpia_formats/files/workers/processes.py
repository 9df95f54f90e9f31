"""Start worker processes that end when this process ends."""

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

from harpia_formats.model.errors import EngineError

if TYPE_CHECKING:  # start-up: most runs need no processes
    from concurrent.futures import Executor

#: PR_SET_PDEATHSIG, see prctl(2).
_DEATH_SIGNAL = 1


def process_pool(jobs: int) -> "Executor":
    """Return an executor of `jobs` processes, which the caller shuts down.

    Raises `EngineError` where the system has no locks for processes, as some containers
    and hosts of functions that have no /dev/shm.
    """
    from concurrent.futures.process import ProcessPoolExecutor  # noqa: PLC0415 - start-up: most runs need no processes
    from multiprocessing import get_context  # noqa: PLC0415 - start-up: most runs need no processes

    try:
        pool = ProcessPoolExecutor(jobs, get_context(_start_method()), _initialize)
    except (ImportError, NotImplementedError, OSError) as error:
        reason = f"cannot be started here ({error}); use --jobs 1"
        raise EngineError("worker processes", reason) from error
    # All processes start with the first task. Otherwise one could start while the pool
    # ends the others because one died, and `shutdown` would wait for it forever.
    pool._safe_to_dynamically_spawn_children = False  # type: ignore[attr-defined]  # noqa: SLF001 - see above
    return pool


def worker_count(jobs: int) -> int:
    """Return `jobs`, or for 0 the number of processors, at least 1."""
    return jobs or _processors() or 1


def _processors() -> int | None:
    """Return how many processors this process may use, None if unknown."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _start_method() -> str:
    """Return the start method: fork is the fastest, but not safe with threads."""
    if is_fork_safe():
        return "fork"
    return "forkserver" if os.name == "posix" else "spawn"


def is_fork_safe() -> bool:
    """Return whether this process may be forked: on Linux, without other threads."""
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - a count only


def _initialize() -> None:
    """Prepare a worker process: signals, its end with its parent, and no gc."""
    # The parent handles what a terminal sends to all processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # A forked process has its parent's handlers, which must not run in a worker.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with_parent()
    # Decoded rows have no reference cycles, and collecting takes as long as validating.
    gc.disable()


def _end_with_parent() -> None:
    """Make this process end when the process that started the pool is killed."""
    from multiprocessing import parent_process  # noqa: PLC0415 - start-up: worker processes only

    parent = parent_process()
    if parent is not None:
        import threading  # noqa: PLC0415 - start-up: worker processes only

        # The parent in the system may be the fork server, so a handle is watched that
        # only the process with the pool holds.
        threading.Thread(
            target=_end_after, args=(parent.sentinel,), daemon=True
        ).start()
    end_with_parent_process()


def end_with_parent_process() -> None:
    """Let the kernel end this process when the thread that started it ends.

    It does so even while a library blocks all threads. Without effect where the system
    is not Linux.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - on Linux only

        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def _end_after(sentinel: int) -> None:
    """End this process at once when the process of `sentinel` has ended."""
    from multiprocessing.connection import wait  # noqa: PLC0415 - start-up: worker processes only

    wait([sentinel])
    os._exit(1)
