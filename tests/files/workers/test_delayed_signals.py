"""Signals that arrive while worker processes start are handled afterwards."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harpia_formats.files.workers.pool import delayed_signals


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
