"""Who does work for this process: processes of its own, an executor, or a cluster.

What is handed out must be a function of a module, what it is given and what it returns
plain data: it runs in other processes, on other machines, and may run twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harpia_formats.io.urls import all_masked, is_url, masked, scheme_of

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor


class EngineError(Exception):
    """An engine, and why it cannot do the work."""

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(engine, reason)
        self.engine = engine
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.engine}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Engine:
    """An executor, and what has to be known of it."""

    #: Only its `submit` is used, by position only: Dask takes keywords for itself.
    executor: "Executor"
    #: Returns how many pieces of work are done at once; a cluster grows and shrinks.
    width: Callable[[], int]
    #: Whether those who work are processes of ours, on this machine.
    is_near: bool
    #: As shown to the user.
    name: str = "the executor"
    #: Has a function called with arguments by each who works, as far as they can be
    #: told apart; returns what each answers, or raised, by its name.
    ask: "Callable[..., Mapping[str, Any]] | None" = None
    #: Tells whether there is nobody left: then some results never come.
    is_gone: Callable[[], bool] | None = None

    def asked(self, run: Callable[..., Any], *given: Any) -> Mapping[str, Any]:
        """Return what those who work answer; of most executors, what any of them does.

        Raises `EngineError`.
        """
        try:
            if self.ask is not None:
                return self.ask(run, *given)
            return {"a worker": self.executor.submit(run, *given).result()}
        except Exception as error:
            check_alive(self.name, error)
            reason = f"no worker answers: {all_masked(str(error))}"
            raise EngineError(self.name, reason) from error


def check_engine(name: str | None, executor: "Executor | None") -> None:
    """Raise `EngineError` for what is no engine, `ValueError` for two of them."""
    if name is None:
        return
    if executor is not None:
        raise ValueError("engine and executor exclude each other")
    if not (is_url(name) and scheme_of(name) in _extras):
        known = ", ".join(f"{scheme}://HOST:PORT" for scheme in _extras)
        raise EngineError(all_masked(name), f"is no engine (known: {known})")
    if not _has_host_and_port(name):
        shown = f"{scheme_of(name)}://HOST:PORT"
        raise EngineError(masked(name), f"is no address of a scheduler ({shown})")
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
#: What is raised, by its name, where the connection to a cluster broke off.
_gone = {"CancelledError", "CommClosedError", "ClosedClientError"}


def check_alive(name: str, error: BaseException) -> None:
    """Raise `EngineError` if `error` means that nobody is left, or none could work."""
    if _gone & {class_.__name__ for class_ in type(error).__mro__}:
        raise EngineError(name, GONE) from error
    if isinstance(error, ImportError):
        reason = f"the workers lack a package: {all_masked(str(error))}"
        raise EngineError(name, reason) from error
