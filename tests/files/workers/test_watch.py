"""A run that waits for workers of a cluster says so, and ends after a time."""

import io
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest

import harpia_formats
from harpia_formats.cli.progress_and_problems import Progress, When
from harpia_formats.files.workers import engine as module
from harpia_formats.files.workers import pool as worker_pool
from harpia_formats.files.workers.engine import Engine, WorkersAwaited, WorkerWatch
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.files.workers.worker_checks import code_digest
from harpia_formats.model.problem import EngineError
from harpia_formats.validation.options import Options


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
    with pytest.raises(ValueError, match="cluster_timeout must be above 0"):
        Options(cluster_timeout=seconds)
    with pytest.raises(ValueError, match="cluster_timeout"):
        harpia_formats.validate(b"{}", cluster_timeout=seconds)
