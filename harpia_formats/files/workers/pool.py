"""A pool of workers that runs tasks, and runs them again if a worker dies.

It opens the engine that runs them, and returns the answers in the order of the tasks.
"""

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
)
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from msgspec import Struct, field

from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.io.urls import scheme_of
from harpia_formats.files.workers.engine import (
    CLUSTER_TIMEOUT,
    GONE,
    Engine,
    check_connected,
    process_pool,
    worker_count,
)
from harpia_formats.model.problem import EngineError

if TYPE_CHECKING:  # start-up: most runs use no executor
    from concurrent.futures import Executor, Future

    from harpia_formats.files.io.remote_file import RemoteFile
    from harpia_formats.files.workers.worker_checks import FileFingerprint


#: Signals whose handlers may raise an exception; Windows has no SIGHUP.
_names = ("SIGINT", "SIGTERM", "SIGHUP")
_numbers = [getattr(signal, name) for name in _names if hasattr(signal, name)]


@contextmanager
def delayed_signals() -> Iterator[None]:
    """Call the handlers of signals that arrive in the `with` block at its end.

    A handler that raises an exception while an executor starts its processes would
    leave some that nobody ends, and for which the end of this process waits forever.
    Outside of the main thread, which handles all signals, nothing is delayed.
    """
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)

    handlers = {number: signal.getsignal(number) for number in _numbers}
    handlers = {number: known for number, known in handlers.items() if callable(known)}
    try:
        _set_handlers(dict.fromkeys(handlers, note))
        yield
    finally:
        _set_handlers(handlers)
        for number in received:
            signal.raise_signal(number)


def _set_handlers(handlers: dict[int, Any]) -> None:
    """Set the handler of each signal, even if one that is set raises meanwhile."""
    if not handlers or not _is_main_thread():
        return
    (number, handler), *rest = handlers.items()
    try:
        signal.signal(number, handler)
    finally:
        _set_handlers(dict(rest))


def _is_main_thread() -> bool:
    import threading  # noqa: PLC0415 - start-up: small runs need no workers

    return threading.current_thread() is threading.main_thread()


@contextmanager
def open_engine(
    name: str | None,
    executor: "Executor | None",
    jobs: int,
    timeout: float = CLUSTER_TIMEOUT,
    progress: "Callable[[ReadProgress], None] | None" = None,
) -> Generator[Engine, None, None]:
    """Open the engine at the address `name`, or use `executor`, or start processes.

    `jobs` is the number of processes; with an executor it is the number of tasks that
    run at once, 0 if that is not known. `timeout` are the seconds without a worker of a
    cluster that end a run, which tells `progress` that it waits. Raises `EngineError`.
    """
    if name is not None:
        with _engines[scheme_of(name)](name, timeout, progress) as engine:
            yield engine
    elif executor is not None:
        yield _engine_of(executor, jobs, timeout, progress)
    else:
        engine = local_engine(worker_count(jobs))
        try:
            yield engine
        finally:
            engine.executor.shutdown(wait=True)


def local_engine(jobs: int) -> Engine:
    """Return an engine of `jobs` new processes; the caller shuts it down."""
    return Engine(process_pool(jobs), lambda: jobs, is_local=True, name="the processes")


def _engine_of(
    executor: "Executor",
    jobs: int,
    timeout: float,
    progress: Callable[[ReadProgress], None] | None,
) -> Engine:
    if hasattr(executor, "_client"):  # an executor of Dask
        from harpia_formats.files.workers.dask import engine_of_client  # noqa: PLC0415 - an extra

        return engine_of_client(executor, "the executor", timeout, progress)
    count: int | None = getattr(executor, "_max_workers", None)
    width = jobs or count or os.cpu_count() or 1
    return Engine(executor, lambda: width, is_local=False)


@contextmanager
def _dask(
    name: str, timeout: float, progress: Callable[[ReadProgress], None] | None
) -> Generator[Engine, None, None]:
    from harpia_formats.files.workers.dask import dask_engine  # noqa: PLC0415 - an extra

    with dask_engine(name, timeout, progress) as engine:
        yield engine


_engines = {"dask": _dask}


#: Pending tasks for each worker, so that none waits for its next task.
TASKS_PER_WORKER = 3
#: Seconds between checks whether a cluster is still connected and has workers.
CHECK_SECONDS = 0.5
#: A function of a module, and its arguments, which are plain data.
Task = tuple[Callable[..., Any], tuple[Any, ...]]


class WorkerDied(Exception):  # noqa: N818 - says what happened
    """The worker processes that ran a task died, twice."""


class PendingTask(Struct, eq=False):
    """A task that was submitted."""

    task: Task
    engine: Engine
    #: None if the engine did not accept it.
    future: "Future[Any] | None"


class WorkerPool(Struct):
    """The workers of a run, for `with`; they start with the first task.

    They are processes that the pool starts, the workers of a cluster, or the caller's
    executor, which is not shut down. A task must not raise.
    """

    #: The number of workers; 0 if that of an executor is not known.
    jobs: int
    executor: "Executor | None" = None
    #: The address of a cluster, such as `dask://host:port`.
    name: str | None = None
    #: Seconds without a worker of a cluster that end the run.
    timeout: float = CLUSTER_TIMEOUT
    #: Called while the run waits for workers.
    progress: "Callable[[ReadProgress], None] | None" = None
    _pending: deque[PendingTask] = field(default_factory=deque)
    _engine: Engine | None = None
    _stack: ExitStack = field(default_factory=ExitStack)
    #: A single process for tasks that killed another one.
    _single: "Executor | None" = None
    #: Files that every worker sees as this process does.
    _seen: "dict[Path | RemoteFile, FileFingerprint]" = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.reset()
        self._engine = None
        self._stack.close()

    def reset(self) -> None:
        """Cancel all pending tasks, and end the processes that the pool started.

        The next task starts new processes, with the state that this process has then.
        """
        is_local = self._engine is not None and self._engine.is_local
        for pending in self._pending:
            # Not every executor can cancel all futures in `shutdown`. Ours can, and
            # must: it fails on futures that are cancelled while its processes die.
            if pending.future is not None and not is_local:
                pending.future.cancel()
        self._pending.clear()
        if self._engine is not None and is_local:
            self._engine.executor.shutdown(wait=True, cancel_futures=True)
            self._engine = None
        if self._single is not None:
            self._single.shutdown(wait=True)
            self._single = None

    def forget(self, pending: PendingTask) -> None:
        """Take a task for one whose result nobody asks for."""
        if pending.future is not None and not pending.engine.is_local:
            pending.future.cancel()
        if pending in self._pending:
            self._pending.remove(pending)

    def end_idle(self) -> None:
        """End the processes that the pool started if no task is pending.

        The next task starts new ones, with the state that this process has then.
        """
        if not self._pending:
            self.reset()

    @property
    def is_far(self) -> bool:
        """Whether an executor or a cluster runs the tasks, perhaps on other hosts."""
        return self.executor is not None or self.name is not None

    @property
    def engine(self) -> Engine:
        """The engine, opened on first use; raises `EngineError`."""
        if self._engine is None:
            if self.is_far:
                engine = open_engine(
                    self.name, self.executor, self.jobs, self.timeout, self.progress
                )
                self._engine = self._stack.enter_context(engine)
            else:
                self._engine = local_engine(self.jobs)
        return self._engine

    @property
    def max_pending(self) -> int:
        """How many tasks may be pending; raises `EngineError`."""
        return TASKS_PER_WORKER * (self.engine.width() if self.is_far else self.jobs)

    def check_visible(self, origin: "Path | RemoteFile") -> None:
        """Raise `EngineError` unless every worker sees the file as this process does.

        A file that cannot be read here is not checked: reading it raises the error.
        """
        from harpia_formats.files.workers.worker_checks import (  # noqa: PLC0415 - needed with an executor or a cluster only
            difference_from,
            fingerprint_of,
        )

        if origin in self._seen:
            return
        try:
            fingerprint = fingerprint_of(origin)
        except OSError:
            return
        for worker, answer in self.engine.asked(difference_from, fingerprint).items():
            if answer:
                reason = f"{worker} does not see the input file: {answer}"
                raise EngineError(self.engine.name, reason)
        self._seen[origin] = fingerprint

    def fingerprint_of(self, origin: "Path | RemoteFile") -> "FileFingerprint | None":
        """Return the fingerprint of a file that was checked, or None."""
        return self._seen.get(origin)

    def shares_folder(self, folder: str) -> bool:
        """Tell whether all workers see and may write `folder`; raises `EngineError`."""
        if not self.is_far:
            return True
        engine = self.engine
        if engine.ask is None:
            return False  # workers that did not answer may run the tasks
        from harpia_formats.files.workers.worker_checks import has_marker, write_marker  # noqa: PLC0415 - needed with a cluster only

        answers = engine.asked(has_marker, folder, write_marker(folder))
        return all(answer is True for answer in answers.values())

    def submit(self, task: Task) -> PendingTask:
        """Submit a task; raises `EngineError`."""
        pending = self._submitted(task)
        if pending.future is None and pending.engine.is_local:
            self._discard(pending.engine)
            pending = self._submitted(task)
        self._pending.append(pending)
        return pending

    def result(self, pending: PendingTask) -> Any:
        """Wait for a task, and return its result.

        If its worker dies, the task runs once more, alone, in a process on this
        machine, because another task may have killed the worker. Raises `WorkerDied`
        and `EngineError`.
        """
        try:
            if pending.future is not None:
                return _wait_for(pending.future, pending.engine)
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - executors raise different errors for a dead worker
            if not pending.engine.is_local:
                check_connected(pending.engine.name, error)
            self._discard(pending.engine)
        finally:
            self._pending.remove(pending)
        return self._run_alone(pending.task)

    def _submitted(self, task: Task) -> PendingTask:
        engine = self.engine
        run, arguments = task
        if engine.code:
            from harpia_formats.files.workers.worker_checks import run_with_same_code  # noqa: PLC0415 - needed with a cluster only

            run, arguments = run_with_same_code, (engine.code, run, *arguments)
        future = None
        try:
            with delayed_signals() if engine.is_local else nullcontext():
                future = engine.executor.submit(run, *arguments)
        except Exception as error:  # noqa: BLE001 - a broken executor raises its own error
            if not engine.is_local:
                check_connected(engine.name, error)
        return PendingTask(task, engine, future)

    def _discard(self, engine: Engine) -> None:
        """Shut down our own processes after one died; the next task starts new ones.

        An executor or a cluster is kept.
        """
        if engine is self._engine and engine.is_local:
            engine.executor.shutdown(wait=False)
            self._engine = None

    def _run_alone(self, task: Task) -> Any:
        """Run a task in a process of its own; raises `WorkerDied`."""
        from concurrent.futures import BrokenExecutor  # noqa: PLC0415 - start-up: needed after a death only

        run, arguments = task
        self._single = self._single or process_pool(1)
        try:
            with delayed_signals():
                future = self._single.submit(run, *arguments)
            return future.result()
        except BrokenExecutor as error:
            self._single.shutdown(wait=False)
            self._single = None
            raise WorkerDied from error


def _wait_for(future: "Future[Any]", engine: Engine) -> Any:
    """Return the result of `future`; raises what it raised, and `EngineError`."""
    while engine.is_gone is not None and not future.done():
        try:
            future.result(timeout=CHECK_SECONDS)
        except TimeoutError:
            if engine.is_gone():
                raise EngineError(engine.name, GONE) from None
            if engine.watch is not None and not future.done():
                engine.watch.has_worker()
    if engine.watch is not None:
        engine.watch.reset()
    return future.result()


class WorkerOptions(Protocol):
    """The options of a run that say who does its work."""

    @property
    def jobs(self) -> int:
        """The number of processes, 0 for as many as there are processors."""

    @property
    def executor(self) -> "Executor | None":
        """What runs tasks instead of processes."""

    @property
    def engine(self) -> str | None:
        """The address of a cluster that does."""

    @property
    def cluster_timeout(self) -> float:
        """The seconds that a run waits for a cluster without workers."""

    @property
    def progress(self) -> "Callable[[ReadProgress], None] | None":
        """The function that is called with how far the run is."""


def open_pool(options: WorkerOptions) -> AbstractContextManager[WorkerPool | None]:
    """Return the worker pool for the options of a run, for `with`.

    None if there is no executor and no engine, and it is one job.
    """
    if options.executor is not None or options.engine is not None:
        return WorkerPool(
            options.jobs,
            options.executor,
            options.engine,
            options.cluster_timeout,
            options.progress,
        )
    count = worker_count(options.jobs)
    return nullcontext() if count == 1 else WorkerPool(count)


_Item = TypeVar("_Item")


class TaskQueue(Struct, Generic[_Item]):
    """Tasks that are under way, to be closed; each item comes back with its answer.

    The answer is None for an item without a task, and `WorkerDied` if the task killed
    two workers: nothing that killed them runs in this process.
    """

    pool: WorkerPool
    #: What the items under way may weigh together, if there are several.
    most: int = 0
    _waiting: deque[tuple[_Item, PendingTask | None, int]] = field(
        default_factory=deque
    )
    _load: int = 0

    def add(
        self, item: _Item, task: Task | None, weight: int = 0
    ) -> Iterator[tuple[_Item, Any]]:
        """Submit the task of an item; yield earlier items until there is room.

        Raises `EngineError`.
        """
        pending = None if task is None else self.pool.submit(task)
        self._waiting.append((item, pending, weight))
        self._load += weight
        while len(self._waiting) >= self.pool.max_pending or (
            len(self._waiting) > 1 and self._load > self.most
        ):
            yield self._first()

    def rest(self) -> Iterator[tuple[_Item, Any]]:
        """Yield all items that are under way; raises `EngineError`."""
        while self._waiting:
            yield self._first()

    def close(self) -> None:
        """Forget what is under way."""
        for _, pending, _ in self._waiting:
            if pending is not None:
                self.pool.forget(pending)
        self._waiting.clear()

    def _first(self) -> tuple[_Item, Any]:
        item, pending, weight = self._waiting.popleft()
        self._load -= weight
        if pending is None:
            return item, None
        try:
            return item, self.pool.result(pending)
        except WorkerDied as died:
            return item, died


def answers_in_order(
    pool: WorkerPool,
    items: Iterable[tuple[_Item, Task | None]],
    weight: Callable[[_Item], int] = lambda _: 0,
    most: int = 0,
) -> Generator[tuple[_Item, Any], None, None]:
    """Submit the task of each item, and yield the items in order with their answers.

    At most `pool.max_pending` tasks are under way; if there are several, the sum of
    `weight` over their items is at most `most`. Answers are those of `TaskQueue`.
    Raises `EngineError`.
    """
    with closing(TaskQueue[_Item](pool, most)) as queue:
        for item, task in items:
            yield from queue.add(item, task, weight(item))
        yield from queue.rest()
