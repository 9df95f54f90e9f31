"""Whoever does work elsewhere: an executor, and what to do where a process dies."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from harpia_formats.processes import pool_of

if TYPE_CHECKING:  # most runs are too small for it
    from concurrent.futures import Executor, Future

#: Pieces of work that are under way for each process.
AHEAD = 3
#: What to do: a function that is known by its name, and its plain arguments.
Work = tuple[Callable[..., Any], tuple[Any, ...]]


class Died(Exception):  # noqa: N818 - reads as what happened
    """The processes that did a piece of work have died, twice."""


@dataclass(slots=True, eq=False)
class Ticket:
    """A piece of work that is under way."""

    work: Work
    executor: "Executor"
    #: None where nobody would take it.
    future: "Future[Any] | None"


@dataclass(slots=True)
class Crew:
    """Some processes that work for this one, for `with`; they begin with the work.

    With an executor of somebody else's these are its own, and it is not shut down.
    Only its `submit` is used. What is done must not raise.
    """

    jobs: int
    executor: "Executor | None" = None
    _waiting: deque[Ticket] = field(default_factory=deque)
    _pool: "Executor | None" = None
    #: A single process for what another one has died of.
    _single: "Executor | None" = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._waiting:
            if each.future is not None:
                each.future.cancel()
        for pool in (self._pool, self._single):
            if pool is not None:
                pool.shutdown(wait=True)

    @property
    def room(self) -> int:
        """How many pieces of work may be under way."""
        return AHEAD * self.jobs

    def submit(self, work: Work) -> Ticket:
        """Hand out a piece of work."""
        ticket = self._submitted(work)
        if ticket.future is None and self.executor is None:
            self._forget(ticket.executor)
            ticket = self._submitted(work)
        self._waiting.append(ticket)
        return ticket

    def result(self, ticket: Ticket) -> Any:
        """Return what came of a piece of work, which is waited for.

        Where its process dies, it is done once more, alone. Raises `Died`.
        """
        try:
            if ticket.future is not None:
                return ticket.future.result()
        except Exception:  # noqa: BLE001 - each executor has its own for a process that died
            self._forget(ticket.executor)
        finally:
            self._waiting.remove(ticket)
        return self._alone(ticket.work)

    def _submitted(self, work: Work) -> Ticket:
        if self.executor is None and self._pool is None:
            self._pool = pool_of(self.jobs)
        executor = self.executor or self._pool
        assert executor is not None  # noqa: S101 - there is one by now
        run, arguments = work
        future = None
        with suppress(Exception):  # it is broken: a process has died
            future = executor.submit(run, *arguments)
        return Ticket(work, executor, future)

    def _forget(self, pool: "Executor") -> None:
        """Do without a pool that a process of has died; the next work begins another.

        An executor of somebody else's is kept.
        """
        if pool is self._pool:
            pool.shutdown(wait=False)
            self._pool = None

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


def in_turn(
    crew: Crew,
    items: Iterator[tuple[Any, Work | None]],
    weight: Callable[[Any], int] = lambda _: 0,
    most: int = 0,
) -> Iterator[tuple[Any, Ticket | None]]:
    """Yield items in order, each with the work on it if there is some.

    No more than the crew has room for is under way, and where more than one is, they
    weigh no more than `most` together.
    """
    waiting: deque[tuple[Any, Ticket | None]] = deque()
    load = 0
    for item, work in items:
        waiting.append((item, None if work is None else crew.submit(work)))
        load += weight(item)
        while len(waiting) >= crew.room or (len(waiting) > 1 and load > most):
            first = waiting.popleft()
            load -= weight(first[0])
            yield first
    yield from waiting
