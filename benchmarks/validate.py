"""Compare `harpia-formats validate` with its peers: wall time, memory and start-up.

Everything is run by turns on generated files, so that the noise of the machine
meets all alike, and the ratios of medians are what counts.
"""

import argparse
import importlib.metadata
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from candidates import (
    CLEAN,
    EMPTY,
    OURS,
    OURS_LESS,
    ROOT,
    SAMPLE_ROWS,
    SOURCEMETA,
    bad_candidates,
    candidates_on,
    generated,
    prove_candidates,
    start_up_candidates,
)
from measure import INTERVAL, Measurement, compare
from tables import MEGABYTE, ratio, ratios_table, table, times_table

#: One in a hundred rows is bad in one file, so fewer rows might hold none.
FEWEST_ROWS = 1000
START_UP_RUNS = 15
PACKAGES = (
    "harpia-formats",
    "msgspec",
    "typer",
    "rich",
    "sourcemeta-jsonschema",
    "orjson",
    "jsonschema-rs",
    "jsonschema",
)
DOCUMENT = """\
# Benchmark of `harpia-formats validate`

Written by `benchmarks/validate.py`, on files of generated `eee@0.2.0` records of
{mean:.1f} kB each. Ratios are medians over medians: below 1, ours took less time.
What a ratio is on another machine, only a run there can tell.

## Ratios

{ratios}

{start_up_ratio:.2f} is the time for one record over that of a typer program that
does nothing.

{sizes}

## Start-up, one record

{start_up}

## Bad rows, {fewest:,} rows

{bad}

## Floors

{floors}

## What was measured

- Ours runs with all defaults: it also looks for duplicate keys, which the peers do
  not, and says where and why a row is bad. With `--ignore duplicate-key` it checks
  what the peers check.
- `sourcemeta jsonschema --fast` is the binary itself, without its Python launcher.
  `orjson + jsonschema-rs` and `orjson alone` are one process each that loops over
  the lines. `jsonschema` was run on the first {sample:,} rows, and its time, less
  that for one row, multiplied.
- Each command was seen to accept a good record and to refuse a bad one.
- Wall time is from the start of a process to its end. Runs of each command, by
  turns: {runs}, for start-up {start_up_runs}. Output is thrown away, and the file is
  in the page cache as far as it fits.
- Memory comes from a run of its own: the peak of the sum of the proportional set
  sizes of the process and its descendants, looked at every {interval:.0f} ms. Pages
  shared with other processes, such as those of the interpreter, count in part.
- {system}, {cores} cores, Python {python}, {versions}.

To repeat it: `python benchmarks/validate.py --rows {counts} --runs {runs}`
"""

Measurements = Mapping[str, Measurement]


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured."""

    #: By number of rows, then by name.
    sizes: Mapping[int, Measurements]
    start_up: Measurements
    bad: Measurements

    @property
    def largest(self) -> Measurements:
        """What was measured on the file with the most rows."""
        return self.sizes[max(self.sizes)]


@dataclass(frozen=True, slots=True)
class Floor:
    """A number that must not be exceeded."""

    what: str
    limit: float
    measured: Callable[[Results], float]


def wall_ratio(results: Results) -> float:
    """Return our time over sourcemeta's on the largest file."""
    return ratio(results.largest[OURS], results.largest[SOURCEMETA])


def most_memory(results: Results) -> float:
    """Return our peak memory in megabytes on any size, endless if not measured."""
    ours = [each[name] for each in results.sizes.values() for name in (OURS, OURS_LESS)]
    peaks = [each.peak for each in ours if each.peak is not None]
    return max(peaks) / MEGABYTE if len(peaks) == len(ours) else float("inf")


def start_up_ratio(results: Results) -> float:
    """Return our time for one record over that of an empty program."""
    return ratio(results.start_up[OURS], results.start_up[EMPTY])


FLOORS = (
    Floor("wall time, largest file: ours / sourcemeta", 0.5, wall_ratio),
    Floor("peak memory of ours, any size, MB", 150, most_memory),
    Floor("one record: ours / empty typer program", 1.8, start_up_ratio),
)


def floors_table(results: Results) -> str:
    """Return what was measured of each floor, and whether it was met."""
    rows = []
    for each in FLOORS:
        value = each.measured(results)
        verdict = "yes" if value <= each.limit else "no"
        rows.append([each.what, f"{each.limit:g}", f"{value:.2f}", verdict])
    return table(["floor", "at most", "measured", "met"], rows)


def document(results: Results, mean: float, runs: int) -> str:
    """Return the results as Markdown; `mean` is the size of a row in bytes."""
    groups = {f"{count:,} rows": each for count, each in results.sizes.items()}
    sizes = [f"## {name}\n\n{times_table(each)}" for name, each in groups.items()]
    return DOCUMENT.format(
        mean=mean / 1000,
        ratios=ratios_table(groups, (OURS, OURS_LESS)),
        start_up_ratio=start_up_ratio(results),
        sizes="\n\n".join(sizes),
        start_up=times_table(results.start_up, unit="ms", base=EMPTY),
        fewest=min(results.sizes),
        bad=times_table(results.bad, base=CLEAN),
        floors=floors_table(results),
        sample=SAMPLE_ROWS,
        runs=runs,
        start_up_runs=max(runs, START_UP_RUNS),
        interval=INTERVAL * 1000,
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count(),
        python=platform.python_version(),
        versions=", ".join(f"{each} {_version(each)}" for each in PACKAGES),
        counts=" ".join(map(str, results.sizes)),
    )


def _version(package: str) -> str:
    return importlib.metadata.version(package)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def arguments_of(given: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 500_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where generated files are kept")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmark.md")
    parser.add_argument("--check", action="store_true", help="exit with 1 for a floor")
    arguments = parser.parse_args(given)
    if min(arguments.rows) < FEWEST_ROWS or arguments.runs < 1:
        parser.error(f"at least {FEWEST_ROWS:,} rows and one run are needed")
    return arguments


def measured(counts: list[int], folder: Path, runs: int) -> Results:
    """Measure everything, with generated files in `folder`.

    Raises `UnexpectedExit`.
    """
    _say("seeing that all commands accept and refuse")
    prove_candidates(folder)
    sizes = {}
    for each in sorted(counts):
        _say(f"measuring {each:,} good rows")
        sizes[each] = compare(candidates_on(each, folder), runs)
    _say("measuring start-up")
    start_up = compare(start_up_candidates(folder), max(runs, START_UP_RUNS))
    _say(f"measuring bad rows among {min(counts):,}")
    bad = compare(bad_candidates(min(counts), folder), runs)
    return Results(sizes, start_up, bad)


def main() -> int:
    """Measure, write the tables, and return the exit code."""
    arguments = arguments_of()
    with tempfile.TemporaryDirectory() as fleeting:
        folder = arguments.folder or Path(fleeting)
        results = measured(arguments.rows, folder, arguments.runs)
        count = min(arguments.rows)
        mean = generated(folder, count).stat().st_size / count
    text = document(results, mean, arguments.runs)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    missed = [each for each in FLOORS if not each.measured(results) <= each.limit]
    return int(arguments.check and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
