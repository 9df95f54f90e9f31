"""Engines: what runs tasks for this process, and how an engine is checked.

An engine is a group of processes, an executor, or a cluster. A task is a function of a
module with plain data as arguments and result: it runs in another process, perhaps on
another machine, and may run twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harpia_formats.files.io.urls import all_masked, is_url, masked, scheme_of
from harpia_formats.model.errors import EngineError

if TYPE_CHECKING:  # start-up: most runs use no executor
    from concurrent.futures import Executor

    from harpia_formats.files.workers.watch import WorkerWatch


@dataclass(frozen=True, slots=True)
class Engine:
    """An executor, and how many tasks it runs at once."""

    #: Only `submit` is used, without keywords: Dask has keywords of its own.
    executor: "Executor"
    #: Returns how many tasks run at once, which changes as a cluster grows or shrinks.
    width: Callable[[], int]
    #: Whether the workers are processes that we started, on this machine.
    is_local: bool
    #: Its name in messages.
    name: str = "the executor"
    #: Calls a function with arguments on every worker; returns the result, or the
    #: exception, by the name of the worker. None if workers cannot be addressed.
    ask: "Callable[..., Mapping[str, Any]] | None" = None
    #: Tells whether the connection is lost, so that some results never come.
    is_gone: Callable[[], bool] | None = None
    #: Watches that there are workers. None if that cannot be known.
    watch: "WorkerWatch | None" = None
    #: The digest of the code that workers must have, "" if they have ours anyway.
    code: str = ""

    def asked(self, run: Callable[..., Any], *given: Any) -> Mapping[str, Any]:
        """Call `run` on every worker, or on any one if workers cannot be addressed.

        Returns the results by the names of the workers. Raises `EngineError`.
        """
        if self.watch is not None:
            self.watch.wait()
        try:
            if self.ask is not None:
                return self.ask(run, *given)
            return {"a worker": self.executor.submit(run, *given).result()}
        except Exception as error:
            check_connected(self.name, error)
            reason = f"no worker answers: {all_masked(str(error))}"
            raise EngineError(self.name, reason) from error


def check_engine(name: str | None, executor: "Executor | None") -> None:
    """Raise `EngineError` if `name` is no usable engine.

    Raises `ValueError` if an executor is given as well.
    """
    if name is None:
        return
    if executor is not None:
        raise ValueError("engine and executor exclude each other")
    if not (is_url(name) and scheme_of(name) in _extras):
        known = ", ".join(f"{scheme}://HOST:PORT" for scheme in _extras)
        raise EngineError(all_masked(name), f"is not a known engine (known: {known})")
    if not _has_host_and_port(name):
        shown = f"{scheme_of(name)}://HOST:PORT"
        raise EngineError(masked(name), f"is not the address of a scheduler ({shown})")
    extra = _extras[scheme_of(name)]
    if find_spec(extra) is None:
        reason = f'needs the extra "{extra}": pip install "harpia-formats[{extra}]"'
        raise EngineError(masked(name), reason)


def _has_host_and_port(name: str) -> bool:
    try:
        parts = urlsplit(name)
        rest = (parts.path.strip("/"), parts.query, parts.fragment)
        return bool(parts.hostname and parts.port) and not any(rest)
    except ValueError:
        return False


#: The package that each kind of cluster needs, which is also the name of its extra.
_extras = {"dask": "distributed"}
GONE = "the cluster is gone"
#: Names of the exceptions that are raised when the connection to a cluster is lost.
_gone = {"CancelledError", "CommClosedError", "ClosedClientError"}


def check_connected(name: str, error: BaseException) -> None:
    """Raise `EngineError` if `error` is a lost connection, or missing or other code."""
    if type(error).__name__ == "OtherCodeError":
        raise EngineError(name, str(error)) from error
    if _gone & {base.__name__ for base in type(error).__mro__}:
        raise EngineError(name, GONE) from error
    if isinstance(error, ImportError):
        reason = f"the workers lack a package: {all_masked(str(error))}"
        raise EngineError(name, reason) from error
