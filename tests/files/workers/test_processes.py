"""Other processes end when they should: with their parent, by a signal, by force."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import process as futures_process
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import EngineError
from harpia_formats.files.workers import killable
from harpia_formats.files.workers.engine import process_pool
from harpia_formats.files.workers.killable import (
    CallFailed,
    CallTimedOut,
    KillableProcess,
    ProcessDied,
)
from harpia_formats.files.workers.pool import delayed_signals

# Workers end with their parent

#: Seconds; longer than ends take on a machine that has much else to do.
PATIENCE = 60
#: A thread makes it begin processes by a server, which they have as their parent.
SCRIPT = """
import threading, time
from harpia_formats.files.workers.engine import process_pool
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
pool = process_pool(2)
print(*pool.map(abs, range(2)), flush=True)
for _ in range(BUSY):
    pool.submit(time.sleep, 600)
time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="nothing tells the end of processes")
@pytest.mark.parametrize("busy", [0, 2])
def test_workers_end_with_their_parent(busy: int) -> None:
    """If the parent process is killed, busy and idle workers end."""
    script = SCRIPT.replace("BUSY", str(busy))
    with subprocess.Popen([sys.executable, "-c", script], stdout=-1) as process:  # noqa: S603 - our own script
        assert process.stdout is not None
        first = process.stdout.readline()
        process.kill()
        # It has an end once no process is left that could write to it.
        rest, _ = process.communicate(timeout=PATIENCE)

    assert (first, rest) == (b"0 1\n", b"")


def test_all_processes_start_with_the_first_task() -> None:
    """No process starts later, when another one may just have been found dead."""
    ended = threading.Event()
    # Next to a thread no process may be a copy of this one.
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        pool: Any = process_pool(2)
        with pool:
            pool.submit(os.getpid).result()
            count = len(pool._processes)  # noqa: SLF001 - no public attribute has the number
    finally:
        ended.set()
        thread.join()

    assert count == 2


def test_threads_that_start_pools_at_once_leave_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No variable is left that both set for the server that starts their processes."""
    inside = [threading.Event(), threading.Event()]
    begun = iter((0, 1))

    def start_slowly() -> None:
        number = next(begun)
        inside[number].set()
        if not number:
            inside[1].wait(0.2)
        else:
            first.join()

    monkeypatch.setattr(forkserver, "ensure_running", start_slowly)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    first, second = (
        threading.Thread(target=lambda: process_pool(1).shutdown()) for _ in range(2)
    )
    first.start()
    inside[0].wait()
    second.start()
    second.join()

    assert "PYTHONSAFEPATH" not in os.environ


def test_system_without_locks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes cannot share a lock, the error says what works there."""

    def refuse(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(futures_process, "ProcessPoolExecutor", refuse)
    with pytest.raises(EngineError, match=r"cannot be started here .*; use `--jobs 1`"):
        process_pool(2)


def test_more_processes_than_the_system_allows() -> None:
    """The error is that of the number of processes, not one of ours."""
    with pytest.raises(EngineError, match=r"cannot be started here .*; use `--jobs 1`"):
        process_pool(10**20)


# Signals


class Arrived(Exception):  # noqa: N818 - a signal, not an error
    """Raised by the handler of a signal."""


def raise_arrived(*_: object) -> None:
    """Raise `Arrived`, as the handler of a signal."""
    raise Arrived


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_handled_at_the_end(number: signal.Signals) -> None:
    """The block runs to its end, then the handler raises; handlers are as before."""
    done = []

    def run() -> None:
        with delayed_signals():
            signal.raise_signal(number)
            done.append(1)

    usual = signal.signal(number, raise_arrived)
    try:
        with pytest.raises(Arrived):
            run()
        handler = signal.getsignal(number)
    finally:
        signal.signal(number, usual)

    assert done == [1]
    assert handler is raise_arrived


def test_signals_that_end_the_process_still_do() -> None:
    """A signal without a handler ends the process at once."""
    script = (
        "import os, signal\n"
        "from harpia_formats.files.workers.pool import delayed_signals\n"
        "with delayed_signals():\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('still here')\n"
    )
    done = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-c", script], capture_output=True, check=False
    )

    assert (done.returncode, done.stdout) == (-signal.SIGTERM, b"")


def test_other_threads_change_no_handlers() -> None:
    """In a thread that handles no signals the block just runs."""
    before = signal.getsignal(signal.SIGINT)
    inside = []

    def run() -> None:
        with delayed_signals():
            inside.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    assert inside == [before]


#: Runs the command line in two processes, and sends a signal at a random moment.
HUNT = """
import os, random, signal, subprocess, sys, time
random.seed(int(sys.argv[1]))
command = sys.argv[4:]
for _ in range(int(sys.argv[3])):
    process = subprocess.Popen(
        command, stdout=-3, stderr=-1, start_new_session=True,
        preexec_fn=lambda: signal.signal(2, signal.default_int_handler))
    time.sleep(random.uniform(0.2, float(sys.argv[2])))
    number = random.choice([signal.SIGTERM, signal.SIGINT])
    send = random.choice([os.kill, os.killpg])
    try:
        send(process.pid, number)
    except ProcessLookupError:
        pass
    try:
        errors = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        sys.exit("a run did not end")
    if process.returncode not in {0, 128 + number, -number} or b"Traceback" in errors:
        sys.exit(f"{process.returncode}: {errors.decode()}")
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["validate", "convert", "score"])
def test_signals_at_random_moments_end_parallel_runs(tmp_path: Path, kind: str) -> None:
    """A run in two processes ends by its signal, whenever that arrives.

    There is no hang and no traceback. The moments lie behind the start of Python, and
    before the end of most runs.
    """
    row = (
        b'{"input":{"prompt":"%s","ideal_response":"r","category":"","source":"%d"},'
        b'"response":"a","llm_name":"m"}\n'
    )
    rows = (row % (b"q" * 180, number) for number in range(120_000))
    (tmp_path / "in.jsonl").write_bytes(b"".join(rows))
    extra = {
        "validate": [],
        "convert": ["--to", "tencent-csv", "-o", "out.csv", "--overwrite"],
        "score": ["--metrics", "em,f1"],
    }
    command = [sys.executable, "-m", "harpia_formats", kind, "in.jsonl", "--jobs", "2"]
    arguments = ["1", "2.0", os.environ.get("HARPIA_SIGNALS", "120")]
    done = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-c", HUNT, *arguments, *command, *extra[kind]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    left = {path.name for path in tmp_path.iterdir()} - {"in.jsonl", "out.csv"}
    assert not left


#: Starts two workers; SIGTERM arrives behind the start of the Nth one.
INTERRUPTED_START = """
import concurrent.futures.process, os, signal, sys
from harpia_formats.files.workers.pool import WorkerPool

class Terminated(BaseException):
    pass

def handler(*_):
    raise Terminated

executor = concurrent.futures.process.ProcessPoolExecutor
spawn = executor._spawn_process
started = []

def spawn_and_signal(self):
    spawn(self)
    started.append(1)
    if len(started) == {number}:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1_000):
            pass

executor._spawn_process = spawn_and_signal
signal.signal(signal.SIGTERM, handler)
try:
    with WorkerPool(2) as pool:
        pool.result(pool.submit((abs, (-1,))))
except Terminated:
    sys.exit(143)
"""


@pytest.mark.parametrize("number", [1, 2])
def test_a_signal_while_workers_start_leaves_none_behind(number: int) -> None:
    """A run ends at once if a signal arrives between the starts of its workers.

    Otherwise it would wait at its end for a worker that nobody ends.
    """
    done = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-c", INTERRUPTED_START.format(number=number)],
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (143, b"")


# Processes that can be killed


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
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    new_interpreters: None,  # noqa: ARG001 - how it is started
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
