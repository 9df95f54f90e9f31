"""Measuring commands: wall time, processor time, and memory of all processes."""

import ctypes
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage

PROCESSES = Path("/proc")
#: The number of bytes read at once.
PIECE = 1024 * 1024
#: Seconds between two samples of the memory.
INTERVAL = 0.02
#: The call of Linux that makes a process the parent of orphans among its descendants.
_SET_CHILD_SUBREAPER = 36
MEMORY_IS_KNOWN = (PROCESSES / "self" / "smaps_rollup").exists()


class UnexpectedExitError(Exception):
    """A command that ended with another exit code than expected; has both codes."""

    def __init__(self, command: Sequence[str], code: int, expected: int) -> None:
        super().__init__(command, code, expected)
        self.command, self.code, self.expected = command, code, expected

    def __str__(self) -> str:
        command = " ".join(self.command)
        return f"exit code {self.code}, not {self.expected}, from: {command}"


@dataclass(frozen=True, slots=True)
class Sample:
    """A small run whose time is extrapolated, for commands that are too slow."""

    #: The same command with almost no input, whose time is not extrapolated.
    start_up: tuple[str, ...]
    #: The work of the large run divided by that of the small one.
    factor: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A command of a comparison."""

    name: str
    command: tuple[str, ...]
    #: The exit code that each run must have.
    expected: int = 0
    sample: Sample | None = None
    #: The output file, which is deleted before each run.
    output: Path | None = None
    #: The input file, which is read before each run, so that it is in the page cache.
    source: Path | None = None
    #: The same command with a small input, which is run before each run, so that its
    #: program is in the page cache.
    warm_up: tuple[str, ...] = ()

    def begin(self) -> None:
        """Delete the output of the last run, and load the input into the page cache."""
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
    """The times of one run in seconds: wall, user processor and system processor."""

    seconds: float
    user: float
    system: float

    def beyond(self, start: "Run", factor: float) -> "Run":
        """Return the run with its time after that of `start` multiplied by `factor`."""
        return Run(
            start.seconds + (self.seconds - start.seconds) * factor,
            start.user + (self.user - start.user) * factor,
            start.system + (self.system - start.system) * factor,
        )


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measured runs of one candidate."""

    name: str
    #: Wall times in seconds.
    seconds: tuple[float, ...]
    #: Peak memory in bytes; None if it was not measured.
    peak: int | None = None
    #: User and system processor seconds of each run, with all processes.
    user: tuple[float, ...] = ()
    system: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        """The median wall time in seconds."""
        return statistics.median(self.seconds)


def compare(
    candidates: Sequence[Candidate], runs: int, *, memory: bool = True
) -> dict[str, Measurement]:
    """Measure `candidates` in interleaved runs, and return measurements by name.

    Each has `runs` timed runs. Sampling the memory slows a process down, so it is done
    in another run.
    Raises `UnexpectedExitError`.
    """
    rounds = [[run_of(candidate) for candidate in candidates] for _ in range(runs)]
    measurements = {}
    for candidate, found in zip(candidates, zip(*rounds, strict=True), strict=True):
        peak = peak_of(candidate) if memory and MEMORY_IS_KNOWN else None
        measurements[candidate.name] = Measurement(
            candidate.name,
            tuple(run.seconds for run in found),
            peak,
            tuple(run.user for run in found),
            tuple(run.system for run in found),
        )
    return measurements


def seconds_of(candidate: Candidate) -> float:
    """Return the wall time of one run in seconds, extrapolated for a sample.

    Raises `UnexpectedExitError`.
    """
    return run_of(candidate).seconds


def run_of(candidate: Candidate) -> Run:
    """Return the times of one run, extrapolated for a sample.

    Raises `UnexpectedExitError`.
    """
    candidate.begin()
    run = _timed(candidate.command, candidate.expected)
    if candidate.sample is None:
        return run
    start_up = _timed(candidate.sample.start_up, 0)
    return run.beyond(start_up, candidate.sample.factor)


def peak_of(candidate: Candidate) -> int:
    """Return the peak memory of a run with all its child processes, in bytes.

    The memory is the sum of their proportional set sizes (PSS), in which shared pages
    count once. Raises `UnexpectedExitError`.
    """
    candidate.begin()
    process = _started(candidate.command)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory_of(family_of(process.pid)))
        time.sleep(INTERVAL)
    _check(candidate.command, process.returncode, candidate.expected)
    return peak


#: What of a process's memory is counted: its share of all, or of what no file holds.
#: Other processes that use the same files change the first, and not the second.
ALL_MEMORY, OWN_MEMORY = ("Pss:",), ("Pss_Anon:", "Pss_Shmem:")


def memory_of(processes: Iterable[int], kinds: tuple[str, ...] = ALL_MEMORY) -> int:
    """Return the sum of the proportional set sizes of `processes` in bytes.

    `kinds` are those of memory that are counted.
    """
    return sum(_share_of(process, kinds) for process in processes)


def family_of(process: int) -> list[int]:
    """Return a process with all its running descendants."""
    family = [process]
    for member in family:
        family += _children_of(member)
    return family


def _timed(command: Sequence[str], expected: int) -> Run:
    """Run a command, and return its times including those of all its processes."""
    others = set(_children_of(os.getpid()))
    with _adopting():
        start = time.perf_counter()
        process = _started(command)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        usages = [usage, *_adopted(others)]
    process.returncode = os.waitstatus_to_exitcode(status)
    _check(command, process.returncode, expected)
    return Run(
        seconds,
        sum(each.ru_utime for each in usages),
        sum(each.ru_stime for each in usages),
    )


@contextmanager
def _adopting() -> Iterator[None]:
    """Be the parent of processes whose parents end meanwhile, where Linux has it.

    The server that forks worker processes ends after the process that started it.
    """
    if sys.platform != "linux":
        yield
        return
    control = ctypes.CDLL(None).prctl
    control(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        control(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _adopted(others: Collection[int]) -> Iterator[struct_rusage]:
    """Yield the times of each child process apart from `others`, once it has ended."""
    while new := set(_children_of(os.getpid())).difference(others):
        for process in new:
            yield os.wait4(process, 0)[2]


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a command without output and without `PYTHON*` variables."""
    ordinary = {
        key: value for key, value in os.environ.items() if not key.startswith("PYTHON")
    }
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        command, stdin=nothing, stdout=nothing, stderr=nothing, env=ordinary
    )


def _check(command: Sequence[str], code: int, expected: int) -> None:
    if code != expected:
        raise UnexpectedExitError(command, code, expected)


def _children_of(process: int) -> list[int]:
    """Return the child processes of all threads; none for a process that has ended."""
    children = []
    try:
        for thread in (PROCESSES / str(process) / "task").iterdir():
            children += (thread / "children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in children]


def _share_of(process: int, kinds: tuple[str, ...]) -> int:
    """Return the proportional set size in bytes, 0 for a process that has ended."""
    try:
        lines = (PROCESSES / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(kinds)) * 1024
