import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from harpia_formats.files.workers import killable
from harpia_formats.files.workers.killable import (
    CallFailed,
    CallTimedOut,
    KillableProcess,
    ProcessDied,
)


def numbers(count: int, pause: float = 0.0) -> Iterator[int]:
    """Yield numbers with a pause before each."""
    for number in range(count):
        time.sleep(pause)
        yield number


def own_id() -> Iterator[int]:
    """Yield the id of the process."""
    yield os.getpid()


def fail() -> Iterator[int]:
    """Raise an exception after a value."""
    yield 1
    raise ValueError("no")


def die() -> Iterator[int]:
    """End the process."""
    os._exit(3)
    yield 1


@pytest.fixture(params=["forked", "spawned"])
def process(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[KillableProcess]:
    """Return a process of each kind; it is ended after the test."""
    is_forked = request.param == "forked"
    monkeypatch.setattr(killable, "is_fork_safe", lambda: is_forked)
    found = KillableProcess()
    yield found
    found.close()


def test_values_come_from_another_process(process: KillableProcess) -> None:
    """A function runs in one other process, call after call."""
    first, again = (list(process.call(own_id, timeout=20)) for _ in range(2))

    assert first == again != [os.getpid()]
    assert list(process.call(numbers, 3, timeout=20)) == [0, 1, 2]


def test_silence_ends_the_call(process: KillableProcess) -> None:
    """A call without a value for long is ended; values in time may take longer."""
    assert list(process.call(numbers, 3, 0.3, timeout=2.0)) == [0, 1, 2]
    with pytest.raises(CallTimedOut):
        list(process.call(numbers, 1, 60.0, timeout=0.2))

    assert list(process.call(numbers, 1, timeout=20)) == [0]


def test_exception_is_reported(process: KillableProcess) -> None:
    """An exception of the function is raised with its type and message."""
    values = process.call(fail, timeout=20)

    assert next(values) == 1
    with pytest.raises(CallFailed, match="ValueError: no"):
        next(values)


def test_death_is_reported(process: KillableProcess) -> None:
    """The end of the process is raised, and the next call has a new one."""
    with pytest.raises(ProcessDied):
        list(process.call(die, timeout=20))

    assert list(process.call(numbers, 1, timeout=20)) == [0]


def test_idle_process_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process without calls ends after a while, and the next call has a new one."""
    process = KillableProcess()
    monkeypatch.setattr(killable, "is_fork_safe", lambda: True)
    monkeypatch.setattr(killable, "IDLE_SECONDS", 0.1)
    (first,) = process.call(own_id, timeout=20)
    time.sleep(0.5)

    (second,) = process.call(own_id, timeout=20)
    process.close()

    assert first != second


def test_closed_process_has_ended(process: KillableProcess) -> None:
    """A closed process is gone, and was waited for."""
    (pid,) = process.call(own_id, timeout=20)

    process.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_call_that_is_not_read_to_its_end_ends_the_process(
    process: KillableProcess,
) -> None:
    """What is left of one call is never taken for the answer to the next one."""
    values = process.call(numbers, 3, timeout=20)
    next(values)
    values.close()  # type: ignore[attr-defined]  # it is a generator

    assert list(process.call(numbers, 2, timeout=20)) == [0, 1]


def test_forked_copy_does_not_use_the_process_of_its_owner() -> None:
    """A copy of the owner starts a process of its own, and leaves the first alone."""
    if len(threading.enumerate()) > 1:
        pytest.skip("a fork is not safe here")
    process = KillableProcess()
    (first,) = process.call(own_id, timeout=20)
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        (second,) = process.call(own_id, timeout=20)
        os.write(writing, str(second).encode())
        process.close()
        os._exit(0)
    os.waitpid(pid, 0)
    other = int(os.read(reading, 20))
    os.close(reading)
    os.close(writing)

    found: list[Any] = list(process.call(own_id, timeout=20))
    process.close()

    assert found == [first]
    assert other != first
