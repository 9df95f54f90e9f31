"""Have work done elsewhere, some pieces at a time, and take it back in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harpia_formats.workers.pool import Died, Ticket, Work, WorkerPool

#: How many pieces in a row may be lost twice until none is handed out any more.
HOPELESS = 5
_Item = TypeVar("_Item")


def in_turn(
    pool: WorkerPool,
    items: Iterable[tuple[Any, Work | None]],
    weight: Callable[[Any], int] = lambda _: 0,
    most: int = 0,
) -> Iterator[tuple[Any, Ticket | None]]:
    """Yield items in order, each with the work on it if there is some.

    No more than the pool has room for is under way, and where more than one is, they
    weigh no more than `most` together. Raises `EngineError`.
    """
    waiting: deque[tuple[Any, Ticket | None]] = deque()
    load = 0
    for item, work in items:
        waiting.append((item, None if work is None else pool.submit(work)))
        load += weight(item)
        while len(waiting) >= pool.room or (len(waiting) > 1 and load > most):
            first = waiting.popleft()
            load -= weight(first[0])
            yield first
    yield from waiting


def ordered(
    pool: WorkerPool, run: Callable[[Any, _Item], Any], job: Any, items: Iterable[_Item]
) -> Iterator[tuple[_Item, Any]]:
    """Yield what `run(job, item)` returns for each item, in order.

    None is for what was lost twice with whoever did it. Raises `EngineError`, and what
    `items` raises once all before it is done.
    """
    flow, deaths = _Flow(iter(items)), 0
    works = ((each, (run, (job, each)) if deaths < HOPELESS else None) for each in flow)
    for item, ticket in in_turn(pool, works):
        found = None
        if ticket is not None and deaths < HOPELESS:
            try:
                found = pool.result(ticket)
                deaths = 0
            except Died:
                deaths += 1
        yield item, found
    if flow.failure is not None:
        raise flow.failure


@dataclass(slots=True)
class _Flow(Generic[_Item]):
    """Items; what ends them early is kept until those before it are done."""

    items: Iterator[_Item]
    failure: Exception | None = None

    def __iter__(self) -> Iterator[_Item]:
        try:
            yield from self.items
        except Exception as error:  # noqa: BLE001 - raised once what was begun is done
            self.failure = error
