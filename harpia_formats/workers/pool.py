"""Whoever does work elsewhere, and what to do where a process dies of it."""

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from harpia_formats.workers.engine import (
    GONE,
    Engine,
    EngineError,
    check_alive,
)
from harpia_formats.workers.open_engine import local_engine, open_engine
from harpia_formats.workers.processes import jobs_of, pool_of

if TYPE_CHECKING:  # most runs are too small for it
    from concurrent.futures import Executor, Future

    from harpia_formats.io.remote.file import RemoteFile
    from harpia_formats.workers.same_file import FileFingerprint

#: Pieces of work that are under way for each who works.
AHEAD = 3
#: Seconds after which it is looked whether a cluster is still there.
PATIENCE = 5
#: What to do: a function that is known by its name, and its plain arguments.
Work = tuple[Callable[..., Any], tuple[Any, ...]]


class Died(Exception):  # noqa: N818 - reads as what happened
    """The processes that did a piece of work have died, twice."""


@dataclass(slots=True, eq=False)
class Ticket:
    """A piece of work that is under way."""

    work: Work
    engine: Engine
    #: None where nobody would take it.
    future: "Future[Any] | None"


@dataclass(slots=True)
class WorkerPool:
    """Those who work for this process, for `with`; they begin with the work.

    They are processes of ours, the workers of a cluster, or an executor of somebody
    else's, which is not shut down. What is done must not raise.
    """

    #: How many; of an executor 0 if that is not known.
    jobs: int
    executor: "Executor | None" = None
    #: The address of a cluster.
    name: str | None = None
    _waiting: deque[Ticket] = field(default_factory=deque)
    _engine: Engine | None = None
    _stack: ExitStack = field(default_factory=ExitStack)
    #: A single process for what another one has died of.
    _single: "Executor | None" = None
    #: Files that those who work see as we do.
    _seen: "dict[Path | RemoteFile, FileFingerprint]" = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.rest()
        self._engine = None
        self._stack.close()

    def rest(self) -> None:
        """Want nothing more that is under way, and end processes of ours.

        The next work begins others, which know more.
        """
        is_near = self._engine is not None and self._engine.is_near
        for ticket in self._waiting:
            # One by one: not every executor can be told to cancel them all. Ours is,
            # since it fails on what we cancel while its processes are dying.
            if ticket.future is not None and not is_near:
                ticket.future.cancel()
        self._waiting.clear()
        if self._engine is not None and is_near:
            self._engine.executor.shutdown(wait=True, cancel_futures=True)
            self._engine = None
        if self._single is not None:
            self._single.shutdown(wait=True)
            self._single = None

    @property
    def is_far(self) -> bool:
        """Whether others than processes of ours do the work, maybe far away."""
        return self.executor is not None or self.name is not None

    @property
    def engine(self) -> Engine:
        """Who does the work; raises `EngineError`."""
        if self._engine is None:
            if self.is_far:
                engine = open_engine(self.name, self.executor, self.jobs)
                self._engine = self._stack.enter_context(engine)
            else:
                self._engine = local_engine(self.jobs)
        return self._engine

    @property
    def room(self) -> int:
        """How many pieces of work may be under way; raises `EngineError`."""
        return AHEAD * (self.engine.width() if self.is_far else self.jobs)

    def see(self, origin: "Path | RemoteFile") -> None:
        """Have those who work look at a file; raises `EngineError` if they see another.

        Otherwise all its work would come back undone, and nobody would know why.
        """
        from harpia_formats.workers.same_file import fingerprint_of, unlike  # noqa: PLC0415 - for others only

        if origin in self._seen:
            return
        try:
            fingerprint = fingerprint_of(origin)
        except OSError:
            return  # whoever reads it says so
        for worker, answer in self.engine.asked(unlike, fingerprint).items():
            if answer:
                reason = f"{worker} does not see what is to be read: {answer}"
                raise EngineError(self.engine.name, reason)
        self._seen[origin] = fingerprint

    def fingerprint_of(self, origin: "Path | RemoteFile") -> "FileFingerprint | None":
        """Return a file that those who work see, None if they need not, or do not."""
        return self._seen.get(origin)

    def shares(self, folder: str) -> bool:
        """Tell whether all who work see a folder of ours; raises `EngineError`."""
        if not self.is_far:
            return True
        engine = self.engine
        if engine.ask is None:
            return False  # others than those who answer may do the work
        from harpia_formats.workers.same_file import leave_sign, sees_sign  # noqa: PLC0415 - as above

        answers = engine.asked(sees_sign, folder, leave_sign(folder))
        return all(answer is True for answer in answers.values())

    def submit(self, work: Work) -> Ticket:
        """Hand out a piece of work; raises `EngineError`."""
        ticket = self._submitted(work)
        if ticket.future is None and ticket.engine.is_near:
            self._forget(ticket.engine)
            ticket = self._submitted(work)
        self._waiting.append(ticket)
        return ticket

    def result(self, ticket: Ticket) -> Any:
        """Return what came of a piece of work, which is waited for.

        Where its process dies, it is done once more, alone, and here: what else was
        at work beside it may have been the reason. Raises `Died` and `EngineError`.
        """
        try:
            if ticket.future is not None:
                return _waited_for(ticket.future, ticket.engine)
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - each executor has its own for a process that died
            if not ticket.engine.is_near:
                check_alive(ticket.engine.name, error)
            self._forget(ticket.engine)
        finally:
            self._waiting.remove(ticket)
        return self._alone(ticket.work)

    def _submitted(self, work: Work) -> Ticket:
        engine = self.engine
        run, arguments = work
        future = None
        try:
            future = engine.executor.submit(run, *arguments)
        except Exception as error:  # noqa: BLE001 - it is broken: a process has died
            if not engine.is_near:
                check_alive(engine.name, error)
        return Ticket(work, engine, future)

    def _forget(self, engine: Engine) -> None:
        """Do without processes one of which has died; the next work begins others.

        Those of somebody else are kept.
        """
        if engine is self._engine and engine.is_near:
            engine.executor.shutdown(wait=False)
            self._engine = None

    def _alone(self, work: Work) -> Any:
        """Do a piece of work in a process of its own. Raises `Died`."""
        from concurrent.futures import BrokenExecutor  # noqa: PLC0415 - rarely needed

        run, arguments = work
        self._single = self._single or pool_of(1)
        try:
            return self._single.submit(run, *arguments).result()
        except BrokenExecutor as error:
            self._single.shutdown(wait=False)
            self._single = None
            raise Died from error


def _waited_for(future: "Future[Any]", engine: Engine) -> Any:
    """Return a result; raises what the work raised, and `EngineError`."""
    while engine.is_gone is not None and not future.done():
        try:
            return future.result(timeout=PATIENCE)
        except TimeoutError:
            if engine.is_gone():
                raise EngineError(engine.name, GONE) from None
    return future.result()


def joined(
    jobs: int, executor: "Executor | None", engine: str | None
) -> AbstractContextManager[WorkerPool | None]:
    """Return who works for a run by its options, for `with`; None if nobody does."""
    if executor is not None or engine is not None:
        return WorkerPool(jobs, executor, engine)
    count = jobs_of(jobs)
    return nullcontext() if count == 1 else WorkerPool(count)
