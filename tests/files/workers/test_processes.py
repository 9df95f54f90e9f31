"""Worker processes end with the process that started them."""

import os
import subprocess
import sys
import threading
from concurrent.futures import process
from typing import Any

import pytest

from harpia_formats.files.workers.engine import process_pool
from harpia_formats.model.problem import EngineError

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


def test_system_without_locks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes cannot share a lock, the error says what works there."""

    def refuse(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(process, "ProcessPoolExecutor", refuse)
    with pytest.raises(EngineError, match=r"cannot be started here .*; use `--jobs 1`"):
        process_pool(2)
