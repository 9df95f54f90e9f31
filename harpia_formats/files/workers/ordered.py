"""Run tasks in a worker pool, a bounded number at a time, with answers in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from harpia_formats.files.workers.pool import PendingTask, Task, WorkerDied, WorkerPool

_Item = TypeVar("_Item")


@dataclass(slots=True)
class TaskQueue(Generic[_Item]):
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
