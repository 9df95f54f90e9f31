"""A Dask cluster as an engine, at the address `dask://host:port`."""

import logging
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.io.urls import all_masked, masked
from harpia_formats.files.workers.engine import (
    CLUSTER_TIMEOUT,
    GONE,
    Engine,
    WorkerWatch,
)
from harpia_formats.files.workers.worker_checks import code_digest, difference_of_code
from harpia_formats.model.problem import EngineError

#: Seconds to wait for the scheduler to answer.
CONNECTING = 10
#: Seconds after which the workers are counted again.
COUNTED = 0.5
_Progress = Callable[[ReadProgress], None]


@contextmanager
def dask_engine(
    name: str, timeout: float = CLUSTER_TIMEOUT, progress: _Progress | None = None
) -> Generator[Engine, None, None]:
    """Connect to the scheduler at `name`, for `with`; raises `EngineError`.

    `timeout` are the seconds without a worker that end a run, which tells `progress`
    that it waits.
    """
    with _without_logs():
        yield from _engine_at(name, timeout, progress)


def _engine_at(
    name: str, timeout: float, progress: _Progress | None
) -> Generator[Engine, None, None]:
    client = _connected(name)
    try:
        # With pure=True, the default, Dask runs equal calls only once.
        executor = client.get_executor(pure=False)
        engine = engine_of_client(executor, masked(name), timeout, progress)
        _check_workers(engine)
        yield engine
    finally:
        client.close()


def engine_of_client(
    executor: Any, name: str, timeout: float, progress: _Progress | None
) -> Engine:
    """Return the engine for an executor of Dask, with the name shown in messages."""
    client = executor._client  # noqa: SLF001 - the executor has no public access to its client
    workers = _WorkerCount(client, name)
    return Engine(
        executor,
        workers.threads,
        is_local=False,
        name=name,
        ask=_caller_of(client),
        is_gone=lambda: client.status not in {"running", "connecting"},
        watch=WorkerWatch(name, workers.workers, timeout, progress),
        code=code_digest(),
    )


@contextmanager
def _without_logs() -> Generator[None, None, None]:
    """Silence the loggers of Dask, for `with`, and restore their levels at the end.

    An `EngineError` says in one sentence what Dask logs, such as a lost connection.
    """
    import distributed  # noqa: F401, PLC0415 - an extra; its import sets the levels of its loggers

    loggers = [
        logging.getLogger(name)
        for name in ("tornado.application", *logging.root.manager.loggerDict)
        if name.partition(".")[0] in {"distributed", "tornado"}
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@dataclass(slots=True)
class _WorkerCount:
    """Counts the workers and their threads, at most once every `COUNTED` seconds."""

    client: Any
    name: str
    #: The threads of each worker.
    _found: Mapping[str, int] = field(default_factory=dict)
    _at: float = 0

    def threads(self) -> int:
        """Return the number of threads, at least 1; raises `EngineError`."""
        return max(1, sum(self._counted().values()))

    def workers(self) -> int:
        """Return the number of workers; raises `EngineError`."""
        return len(self._counted())

    def _counted(self) -> Mapping[str, int]:
        now = time.monotonic()
        if not self._at or now - self._at > COUNTED:
            try:
                self._found = self.client.nthreads()
            except Exception as error:
                raise EngineError(self.name, GONE) from error
            self._at = now
        return self._found


def _caller_of(client: Any) -> Callable[..., Mapping[str, Any]]:
    def ask(run: Callable[..., Any], *given: Any) -> Mapping[str, Any]:
        found: Mapping[str, Any] = client.run(run, *given, on_error="return")
        return {f"the worker {address}": answer for address, answer in found.items()}

    return ask


def _connected(name: str) -> Any:
    from distributed import Client  # noqa: PLC0415 - an extra

    address = f"tcp://{name.partition('://')[2]}"
    try:
        client: Any = Client  # it has no types
        return client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = f"no scheduler answered within {CONNECTING} s"
        raise EngineError(masked(name), reason) from error


@dataclass(frozen=True, slots=True)
class _Installed:
    """What a worker must have as this process has it."""

    version: str
    python: tuple[int, int]
    code: str


def _check_workers(engine: Engine) -> None:
    """Raise `EngineError` unless a worker comes, and all have what we have."""
    python = (sys.version_info[0], sys.version_info[1])
    ours = _Installed(version("harpia-formats"), python, engine.code)

    # A nested function is sent by value, so that it runs without our package.
    def installed() -> tuple[str, tuple[int, int], str]:
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - runs in a worker
        from sys import version_info  # noqa: PLC0415 - runs in a worker

        try:
            found = version("harpia-formats")
        except PackageNotFoundError:
            found = ""
        try:
            from harpia_formats.files.workers.worker_checks import code_digest  # noqa: PLC0415 - runs in a worker

            code = code_digest()
        except ImportError:
            code = ""
        return found, (version_info[0], version_info[1]), code

    for worker, theirs in engine.asked(installed).items():
        difference = _difference(theirs, ours)
        if difference:
            raise EngineError(engine.name, f"{worker} {difference}")


def _difference(answer: Any, ours: _Installed) -> str:
    """Return what a worker has other than we have, "" if it is the same."""
    if not isinstance(answer, tuple):
        return f"does not answer: {all_masked(str(answer))}"
    theirs = _Installed(*answer)
    if not (theirs.version or theirs.code):
        return f"has no harpia-formats; install {ours.version} on every worker"
    # A zip file on the path has code, but no version.
    if theirs.version != ours.version and (theirs.version or not theirs.code):
        return f"has harpia-formats {theirs.version}, not {ours.version}"
    if theirs.python != ours.python:
        return f"has Python {_dotted(theirs.python)}, not {_dotted(ours.python)}"
    return difference_of_code(theirs.code, ours.code)


def _dotted(numbers: tuple[int, int]) -> str:
    return ".".join(map(str, numbers))
