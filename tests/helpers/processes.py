"""The processes that a process has started, as /proc has them, and waiting for them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def is_running(pid: int) -> bool:
    """Tell whether a process runs, and is not only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] != "Z"
    except OSError:
        return False


def until(holds: Callable[[], Any]) -> Any:
    """Return the answer of `holds` once it is true, or after 20 seconds."""
    for _ in range(400):
        if answer := holds():
            return answer
        time.sleep(0.05)
    return holds()
