"""Compare two installed versions of harpia-formats: time, memory and start-up.

    python benchmarks/compare_versions.py BEFORE_PYTHON AFTER_PYTHON

BEFORE_PYTHON and AFTER_PYTHON are interpreters that have one version each. Both run the
same commands on the same generated files by turns (before, after, after, before, ...),
so that the noise of the machine affects both equally. Each line of the table has the
median of the ratios of its pairs. Ends with 1 if the time or the memory of a line grew
beyond the limit: if the median ratio is above it and the interval of the ratio, too.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from harness.measure import MEMORY_IS_KNOWN, Candidate, Run, peak_of, run_of
from harness.paired import MedianRatio, median_ratio
from harness.version_lines import Line, lines_in
from report.pages import circumstances, log
from report.tables import MEGABYTE, table

#: The largest median ratio of after to before that is allowed.
LIMIT = 1.03
DOCUMENT = """\
# Two versions of `harpia-formats`

Each ratio is the median of the ratios of paired runs, after to before: below 1, the
second version took less. In brackets is an interval for it, from ranks, which holds the
true median with a probability of {confidence:.1%} ({pairs} pairs of each line). A line
is kept if the ratios of its wall time and its memory are at most {limit}, or if their
intervals include that.

{results}

- Wall time is from the start of a process to its end. Processor time is that of all
  its processes, in their own code and in the system. Memory is the peak of the sum of
  their proportional set sizes, from {memory_pairs} paired runs of its own. It is lower
  for a version whose packages other processes use at the same time, so nothing else
  should run with one of the two interpreters.
- The first run of each command, which is not measured, loads programs and data into
  the page cache. There both versions ended with the same exit code and converted to
  the same bytes.
{circumstances}
"""


@dataclass(slots=True)
class Side:
    """One version: the command of each line, and the measurements of its runs."""

    name: str
    candidates: list[Candidate]
    runs: list[list[Run]] = field(default_factory=list)
    peaks: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runs = [[] for _ in self.candidates]
        self.peaks = [[] for _ in self.candidates]


def side_of(name: str, python: str, lines: Sequence[Line]) -> Side:
    """Return the version that is installed for the interpreter `python`."""
    # With -P the interpreter does not import from the folder in which it is started.
    program = (python, "-P", "-m", "harpia_formats")
    return Side(
        name,
        [
            Candidate(
                line.name,
                (*program, *line.arguments),
                line.expected,
                output=line.output,
                source=line.source,
            )
            for line in lines
        ],
    )


def prove(sides: Sequence[Side], lines: Sequence[Line]) -> None:
    """Run each line once with both versions, to prove that they do the same work.

    Raises `UnexpectedExitError`, and `SystemExit` if they write different bytes.
    """
    for place, line in enumerate(lines):
        written = []
        for side in sides:
            run_of(side.candidates[place])
            written.append(line.output.read_bytes() if line.output else b"")
        if written[0] != written[1]:
            raise SystemExit(f"{line.name}: the versions write different bytes")


def measure(
    sides: Sequence[Side], pairs: int, memory_pairs: int, seconds: float
) -> None:
    """Measure `pairs` paired runs of each line, fewer if `seconds` are over.

    Each round has one pair of each line, so that all lines have as many. The version
    that runs first changes from pair to pair. A round is started only if the time left
    is enough for one as long as the longest so far.
    """
    end = time.monotonic() + seconds
    for number in range(memory_pairs if MEMORY_IS_KNOWN else 0):
        log(f"memory, round {number + 1} of {memory_pairs}")
        for place, side in turns(sides, number):
            side.peaks[place].append(peak_of(side.candidates[place]))
    longest = 0.0
    for number in range(pairs):
        begin = time.monotonic()
        if number and begin + longest > end:
            log(f"stopping after {number} of {pairs} rounds: the time is over")
            return
        log(f"time, round {number + 1} of {pairs}, {end - begin:,.0f} s left")
        for place, side in turns(sides, number):
            side.runs[place].append(run_of(side.candidates[place]))
        longest = max(longest, time.monotonic() - begin)


def turns(sides: Sequence[Side], number: int) -> list[tuple[int, Side]]:
    """Return the places of all lines with both sides, in the order of a round."""
    return [
        (place, side)
        for place in range(len(sides[0].candidates))
        for side in (sides if (place + number) % 2 == 0 else tuple(reversed(sides)))
    ]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The ratios of one line, after to before."""

    name: str
    #: Median wall seconds, before and after.
    seconds: tuple[float, float]
    wall: MedianRatio
    processor: MedianRatio
    #: Median peaks in bytes, before and after; None if the system does not report them.
    peaks: tuple[float, float] | None
    memory: MedianRatio | None

    @property
    def is_kept(self) -> bool:
        """Whether neither time nor memory grew beyond the limit."""
        is_memory_kept = self.memory is None or self.memory.within(LIMIT)
        return self.wall.within(LIMIT) and is_memory_kept


def comparisons(before: Side, after: Side) -> list[Comparison]:
    """Return the comparison of each line."""
    return [
        _comparison(candidate.name, before, after, place)
        for place, candidate in enumerate(before.candidates)
    ]


def _comparison(name: str, before: Side, after: Side, place: int) -> Comparison:
    one, other = before.runs[place], after.runs[place]
    peaks = before.peaks[place], after.peaks[place]
    return Comparison(
        name,
        (
            median(run.seconds for run in one),
            median(run.seconds for run in other),
        ),
        median_ratio([run.seconds for run in one], [run.seconds for run in other]),
        median_ratio(
            [run.user + run.system for run in one],
            [run.user + run.system for run in other],
        ),
        (median(peaks[0]), median(peaks[1])) if peaks[0] else None,
        median_ratio(*peaks) if peaks[0] else None,
    )


def results_table(found: Sequence[Comparison]) -> str:
    """Return a Markdown table with a row for each line."""
    heads = ["line", "before, s", "after, s", "wall time", "processor time"]
    heads += ["before, MB", "after, MB", "memory", "verdict"]
    return table(
        heads,
        [
            [
                comparison.name,
                *(f"{seconds:.3f}" for seconds in comparison.seconds),
                _ratio_text(comparison.wall),
                _ratio_text(comparison.processor),
                *(
                    (f"{peak / MEGABYTE:.1f}" for peak in comparison.peaks)
                    if comparison.peaks
                    else ("unknown", "unknown")
                ),
                _ratio_text(comparison.memory) if comparison.memory else "unknown",
                "kept" if comparison.is_kept else "**grew**",
            ]
            for comparison in found
        ],
    )


def _ratio_text(ratio: MedianRatio) -> str:
    return f"{ratio.median:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


def document(found: Sequence[Comparison], pairs: int, memory_pairs: int) -> str:
    """Return the results as a Markdown page."""
    return DOCUMENT.format(
        confidence=found[0].wall.confidence,
        pairs=pairs,
        limit=LIMIT,
        results=results_table(found),
        memory_pairs=memory_pairs,
        circumstances=circumstances(
            "python benchmarks/compare_versions.py BEFORE_PYTHON AFTER_PYTHON"
        ),
    )


def arguments_of(given: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("before", metavar="BEFORE_PYTHON", help="the interpreter of the old version")
    add("after", metavar="AFTER_PYTHON", help="the interpreter of the new version")
    add("--pairs", type=int, default=15, help="paired runs of each line")
    add("--memory-pairs", type=int, default=2, help="paired runs for the memory")
    add(
        "--minutes",
        type=float,
        default=20.0,
        help="end after so many, with fewer pairs",
    )
    add("--scale", type=float, default=1.0, help="multiplies the rows of all files")
    add("--only", metavar="TEXT", help="only lines whose name contains TEXT")
    add("--folder", type=Path, help="where generated files are kept")
    add("--output", type=Path, help="a file for the page, not only standard output")
    arguments = parser.parse_args(given)
    if arguments.pairs < 1 or arguments.memory_pairs < 0:
        parser.error("at least one pair is needed")
    if arguments.scale <= 0 or arguments.minutes <= 0:
        parser.error("--scale and --minutes must be above 0")
    return arguments


def main() -> int:
    """Measure, print the page, and return the exit code."""
    arguments = arguments_of()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = arguments.folder or Path(temporary)
        log("generating files")
        lines = [
            line
            for line in lines_in(folder, arguments.scale)
            if not arguments.only or arguments.only in line.name
        ]
        if not lines:
            raise SystemExit(f"no line contains {arguments.only!r}")
        before = side_of("before", arguments.before, lines)
        after = side_of("after", arguments.after, lines)
        begin = time.monotonic()
        log(f"running each of {len(lines)} lines once")
        prove((before, after), lines)
        left = arguments.minutes * 60 - (time.monotonic() - begin)
        measure((before, after), arguments.pairs, arguments.memory_pairs, left)
    found = comparisons(before, after)
    page = document(found, len(before.runs[0]), len(before.peaks[0]))
    print(page)
    if arguments.output is not None:
        arguments.output.write_text(page, encoding="utf-8")
    return int(not all(comparison.is_kept for comparison in found))


if __name__ == "__main__":
    sys.exit(main())
