"""Compare `harpia-formats convert` with straightforward scripts: time and memory.

The scripts do the same work on the rows by hand: read a line, build the rows, write
them. Before the measurement it is proved that all write the same rows.
"""

import argparse
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.candidates import OURS, ROOT
from harness.conversion_pairs import (
    PAIRS,
    PLAIN,
    PROVEN,
    QUICK,
    SERIAL,
    Pair,
    candidates_on,
    generated,
    rows_in,
)
from harness.measure import INTERVAL, Measurement, compare
from report.tables import MEGABYTE, ratio, ratios_table, table, times_table

MARKDOWN = """\
# Benchmark of `harpia-formats convert`

Written by `benchmarks/convert.py`, on generated files of {count:,} records. Ratios are
medians over medians: below 1, ours took less time. What a ratio is on another machine,
only a run there can tell.

## Ratios

{ratios}

{pairs}

## Floors

{floors}

## What was measured

- Ours runs with two workers and all other defaults: it recognises the format, checks
  every record against its schema, looks for duplicate keys, counts what becomes of
  each field and says so in a table, and puts the output into its place only once all
  of the input was read. The scripts do none of this.
- Each script is one loop in one process: a line is decoded, the rows are built as
  dicts by hand, and each is encoded and written. `json` is that of Python, with
  `ensure_ascii=False`.
- One worker and both scripts were seen to write the same rows as two workers, compared
  as JSON, for the first {proven:,} records.
- A record takes {sizes}.
  A conversation of EvalEval becomes its prompt and its last answer, a row of Tencent
  one row for each answer, and a row of NeMo gets the number of its record for
  an id.
- Wall time is from the start of a process to its end. Runs of each command, by
  turns: {runs}. Output is a new file: that of the run before is removed first. What is
  read was read once just before, and each command was run just before on {proven:,}
  records, so that data and programs come from memory.
- Memory comes from a run of its own: the peak of the sum of the proportional set
  sizes of the process and its descendants, looked at every {interval:.0f} ms.
- Seconds are those of this machine: {system}, {cores} cores, Python {python},
  {versions}. At the end its load average
  over five minutes was {load}: the more else it had to do, the less the numbers tell.

To repeat it: `python benchmarks/convert.py --rows {count} --runs {runs}`
"""
PACKAGES = ("harpia-formats", "msgspec", "orjson")


Results = Mapping[str, Mapping[str, Measurement]]


@dataclass(frozen=True, slots=True)
class Floor:
    """A limit that no pair may exceed."""

    what: str
    limit: float
    measured: Callable[[Mapping[str, Measurement]], float]


def most_memory(measurements: Mapping[str, Measurement]) -> float:
    """Return our peak memory in megabytes, infinity if it was not measured."""
    peak = measurements[OURS].peak
    return float("inf") if peak is None else peak / MEGABYTE


FLOORS = (
    Floor(
        f"wall time: ours / {SERIAL}", 1 / 1.7, lambda of: ratio(of[OURS], of[SERIAL])
    ),
    Floor(f"wall time: ours / {PLAIN}", 1 / 3, lambda of: ratio(of[OURS], of[PLAIN])),
    Floor(f"wall time: ours / {QUICK}", 1, lambda of: ratio(of[OURS], of[QUICK])),
    Floor("peak memory of ours, MB", 200, most_memory),
)


def missed(results: Results) -> list[tuple[str, Floor]]:
    """Return the limits that are not met, with their pairs."""
    return [
        (name, floor)
        for name, measurements in results.items()
        for floor in FLOORS
        if not floor.measured(measurements) <= floor.limit
    ]


def floors_table(results: Results) -> str:
    """Return a table of the limits with the measured values."""
    rows = [
        [
            f"{name}, {floor.what}",
            f"{floor.limit:.3g}",
            f"{floor.measured(measurements):.2f}",
            "no" if (name, floor) in missed(results) else "yes",
        ]
        for name, measurements in results.items()
        for floor in FLOORS
    ]
    return table(["floor", "at most", "measured", "met"], rows)


def prove(pair: Pair, folder: Path) -> None:
    """Prove that all candidates write the same rows; raises `SystemExit` otherwise."""
    found = candidates_on(generated(pair, PROVEN, folder), pair, folder)
    outputs = []
    for candidate in found:
        candidate.begin()
        subprocess.run(candidate.command, check=True, capture_output=True)
        assert candidate.output is not None  # noqa: S101 - all of these write a file
        outputs.append(rows_in(candidate.output))
    ours, *others = outputs
    for candidate, other in zip(found[1:], others, strict=True):
        pairs = enumerate(zip(ours, other, strict=False))
        wrong = next((place for place, (a, b) in pairs if a != b), None)
        if wrong is not None or len(ours) != len(other):
            where = len(ours) if wrong is None else wrong
            raise SystemExit(f"{pair.name}: {candidate.name} differs at row {where}")


def measured(count: int, folder: Path, runs: int) -> dict[str, dict[str, Measurement]]:
    """Return measurements of every pair, with generated files in `folder`.

    Raises `SystemExit` if the outputs differ, and `UnexpectedExitError`.
    """
    results = {}
    for pair in PAIRS:
        _say(f"seeing that all write the same: {pair.name}")
        prove(pair, folder)
        _say(f"measuring {count:,} records: {pair.name}")
        path = generated(pair, count, folder)
        results[pair.name] = compare(candidates_on(path, pair, folder), runs)
    return results


def sizes_of(count: int, folder: Path) -> str:
    """Return the mean sizes of the records of all pairs, in words."""
    sizes = [
        f"{generated(pair, count, folder).stat().st_size / count / 1000:.1f} kB"
        f" ({pair.source})"
        for pair in PAIRS
    ]
    return f"{', '.join(sizes[:-1])} and {sizes[-1]}"


def load() -> str:
    """Return the load average over five minutes, if it is known."""
    return f"{os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def document(results: Results, count: int, runs: int, sizes: str) -> str:
    """Return the results as Markdown."""
    tables = [f"## {name}\n\n{times_table(group)}" for name, group in results.items()]
    return MARKDOWN.format(
        count=count,
        ratios=ratios_table(results, (OURS,)),
        pairs="\n\n".join(tables),
        floors=floors_table(results),
        proven=PROVEN,
        sizes=sizes,
        runs=runs,
        interval=INTERVAL * 1000,
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count(),
        python=platform.python_version(),
        load=load(),
        versions=", ".join(
            f"{package} {importlib.metadata.version(package)}" for package in PACKAGES
        ),
    )


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def arguments_of(given: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where generated files are kept")
    output = ROOT / "docs" / "benchmarks" / "convert-benchmark.md"
    parser.add_argument("--output", type=Path, default=output)
    parser.add_argument("--check", action="store_true", help="exit with 1 for a floor")
    arguments = parser.parse_args(given)
    if arguments.rows < 1 or arguments.runs < 1:
        parser.error("at least one row and one run are needed")
    return arguments


def main() -> int:
    """Measure, write the tables, and return the exit code."""
    arguments = arguments_of()
    with tempfile.TemporaryDirectory() as fleeting:
        folder: Path = arguments.folder or Path(fleeting)
        folder.mkdir(parents=True, exist_ok=True)
        results = measured(arguments.rows, folder, arguments.runs)
        sizes = sizes_of(arguments.rows, folder)
    text = document(results, arguments.rows, arguments.runs, sizes)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    return int(arguments.check and bool(missed(results)))


if __name__ == "__main__":
    sys.exit(main())
