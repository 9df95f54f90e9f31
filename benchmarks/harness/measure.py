"""Measure commands: their wall time, and the memory of all their processes."""

import os
import statistics
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
#: Bytes of a file that are read at once.
PIECE = 1024 * 1024
#: Seconds between two looks at the memory.
INTERVAL = 0.02
MEMORY_IS_TOLD = (PROCESSES / "self" / "smaps_rollup").exists()


class UnexpectedExit(Exception):  # noqa: N818 - reads as what happened
    """A command ended otherwise than it should; carries both exit codes."""

    def __init__(self, command: Sequence[str], code: int, expected: int) -> None:
        super().__init__(command, code, expected)
        self.command, self.code, self.expected = command, code, expected

    def __str__(self) -> str:
        command = " ".join(self.command)
        return f"exit code {self.code}, not {self.expected}, from: {command}"


@dataclass(frozen=True, slots=True)
class Sample:
    """A small run that stands for a large one that would take too long."""

    #: The same command with next to nothing to do.
    start_up: tuple[str, ...]
    #: How often the work of the small run fits into that of the large one.
    factor: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A command that takes part in a comparison."""

    name: str
    command: tuple[str, ...]
    #: The exit code without which the run does not count.
    expected: int = 0
    sample: Sample | None = None
    #: A file that is removed before each run, so that none is paid for by another.
    output: Path | None = None
    #: A file that is read before each run, so that none reads it from the disk.
    source: Path | None = None
    #: The same command with little to do, which is run before each run, so that none
    #: reads its program from the disk.
    warm_up: tuple[str, ...] = ()

    def begin(self) -> None:
        """Leave nothing of the run before, and have at hand what is read."""
        if self.warm_up:
            _timed(self.warm_up, self.expected)
        if self.output is not None:
            self.output.unlink(missing_ok=True)
        if self.source is not None:
            with self.source.open("rb", buffering=0) as file:
                while file.read(PIECE):
                    pass


@dataclass(frozen=True, slots=True)
class Run:
    """The seconds of one run: of the wall, of the program, of the system for it."""

    seconds: float
    user: float
    system: float

    def beyond(self, start: "Run", factor: float) -> "Run":
        """Return the run as it would be with more work than it has beyond a start."""
        return Run(
            start.seconds + (self.seconds - start.seconds) * factor,
            start.user + (self.user - start.user) * factor,
            start.system + (self.system - start.system) * factor,
        )


@dataclass(frozen=True, slots=True)
class Measurement:
    """What the runs of one candidate came to."""

    name: str
    #: Wall times.
    seconds: tuple[float, ...]
    #: Peak memory in bytes; none where it was not measured.
    peak: int | None = None
    #: Seconds of processors in the programs, and in the system for them, of each run.
    user: tuple[float, ...] = ()
    system: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        """The median wall time in seconds."""
        return statistics.median(self.seconds)


def compare(
    candidates: Sequence[Candidate], runs: int, *, memory: bool = True
) -> dict[str, Measurement]:
    """Measure `candidates` by turns, `runs` times each, and return them by name.

    Looking at the memory slows a process down, so that is done in a run of its own.
    Raises `UnexpectedExit`.
    """
    rounds = [[run_of(each) for each in candidates] for _ in range(runs)]
    measurements = {}
    for each, found in zip(candidates, zip(*rounds, strict=True), strict=True):
        peak = peak_of(each) if memory and MEMORY_IS_TOLD else None
        measurements[each.name] = Measurement(
            each.name,
            tuple(run.seconds for run in found),
            peak,
            tuple(run.user for run in found),
            tuple(run.system for run in found),
        )
    return measurements


def seconds_of(candidate: Candidate) -> float:
    """Return the wall time of one run, scaled up if only a sample is run.

    Raises `UnexpectedExit`.
    """
    return run_of(candidate).seconds


def run_of(candidate: Candidate) -> Run:
    """Return the times of one run, scaled up if only a sample is run.

    Raises `UnexpectedExit`.
    """
    candidate.begin()
    run = _timed(candidate.command, candidate.expected)
    if candidate.sample is None:
        return run
    start_up = _timed(candidate.sample.start_up, 0)
    return run.beyond(start_up, candidate.sample.factor)


def peak_of(candidate: Candidate) -> int:
    """Return the peak of the memory of a run and all its children, in bytes.

    The memory is the sum of their proportional set sizes, which counts what they
    share once. Raises `UnexpectedExit`.
    """
    candidate.begin()
    process = _started(candidate.command)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory_of(family_of(process.pid)))
        time.sleep(INTERVAL)
    _check(candidate.command, process.returncode, candidate.expected)
    return peak


def memory_of(processes: Iterable[int]) -> int:
    """Return the sum of the proportional set sizes of `processes` in bytes."""
    return sum(_share_of(each) for each in processes)


def family_of(process: int) -> list[int]:
    """Return `process` and all that it started, directly or not, and still run."""
    family = [process]
    for each in family:
        family += _children_of(each)
    return family


def _timed(command: Sequence[str], expected: int) -> Run:
    """Run a command to its end, and return its times with those of its children."""
    start = time.perf_counter()
    process = _started(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    _check(command, process.returncode, expected)
    return Run(seconds, usage.ru_utime, usage.ru_stime)


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start `command`, its output thrown away and nothing special about its Python."""
    ordinary = {
        key: value for key, value in os.environ.items() if not key.startswith("PYTHON")
    }
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        command, stdin=nothing, stdout=nothing, stderr=nothing, env=ordinary
    )


def _check(command: Sequence[str], code: int, expected: int) -> None:
    if code != expected:
        raise UnexpectedExit(command, code, expected)


def _children_of(process: int) -> list[int]:
    """Return the children of all threads; of a process that just ended, none."""
    children = []
    try:
        for each in (PROCESSES / str(process) / "task").iterdir():
            children += (each / "children").read_text().split()
    except OSError:
        return []
    return [int(each) for each in children]


def _share_of(process: int) -> int:
    """Return the proportional set size in bytes; of a process that just ended, 0."""
    try:
        lines = (PROCESSES / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(each.split()[1]) for each in lines if each.startswith("Pss:")) * 1024
