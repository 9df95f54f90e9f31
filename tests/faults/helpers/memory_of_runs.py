"""Run a command in processes of its own, and measure the memory of all of them."""

import subprocess
import time
from pathlib import Path

import pytest

from command_runs import COMMAND, environment_with

with pytest.MonkeyPatch.context() as _patch:
    # The benchmarks are commands: their modules are on no path.
    _patch.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
    from harness.measure import MEMORY_IS_KNOWN, OWN_MEMORY, family_of, memory_of

#: For tests of how much memory a run takes.
needs_memory = pytest.mark.skipif(
    not MEMORY_IS_KNOWN, reason="the system does not tell the memory of processes"
)
#: Bytes that no run takes, however large its input is.
MOST = 200_000_000


def measured(
    *arguments: object, folder: Path, interval: float = 0.05
) -> tuple[int, int, str]:
    """Return the exit code, the peak of the memory, and standard output and error.

    The memory is the sum of the proportional shares (PSS) of all processes of the run,
    looked at each `interval` seconds.
    """
    code, peak, _, text = peaks_of(*arguments, folder=folder, interval=interval)
    return code, peak, text


def peaks_of(
    *arguments: object, folder: Path, interval: float = 0.05
) -> tuple[int, int, int, str]:
    """Return what `measured` does, and before the text the peak of what no file holds.

    That is the memory to compare runs by: the share of files depends on which other
    processes of the machine use them.
    """
    output = folder / "messages"
    command = [*COMMAND, *map(str, arguments)]
    peak = own = 0
    with output.open("wb") as stream:
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=environment_with({}),
        )
        try:
            while process.poll() is None:
                family = family_of(process.pid)
                peak = max(peak, memory_of(family))
                own = max(own, memory_of(family, OWN_MEMORY))
                time.sleep(interval)
        finally:
            process.kill()
            process.wait()
    text = output.read_text(encoding="utf-8")
    output.unlink()
    return process.returncode, peak, own, text
