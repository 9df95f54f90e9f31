"""Engines, which run tasks for this process: check, start and watch them.

An engine is a group of processes, an executor, or a cluster. A task is a function of a
module with plain data as arguments and result: it runs in another process, perhaps on
another machine, and may run twice. A cluster is watched: a run waits for its workers
for some time.
"""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.io.urls import all_masked, is_url, masked, scheme_of
from harpia_formats.model.problem import EngineError, OptionError

if TYPE_CHECKING:  # start-up: most runs need no processes
    from concurrent.futures import Executor


#: Seconds that a run waits by default for a cluster without workers.
CLUSTER_TIMEOUT = 600.0


class WorkersAwaited(Struct, frozen=True):
    """How long a run has waited for workers, reported like the progress of reading."""

    name: str
    #: The seconds that it has waited, and that it waits at most.
    consumed: int
    total: int
    #: For how many workers it waits, and until when: a line to show at once.
    notice: str
    unit: str = "seconds"


def check_cluster_timeout(seconds: float) -> None:
    """Raise `OptionError` unless a run can wait for so many seconds."""
    if not 0 < seconds < float("inf"):
        raise OptionError(f"cluster_timeout must be finite and above 0, not {seconds}")


#: PR_SET_PDEATHSIG, see prctl(2).
_DEATH_SIGNAL = 1


def process_pool(jobs: int) -> "Executor":
    """Return an executor of `jobs` processes, which the caller shuts down.

    Raises `EngineError` where the system has no locks for processes, as some containers
    and hosts of functions that have no /dev/shm, and for more processes than it allows.
    """
    from concurrent.futures.process import ProcessPoolExecutor  # noqa: PLC0415 - start-up: most runs need no processes
    from multiprocessing import get_context  # noqa: PLC0415 - start-up: most runs need no processes

    method = _start_method()
    try:
        if method == "forkserver":
            _start_fork_server()
        pool = ProcessPoolExecutor(jobs, get_context(method), _initialize)
    except (
        ImportError,
        NotImplementedError,
        OSError,
        OverflowError,
        ValueError,
    ) as error:
        reason = f"cannot be started here ({error}); use `--jobs 1`"
        raise EngineError("worker processes", reason) from error
    # All processes start with the first task. Otherwise one could start while the pool
    # ends the others because one died, and `shutdown` would wait for it forever.
    pool._safe_to_dynamically_spawn_children = False  # type: ignore[attr-defined]  # noqa: SLF001 - see above
    return pool


def _start_fork_server() -> None:
    """Start the process that forks workers, which imports nothing of this folder.

    It is a `python -c`, and that looks for modules in the working folder first: a file
    `multiprocessing.py` next to the data would be run.
    """
    from multiprocessing.forkserver import ensure_running  # noqa: PLC0415 - start-up: most runs need no processes

    with _one_start:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            ensure_running()
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before


#: The variable that keeps a new interpreter from looking into the working folder.
_SAFE_PATH = "PYTHONSAFEPATH"
#: Two threads that set the variable at once would not both see what it was before.
_one_start = Lock()


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
        watch = threading.Thread(
            target=_end_after, args=(parent.sentinel,), daemon=True
        )
        # Where memory is short; the kernel ends it, too.
        with suppress(RuntimeError, MemoryError):
            watch.start()
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


class Engine(Struct, frozen=True):
    """An executor, and how many tasks it runs at once."""

    #: Only `submit` is used, without keywords: Dask has keywords of its own.
    executor: "Executor"
    #: Returns how many tasks run at once, which changes as a cluster grows or shrinks.
    width: Callable[[], int]
    #: Whether the workers are processes that we started, on this machine.
    is_local: bool
    #: Its name in messages.
    name: str = "the executor"
    #: Calls a function with arguments on every worker; returns the result, or the
    #: exception, by the name of the worker. None if workers cannot be addressed.
    ask: "Callable[..., Mapping[str, Any]] | None" = None
    #: Tells whether the connection is lost, so that some results never come.
    is_gone: Callable[[], bool] | None = None
    #: Watches that there are workers. None if that cannot be known.
    watch: "WorkerWatch | None" = None
    #: The digest of the code that workers must have, "" if they have ours anyway.
    code: str = ""

    def asked(self, run: Callable[..., Any], *given: Any) -> Mapping[str, Any]:
        """Call `run` on every worker, or on any one if workers cannot be addressed.

        Returns the results by the names of the workers. Raises `EngineError`.
        """
        if self.watch is not None:
            self.watch.wait()
        try:
            if self.ask is not None:
                return self.ask(run, *given)
            return {"a worker": self.executor.submit(run, *given).result()}
        except Exception as error:
            check_connected(self.name, error)
            reason = f"no worker answers: {all_masked(str(error))}"
            raise EngineError(self.name, reason) from error


def check_engine(name: str | None, executor: "Executor | None") -> None:
    """Raise `EngineError` if `name` is no usable engine.

    Raises `OptionError` if an executor is given as well.
    """
    if name is None:
        return
    if executor is not None:
        raise OptionError("engine and executor exclude each other")
    if not (is_url(name) and scheme_of(name) in _extras):
        known = ", ".join(f"{scheme}://HOST:PORT" for scheme in _extras)
        raise EngineError(all_masked(name), f"is not a known engine (known: {known})")
    if not _has_host_and_port(name):
        shown = f"{scheme_of(name)}://HOST:PORT"
        raise EngineError(masked(name), f"is not the address of a scheduler ({shown})")
    extra = _extras[scheme_of(name)]
    if find_spec(extra) is None:
        reason = f'needs the extra "{extra}": pip install "harpia-formats[{extra}]"'
        raise EngineError(masked(name), reason)


def _has_host_and_port(name: str) -> bool:
    try:
        parts = urlsplit(name)
        rest = (parts.path.strip("/"), parts.query, parts.fragment)
        return bool(parts.hostname and parts.port) and not any(rest)
    except ValueError:
        return False


#: The package that each kind of cluster needs, which is also the name of its extra.
_extras = {"dask": "distributed"}
GONE = "the cluster is gone"
#: Names of the exceptions that are raised when the connection to a cluster is lost.
_gone = {"CancelledError", "CommClosedError", "ClosedClientError"}


def check_connected(name: str, error: BaseException) -> None:
    """Raise `EngineError` if `error` is a lost connection, or missing or other code."""
    if type(error).__name__ == "OtherCodeError":
        raise EngineError(name, str(error)) from error
    if _gone & {base.__name__ for base in type(error).__mro__}:
        raise EngineError(name, GONE) from error
    if isinstance(error, ImportError):
        reason = f"the workers lack a package: {all_masked(str(error))}"
        raise EngineError(name, reason) from error


#: Seconds between two looks for workers.
LOOK = 0.25


class WorkerWatch(Struct):
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
                import logging  # noqa: PLC0415 - only where a run waits for workers: start-up time

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
            "`--cluster-timeout`)"
        )

    def _reason(self) -> str:
        had = (
            f"all of its workers ({self._most:,} at most) are gone"
            if self._most
            else "it has no workers"
        )
        return (
            f"{had}, and none came within {_duration(self.timeout)}: start workers, or "
            "wait longer with `--cluster-timeout`"
        )


def _duration(seconds: float) -> str:
    """Return a duration as text, in minutes if it is whole minutes."""
    if seconds >= 60 and not seconds % 60:  # noqa: PLR2004 - seconds of a minute
        minutes = round(seconds / 60)
        return f"{minutes:,} minute{'' if minutes == 1 else 's'}"
    return f"{seconds:,g} s"
