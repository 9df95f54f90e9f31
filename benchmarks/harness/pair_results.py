"""Results of measured pairs and comparisons, and the file that keeps them."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from harness.measure import Run

#: The candidates of each pair.
TWO, ONE, SCRIPT = "default jobs", "one process", "script"
#: A net time is not less than this, in seconds: shorter ones cannot be measured.
LEAST = 0.001


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement to be made: a pair of formats, a kind of text, and the rows."""

    rows: int
    text: str
    source: str
    target: str

    @property
    def pair(self) -> str:
        """The names of both formats."""
        return f"{self.source} to {self.target}"

    @property
    def key(self) -> str:
        """The name of the cell in the file of results."""
        return f"{self.pair}, {self.text}, {self.rows}"


@dataclass(slots=True)
class Times:
    """The runs of a candidate: wall, processor and start-up seconds."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    start_wall: list[float] = field(default_factory=list)
    start_processor: list[float] = field(default_factory=list)

    def add(self, start: Run, run: Run) -> None:
        """Add a run, with the run on few records just before it."""
        self.wall.append(run.seconds)
        self.processor.append(run.user + run.system)
        self.start_wall.append(start.seconds)
        self.start_processor.append(start.user + start.system)

    @property
    def net(self) -> float:
        """The median wall time in seconds without start-up."""
        median = statistics.median
        return max(median(self.wall) - median(self.start_wall), LEAST)

    @property
    def net_processor(self) -> float:
        """The median processor time in seconds without start-up."""
        median = statistics.median
        return max(median(self.processor) - median(self.start_processor), LEAST)


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured of a cell."""

    rows: int
    text: str
    source: str
    target: str
    #: Bytes of the input.
    size: int
    times: Mapping[str, Times]
    #: Bytes of our peak memory with default jobs; None if it was not measured.
    peak: int | None = None

    @property
    def pair(self) -> str:
        """The names of both formats."""
        return f"{self.source} to {self.target}"

    def ratio(self, candidate: str) -> float:
        """Return the net wall time of a candidate divided by that of the script."""
        return self.times[candidate].net / self.times[SCRIPT].net

    def processor_ratio(self, candidate: str) -> float:
        """Return the net processor time divided by that of the script."""
        return self.times[candidate].net_processor / self.times[SCRIPT].net_processor


@dataclass(frozen=True, slots=True)
class Compared:
    """Net wall seconds of a command and of its conversions, and its peak memory."""

    name: str
    seconds: float
    conversions: float
    peak: int | None

    @property
    def ratio(self) -> float:
        """The time of the command divided by that of the conversions."""
        return self.seconds / self.conversions


class ResultFile:
    """Results of pairs by cell, and of comparisons, written to a file after each."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        """Open the file; its results are kept only if `resume` is set."""
        self.path = path
        self.results: dict[str, Result] = {}
        self.comparisons: dict[str, Compared] = {}
        if resume and path.exists():
            found = json.loads(path.read_bytes())
            for key, value in found["pairs"].items():
                self.results[key] = _result(value)
            for key, value in found["comparisons"].items():
                self.comparisons[key] = Compared(**value)

    def of(self, cells: Sequence[Cell]) -> list[Result]:
        """Return the results of cells, in their order."""
        return [self.results[cell.key] for cell in cells]

    def add(self, cell: Cell, result: Result) -> None:
        """Add the result of a cell, and write all results."""
        self.results[cell.key] = result
        self._write()

    def add_comparison(self, result: Compared) -> None:
        """Add the result of a comparison, and write all results."""
        self.comparisons[result.name] = result
        self._write()

    def _write(self) -> None:
        found = {
            "pairs": {key: asdict(each) for key, each in self.results.items()},
            "comparisons": {key: asdict(of) for key, of in self.comparisons.items()},
        }
        unfinished = self.path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(found, indent=1), encoding="utf-8")
        unfinished.replace(self.path)


def _result(found: Mapping[str, object]) -> Result:
    times = found["times"]
    assert isinstance(times, dict)  # noqa: S101 - the file is ours
    values = {**found, "times": {name: Times(**of) for name, of in times.items()}}
    return Result(**values)  # type: ignore[arg-type]  # values of our own file
