"""Measure every limit of speed on one kind of text, and print the worst cell of each.

    python benchmarks/all.py [--text KIND] [--only WORD] [--share SHARE] [--seed SEED]
        [--check]
    python benchmarks/all.py --full

The kinds of text take turns by the day if none is named. A run takes about forty
minutes on a quiet machine with two cores; `--share 0.1` measures a tenth of the rows.
Pairs of formats are drawn by the seed. With `--check` it ends with 1 if a limit is not
met. `--full` runs the benchmark of each page and writes the page, which takes hours.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from data.samples import TEXTS
from harness.bars import Bar, bars_table
from harness.candidates import ROOT
from harness.speed_lines import SPEED_LINES, Figure, Line, Measure, Run
from report.pages import log
from report.pair_tables import MEMORY_LIMIT

#: The benchmarks that write the pages of `docs/benchmarks`.
PAGES = (
    ("validate.py",),
    ("validate.py", "--series"),
    ("validate.py", "--memory"),
    ("validate.py", "--masses", "--rows", "20000", "--runs", "1", "--files", "2000"),
    ("convert.py", "--runs", "1"),
    ("convert.py", "--conversations"),
    ("lint.py", "--runs", "1", "--output", "docs/benchmarks/lint.md"),
    ("neighbours.py", "--page"),
    ("view.py", "--megabytes", "10000", "--output", "docs/benchmarks/view.md"),
    ("dependencies.py", "--write"),
    ("fix.py", "--output", "docs/benchmarks/fix.md"),
    ("containers.py", "--runs", "1", "--output", "docs/benchmarks/containers.md"),
)


def main() -> int:
    """Measure the lines, print them, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    today = datetime.now(UTC).toordinal()
    parser.add_argument("--text", choices=TEXTS, default=[*TEXTS][today % len(TEXTS)])
    parser.add_argument("--only", default="", help="lines with this word")
    parser.add_argument("--share", type=float, default=1.0, help="of the rows")
    parser.add_argument("--seed", type=int, default=today, help="draws the pairs")
    parser.add_argument("--check", action="store_true", help="fail beyond a limit")
    parser.add_argument("--full", action="store_true", help="write all pages")
    options = parser.parse_args()
    if options.full:
        return int(sum(map(_failed, PAGES)) > 0)
    lines = [line for line in SPEED_LINES if options.only in line.name]
    if not lines:
        parser.error(f"no line has {options.only} in its name")
    with tempfile.TemporaryDirectory() as folder:
        run = Run(options.text, options.share, options.seed, Path(folder))
        bars = list(bars_of(lines, run))
    print(f"{options.text}, pairs drawn by {options.seed}\n\n{bars_table(bars)}")
    return int(options.check and not all(bar.met for bar in bars))


def bars_of(lines: list[Line], run: Run) -> Iterator[Bar]:
    """Yield the limit of each line with its value, and that of the memory of all."""
    measured: dict[Measure, list[Figure]] = {}
    peaks = []
    for line in lines:
        log(f"== {line.name}")
        if line.measure not in measured:  # two lines are of the same cells
            measured[line.measure] = _figures(line.measure, run)
        figures = measured[line.measure]
        value = line.of([figure.value for figure in figures])
        # A median is that of no cell.
        cell = next((each.cell for each in figures if each.value == value), "median")
        yield Bar(f"{line.name} ({cell})", line.limit, value)
        peaks += [(each.peak, each.cell) for each in figures if each.peak is not None]
    if peaks:
        peak, cell = max(peaks)
        yield Bar(f"peak memory, MB ({cell})", MEMORY_LIMIT, peak)


def _figures(measure: Measure, run: Run) -> list[Figure]:
    """Measure the cells of a line, and print each."""
    figures = []
    for figure in measure(run):
        log(f"{figure.cell}: {figure.value:.2f}")
        figures.append(figure)
    return figures


def _failed(command: tuple[str, ...]) -> bool:
    """Run the benchmark of a page, and tell whether it failed."""
    log(f"== {' '.join(command)}")
    start = time.monotonic()
    program = [sys.executable, str(ROOT / "benchmarks" / command[0]), *command[1:]]
    done = subprocess.run(program, check=False, cwd=ROOT)
    log(f"exit code {done.returncode} after {time.monotonic() - start:.0f} s")
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
