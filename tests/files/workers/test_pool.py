"""Tasks are sent in order, a limited number at a time, with any executor.

What becomes of tasks whose workers are lost, or never come.
"""

import io
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from harpia_formats import EngineError
from harpia_formats.cli.progress_and_problems import Progress, When
from harpia_formats.files.workers import engine as module
from harpia_formats.files.workers import pool as worker_pool
from harpia_formats.files.workers.engine import Engine, WorkersAwaited, WorkerWatch
from harpia_formats.files.workers.pool import (
    TASKS_PER_WORKER,
    WorkerDied,
    WorkerPool,
    answers_in_order,
    open_engine,
)
from harpia_formats.files.workers.worker_checks import code_digest


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


class KilledWorker(Exception):  # noqa: N818 - as Dask calls it
    """What Dask says of work that killed several workers."""


class CommClosedError(OSError):
    """What Dask says where the connection broke off."""


class Bad(Executor):
    """Does work at once, but fails at some of it."""

    def __init__(self, failures: dict[int, BaseException]) -> None:
        self.failures = failures
        self.begun = 0
        self.taken: list[Future[Any]] = []

    def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
        """Do some work, given by position only."""
        act, *arguments = given
        future: Future[Any] = Future()
        self.taken.append(future)
        self.begun += 1
        number = arguments[1] if len(arguments) > 1 else None
        failure = self.failures.get(number) if isinstance(number, int) else None
        if failure is None:
            future.set_result(act(*arguments))
        else:
            future.set_exception(failure)
        return future


class Dead(Executor):
    """A process that dies of any task."""

    def submit(self, *_: Any) -> Future[Any]:  # type: ignore[override]  # by position only
        """Die of some work."""
        future: Future[Any] = Future()
        future.set_exception(BrokenProcessPool("it died"))
        return future


def additions(count: int) -> Iterator[tuple[int, Any]]:
    """Yield numbers with work on each: to add it to one."""
    for each in range(count):
        yield each, (add, (1, each))


def test_growing_cluster_gets_more_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of running tasks follows the number of workers."""
    widths = [1] * 5 + [4] * 200
    pool = Bad({})
    begun = []
    with WorkerPool(0, pool) as found:
        engine = Engine(pool, lambda: widths.pop(0), is_local=False)
        monkeypatch.setattr(found, "_engine", engine)
        for _ in answers_in_order(found, additions(60)):
            begun.append(pool.begun)  # noqa: PERF401 - it changes on the way

    assert begun[0] == TASKS_PER_WORKER
    assert begun[10] - 10 > 2 * TASKS_PER_WORKER


def test_task_lost_twice_has_no_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A task that kills two workers has no result; all others do, in order."""
    monkeypatch.setattr(worker_pool, "process_pool", lambda _: Dead())
    with WorkerPool(2, Bad({3: KilledWorker("x")})) as found:
        results = list(answers_in_order(found, additions(6)))

    assert isinstance(results[3][1], WorkerDied)
    del results[3]
    assert [each for _, each in results] == [1, 2, 3, 5, 6]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (CommClosedError("x"), "the cluster is gone"),
        (ModuleNotFoundError("No module named 'x'"), "the workers lack a package"),
    ],
)
def test_cluster_without_workers_is_an_error(error: Exception, reason: str) -> None:
    """A cluster without usable workers ends the run with one error."""
    with WorkerPool(2, Bad({3: error})) as found, pytest.raises(EngineError) as failed:
        list(answers_in_order(found, additions(5)))

    assert str(failed.value).startswith(f"the executor: {reason}")


def test_waiting_work_is_cancelled_when_the_consumer_stops() -> None:
    """If the consumer stops early, all waiting tasks are cancelled."""

    class Waiting(Bad):
        def submit(self, *_: Any) -> Future[Any]:  # type: ignore[override]  # by position only
            future: Future[Any] = Future()
            if not self.taken:
                future.set_result(0)
            self.taken.append(future)
            return future

    pool = Waiting({})
    with WorkerPool(2, pool) as found:
        next(answers_in_order(found, additions(50)))

    assert [each.cancelled() for each in pool.taken[1:]] == [True] * 5


def test_an_executor_tells_its_width() -> None:
    """An executor is given as much as it does at once; `jobs` says otherwise."""
    with ThreadPoolExecutor(3) as pool:
        for jobs, width in ((0, 3), (7, 7)):
            with open_engine(None, pool, jobs) as engine:
                assert engine.width() == width


class Never(Executor):
    """A cluster that accepts tasks, and whose workers are dead."""

    def __init__(self, act: Callable[["Future[Any]"], None] = lambda _: None) -> None:
        self.act = act

    def submit(self, *_: Any) -> Future[Any]:  # type: ignore[override]  # by position only
        """Accept a task."""
        future: Future[Any] = Future()
        self.act(future)
        return future


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often."""
    monkeypatch.setattr(worker_pool, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(module, "LOOK", 0.01)


def pool_of(
    executor: Executor, watch: WorkerWatch, monkeypatch: pytest.MonkeyPatch, **more: Any
) -> WorkerPool:
    """Return a pool whose engine is watched like a cluster."""
    engine = Engine(
        executor,
        lambda: 1,
        is_local=False,
        name="dask://h:1",
        is_gone=lambda: False,
        watch=watch,
        **more,
    )
    found = WorkerPool(1, executor)
    monkeypatch.setattr(found, "_engine", engine)
    return found


def test_lost_workers_end_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time without workers the run ends, with the first reason."""
    shown: list[Any] = []
    counts = [2, 1]
    watch = WorkerWatch(
        "dask://h:1", lambda: counts.pop() if counts else 0, 0.1, shown.append
    )
    with (
        pool_of(Never(), watch, monkeypatch) as pool,
        pytest.raises(EngineError, match=r"2 at most\) are gone, and none came within"),
    ):
        pool.result(pool.submit((len, ("",))))

    assert isinstance(shown[0], WorkersAwaited)
    assert {each.notice for each in shown} == {shown[0].notice}
    assert "waiting for 1 worker at least, since the last of 2 is gone; until 2" in (
        shown[0].notice
    )
    assert "(0.1 s, `--cluster-timeout`)" in shown[0].notice


def test_cluster_without_any_worker_is_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A cluster that never had a worker ends a run; without a progress it is logged."""
    watch = WorkerWatch("dask://h:1", lambda: 0, 0.05)
    engine = Engine(Never(), lambda: 1, is_local=False, name="dask://h:1", watch=watch)

    with pytest.raises(EngineError, match=r"no workers, and none came within 0\.05 s"):
        engine.asked(len, "")
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert "it has none yet" in caplog.text


def test_workers_that_come_back_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time starts anew whenever a worker was there, or a task was done."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    counts = [0]
    shown: list[Any] = []
    watch = WorkerWatch("dask://h:1", lambda: counts[0], 60, shown.append)
    for at, count in ((0, 0), (59, 0), (59.5, 1), (70, 0), (129, 0)):
        now[0], counts[0] = at, count
        assert watch.has_worker() is bool(count)
    watch.reset()
    now[0] = 500
    assert watch.has_worker() is False
    assert [each.consumed for each in shown] == [0, 59, 0, 59, 0]
    assert "(1 minute, `--cluster-timeout`)" in shown[0].notice
    now[0] = 560
    with pytest.raises(EngineError):
        watch.has_worker()


def test_a_task_that_is_done_needs_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that is there is taken, whether there are workers or not."""
    watch = WorkerWatch("dask://h:1", lambda: 0, 0.1)
    executor = Never(lambda future: future.set_result(7))
    with pool_of(executor, watch, monkeypatch) as pool:
        assert pool.result(pool.submit((len, ("",)))) == 7


class Here(Executor):
    """A cluster whose only worker is this process."""

    def submit(self, run: Any, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
        """Run a task at once."""
        future: Future[Any] = Future()
        try:
            future.set_result(run(*given))
        except Exception as error:  # noqa: BLE001 - the future raises it
            future.set_exception(error)
        return future


def test_worker_with_other_code_ends_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker, also one that comes late, compares its code before it runs a task."""
    watch = WorkerWatch("dask://h:1", lambda: 1, 1)
    with pool_of(Here(), watch, monkeypatch, code=code_digest()) as pool:
        assert pool.result(pool.submit((len, ("abc",)))) == 3
    with (
        pool_of(Here(), watch, monkeypatch, code="0" * 32) as pool,
        pytest.raises(EngineError, match="dask://h:1: a worker has other files of"),
    ):
        pool.result(pool.submit((len, ("abc",))))


@pytest.mark.parametrize("when", [When.NEVER, When.ALWAYS])
def test_wait_is_shown_at_once(when: When, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line on a wait is written once, whatever is shown of the progress."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(written, "utf-8"))
    monkeypatch.setattr("harpia_formats.cli.progress_and_problems.LINES", 0)
    progress = Progress(quiet=True, when=when)
    for seconds in (0, 12):
        progress.update(
            WorkersAwaited("waiting for a worker", seconds, 600, "it waits until 9:00")
        )
    lines = written.getvalue().decode().splitlines()
    more = [f"progress: waiting for a worker: {n} of 600 s" for n in (0, 12)]

    assert lines == ["it waits until 9:00", *(more if when == When.ALWAYS else [])]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_impossible_time_is_refused(seconds: float) -> None:
    """A run cannot wait for no time, or for ever."""
    with pytest.raises(ValueError, match="must be finite and above 0, not"):
        harpia_formats.validate(b"{}", cluster_timeout=seconds)
