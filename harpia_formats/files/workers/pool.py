"""A pool of workers that runs tasks, and runs them again if a worker dies."""

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT
from harpia_formats.files.workers.delayed_signals import delayed_signals
from harpia_formats.files.workers.engine import GONE, Engine, check_connected
from harpia_formats.files.workers.open_engine import local_engine, open_engine
from harpia_formats.files.workers.processes import process_pool, worker_count
from harpia_formats.model.errors import EngineError

if TYPE_CHECKING:  # start-up: small runs need no workers
    from concurrent.futures import Executor, Future

    from harpia_formats.files.io.remote.file import RemoteFile
    from harpia_formats.files.io.source import ReadProgress
    from harpia_formats.files.workers.same_file import FileFingerprint

#: Pending tasks for each worker, so that none waits for its next task.
TASKS_PER_WORKER = 3
#: Seconds between checks whether a cluster is still connected and has workers.
CHECK_SECONDS = 0.5
#: A function of a module, and its arguments, which are plain data.
Task = tuple[Callable[..., Any], tuple[Any, ...]]


class WorkerDied(Exception):  # noqa: N818 - says what happened
    """The worker processes that ran a task died, twice."""


@dataclass(slots=True, eq=False)
class PendingTask:
    """A task that was submitted."""

    task: Task
    engine: Engine
    #: None if the engine did not accept it.
    future: "Future[Any] | None"


@dataclass(slots=True)
class WorkerPool:
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
    #: Is told while the run waits for workers.
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
        from harpia_formats.files.workers.same_file import (  # noqa: PLC0415 - needed with an executor or a cluster only
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
        from harpia_formats.files.workers.same_file import has_marker, write_marker  # noqa: PLC0415 - needed with a cluster only

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
            from harpia_formats.files.workers.code_digest import run_with_same_code  # noqa: PLC0415 - needed with a cluster only

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
        """Is told how far the run is."""


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
