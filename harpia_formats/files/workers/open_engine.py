"""Open an engine: processes of this machine, an executor, or a cluster."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.io.urls import scheme_of
from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT
from harpia_formats.files.workers.engine import Engine
from harpia_formats.files.workers.processes import process_pool, worker_count

if TYPE_CHECKING:  # start-up: most runs use no executor
    from concurrent.futures import Executor


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
