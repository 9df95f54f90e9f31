"""A Dask cluster as an engine, at the address `dask://host:port`."""

import logging
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from harpia_formats.io.urls import all_masked, masked
from harpia_formats.workers.engine import GONE, Engine, EngineError

#: Seconds to wait for the scheduler to answer, and for it to have a worker.
CONNECTING, WAITING = 10, 120
#: Seconds after which the threads of the workers are counted again.
COUNTED = 1.0


@contextmanager
def dask_engine(name: str) -> Generator[Engine, None, None]:
    """Connect to the scheduler at `name`, for `with`; raises `EngineError`."""
    with _without_logs():
        yield from _engine_at(name)


def _engine_at(name: str) -> Generator[Engine, None, None]:
    client = _connected(name)
    try:
        # With pure=True, the default, Dask runs equal calls only once.
        executor = client.get_executor(pure=False)
        engine = engine_of_client(executor, masked(name))
        _check_workers(engine, client)
        yield engine
    finally:
        client.close()


def engine_of_client(executor: Any, name: str) -> Engine:
    """Return the engine for an executor of Dask, with the name shown in messages."""
    client = executor._client  # noqa: SLF001 - the executor has no public access to its client
    return Engine(
        executor,
        _ThreadCount(client, name),
        is_local=False,
        name=name,
        ask=_caller_of(client),
        is_gone=lambda: client.status not in {"running", "connecting"},
    )


@contextmanager
def _without_logs() -> Generator[None, None, None]:
    """Silence the loggers of Dask, for `with`, and restore their levels at the end.

    An `EngineError` says in one sentence what Dask logs, such as a lost connection.
    """
    import distributed  # noqa: F401, PLC0415 - an extra; its import sets the levels of its loggers

    loggers = [
        logging.getLogger(name)
        for name in ("distributed", *logging.root.manager.loggerDict)
        if name.partition(".")[0] == "distributed"
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
class _ThreadCount:
    """Counts the threads of all workers, at most once every `COUNTED` seconds."""

    client: Any
    name: str
    _count: int = 1
    _at: float = 0

    def __call__(self) -> int:
        """Return the number of threads, at least 1; raises `EngineError`."""
        now = time.monotonic()
        if not self._at or now - self._at > COUNTED:
            try:
                self._count = max(1, sum(self.client.nthreads().values()))
            except Exception as error:
                raise EngineError(self.name, GONE) from error
            self._at = now
        return self._count


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


def _check_workers(engine: Engine, client: Any) -> None:
    """Raise `EngineError` unless a worker exists, and all have our versions."""
    try:
        client.wait_for_workers(1, timeout=WAITING)
    except TimeoutError as error:
        reason = f"the scheduler had no worker within {WAITING} s"
        raise EngineError(engine.name, reason) from error
    ours = version("harpia-formats"), (sys.version_info[0], sys.version_info[1])

    # A nested function is sent by value, so that it runs without our package.
    def installed() -> tuple[str, tuple[int, int]]:
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - runs in a worker
        from sys import version_info  # noqa: PLC0415 - runs in a worker

        try:
            found = version("harpia-formats")
        except PackageNotFoundError:
            found = ""
        return found, (version_info[0], version_info[1])

    for worker, theirs in engine.asked(installed).items():
        if theirs != ours:
            raise EngineError(engine.name, _difference(worker, theirs, ours))


def _difference(worker: str, theirs: Any, ours: tuple[str, tuple[int, int]]) -> str:
    if not isinstance(theirs, tuple):
        return f"{worker} does not answer: {all_masked(str(theirs))}"
    found, python = theirs
    if not found:
        return f"{worker} has no harpia-formats; install {ours[0]} on every worker"
    if found != ours[0]:
        return f"{worker} has harpia-formats {found}, not {ours[0]}"
    return f"{worker} has Python {_dotted(python)}, not {_dotted(ours[1])}"


def _dotted(numbers: tuple[int, int]) -> str:
    return ".".join(map(str, numbers))
