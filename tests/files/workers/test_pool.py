"""Tasks are sent in order, a limited number at a time, with any executor."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.files.workers.pool import (
    TASKS_PER_WORKER,
    WorkerPool,
    answers_in_order,
)


class Lazy(Executor):
    """Does work when it is asked for what came of it, or fails as a cluster does."""

    def __init__(self, *, broken: bool = False) -> None:
        self.under_way = self.most = 0
        self._broken = broken

    def submit(
        self, run: Callable[..., Any], /, *arguments: Any, **given: Any
    ) -> "Future[Any]":
        """Take some work."""
        assert not given
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        executor = self

        class Later(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                del timeout
                executor.under_way -= 1
                if executor._broken:
                    raise RuntimeError("the worker was killed")
                return run(*arguments)

        return Later()


def works(numbers: list[int]) -> Iterator[tuple[int, Any]]:
    """Yield numbers with work on those that are odd: to add one to them."""
    for each in numbers:
        yield each, ((add, (each, 1)) if each % 2 else None)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 3))
def test_results_are_ordered_and_tasks_limited(numbers: list[int], jobs: int) -> None:
    """Results are in order, and no more tasks run than the pool allows."""
    executor = Lazy()
    with WorkerPool(jobs, executor) as pool:
        found = list(answers_in_order(pool, works(numbers)))

    assert found == [(each, each + 1 if each % 2 else None) for each in numbers]
    assert executor.most <= TASKS_PER_WORKER * jobs


@given(st.lists(st.integers(0, 9), max_size=30))
def test_heavy_items_do_not_wait_together(numbers: list[int]) -> None:
    """Items that wait weigh no more than is allowed, but for a single one."""
    waiting: list[int] = []

    def noted() -> Iterator[tuple[int, None]]:
        for each in numbers:
            waiting.append(each)
            yield each, None
            assert len(waiting) <= 1 or sum(waiting) <= 10

    with WorkerPool(3, Lazy()) as pool:
        for item, _ in answers_in_order(pool, noted(), int, 10):
            assert waiting.pop(0) == item


def test_work_that_a_cluster_lost_is_done_here() -> None:
    """If the caller's executor fails, a process of our own runs the task."""
    with WorkerPool(1, Lazy(broken=True)) as pool:
        tickets = [pool.submit((add, (each, 1))) for each in range(3)]

        assert [pool.result(each) for each in tickets] == [1, 2, 3]


def test_errors_of_tasks_are_raised() -> None:
    """An exception of a task is raised, and not treated as a dead process."""
    with (
        WorkerPool(1, Lazy(broken=True)) as pool,
        pytest.raises(TypeError, match="unsupported operand"),
    ):
        pool.result(pool.submit((add, (1, ""))))
