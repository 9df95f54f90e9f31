"""Delay signals for as long as an exception would leave worker processes behind."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: Signals whose handlers may raise an exception; Windows has no SIGHUP.
_names = ("SIGINT", "SIGTERM", "SIGHUP")
_numbers = [getattr(signal, name) for name in _names if hasattr(signal, name)]


@contextmanager
def delayed_signals() -> Iterator[None]:
    """Call the handlers of signals that arrive in the `with` block at its end.

    A handler that raises an exception while an executor starts its processes would
    leave some that nobody ends, and for which the end of this process waits forever.
    Outside of the main thread, which handles all signals, nothing is delayed.
    """
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)

    handlers = {number: signal.getsignal(number) for number in _numbers}
    handlers = {number: known for number, known in handlers.items() if callable(known)}
    try:
        _set_handlers(dict.fromkeys(handlers, note))
        yield
    finally:
        _set_handlers(handlers)
        for number in received:
            signal.raise_signal(number)


def _set_handlers(handlers: dict[int, Any]) -> None:
    """Set the handler of each signal, even if one that is set raises meanwhile."""
    if not handlers or not _is_main_thread():
        return
    (number, handler), *rest = handlers.items()
    try:
        signal.signal(number, handler)
    finally:
        _set_handlers(dict(rest))


def _is_main_thread() -> bool:
    import threading  # noqa: PLC0415 - start-up: small runs need no workers

    return threading.current_thread() is threading.main_thread()
