"""Run tasks in a worker pool, a bounded number at a time, with results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harpia_formats.files.workers.pool import PendingTask, Task, WorkerDied, WorkerPool

#: After so many tasks in succession that killed their worker, no more are submitted.
MAX_LOSSES = 5
_Item = TypeVar("_Item")


def submit_in_order(
    pool: WorkerPool,
    items: Iterable[tuple[Any, Task | None]],
    weight: Callable[[Any], int] = lambda _: 0,
    most: int = 0,
) -> Iterator[tuple[Any, PendingTask | None]]:
    """Submit the task of each item, and yield items in order with their pending tasks.

    At most `pool.max_pending` tasks are pending; if there are several, the sum of
    `weight` over their items is at most `most`. Raises `EngineError`.
    """
    waiting: deque[tuple[Any, PendingTask | None]] = deque()
    load = 0
    for item, task in items:
        waiting.append((item, None if task is None else pool.submit(task)))
        load += weight(item)
        while len(waiting) >= pool.max_pending or (len(waiting) > 1 and load > most):
            first = waiting.popleft()
            load -= weight(first[0])
            yield first
    yield from waiting


def map_ordered(
    pool: WorkerPool, run: Callable[[Any, _Item], Any], job: Any, items: Iterable[_Item]
) -> Iterator[tuple[_Item, Any]]:
    """Yield each item with the result of `run(job, item)`, in order.

    The result is None if the task killed its worker twice. Raises `EngineError`; an
    exception of `items` is raised after the results of all items before it.
    """
    flow, deaths = _Flow(iter(items)), 0
    tasks = (
        (item, (run, (job, item)) if deaths < MAX_LOSSES else None) for item in flow
    )
    for done, pending in submit_in_order(pool, tasks):
        found = None
        if pending is not None and deaths < MAX_LOSSES:
            try:
                found = pool.result(pending)
                deaths = 0
            except WorkerDied:
                deaths += 1
        yield done, found
    if flow.failure is not None:
        raise flow.failure


@dataclass(slots=True)
class _Flow(Generic[_Item]):
    """Iterates over items; keeps the exception that ends them instead of raising it."""

    items: Iterator[_Item]
    failure: Exception | None = None

    def __iter__(self) -> Iterator[_Item]:
        try:
            yield from self.items
        except Exception as error:  # noqa: BLE001 - raised after the pending tasks are done
            self.failure = error
