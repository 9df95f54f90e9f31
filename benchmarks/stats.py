"""Compare `harpia-formats stats` with a script that counts the same lengths.

The script only decodes rows with orjson and counts lengths. Before the measurement it
is proved that both count the same characters and bytes; words differ where scripts have
no spaces, in which each character is a word of ours.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

from data import generate, generate_rows
from data.files import Rows, generated_file
from harness.bars import Bar, bars_table, number
from harness.candidates import PEERS, script
from harness.measure import Candidate, Measurement, compare
from report.tables import ratio, times_table

import harpia_formats

OURS, ALONE, SCRIPT = "ours, two processes", "ours, one process", "script"
#: The generators of rows by the format that they are in.
ROWS: dict[str, Rows] = {
    "nemo-output": partial(generate_rows.rows, "nemo-output"),
    "eee@0.2.0": generate.rows,
}
#: Rows on which the lengths are compared.
PROVEN = 500
#: Bytes of memory of the whole process tree.
MOST_MEMORY = 200_000_000


def plain(format_: str, path: Path) -> tuple[str, ...]:
    """Return the command of the script."""
    return (sys.executable, str(PEERS / "orjson_lengths.py"), format_, str(path))


def ours(path: Path, jobs: int) -> tuple[str, ...]:
    """Return our command."""
    return (script("harpia-formats"), "stats", str(path), "--jobs", str(jobs))


def prove(format_: str, folder: Path) -> None:
    """Prove that both count the same lengths; raises `SystemExit` otherwise."""
    path = generated_file(folder / f"{PROVEN}-{format_}.jsonl", ROWS[format_], PROVEN)
    expected = json.loads(subprocess.check_output(plain(format_, path)))
    found = harpia_formats.stats(path).lengths
    for name, (characters, _, size) in expected.items():
        mine = found[name]["characters"]["sum"], found[name]["bytes"]["sum"]
        if mine != (characters, size):
            raise SystemExit(f"{format_}, {name}: ours are {mine}")


def measured(
    format_: str, folder: Path, rows: int, runs: int
) -> Mapping[str, Measurement]:
    """Return the measurements of all commands on so many rows of a format."""
    path = generated_file(folder / f"{rows}-{format_}.jsonl", ROWS[format_], rows)
    return compare(
        [
            Candidate(OURS, ours(path, 2)),
            Candidate(ALONE, ours(path, 1)),
            Candidate(SCRIPT, plain(format_, path)),
        ],
        runs,
    )


def bars_of(results: Mapping[str, Mapping[str, Measurement]]) -> list[Bar]:
    """Return the limits with their measured values."""
    bars = []
    for format_, found in results.items():
        figure = ratio(found[OURS], found[SCRIPT])
        bars.append(Bar(f"{format_}: {OURS} / {SCRIPT}", 1.0, figure))
        peak = max(found[name].peak or MOST_MEMORY + 1 for name in (OURS, ALONE))
        bars.append(Bar(f"{format_}: peak memory, bytes", MOST_MEMORY, peak))
    return bars


def processor_time(found: Mapping[str, Measurement]) -> float:
    """Return the processor time of ours with two processes, by that of the script.

    Half of it is the ratio of wall times on two cores that nothing else uses.
    """
    mine, other = (
        median(used.user) + median(used.system) for used in (found[OURS], found[SCRIPT])
    )
    return mine / other


def main() -> int:
    """Measure, print the tables, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where generated files are kept")
    parser.add_argument("--check", action="store_true", help="exit with 1 for a limit")
    arguments = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as fleeting:
        folder: Path = arguments.folder or Path(fleeting)
        for format_ in ROWS:
            prove(format_, folder)
            results[format_] = measured(format_, folder, arguments.rows, arguments.runs)
    bars = bars_of(results)
    for format_, found in results.items():
        print(f"{format_}\n\n{times_table(found)}\n")
        print(f"processor time, {OURS} / {SCRIPT}: {number(processor_time(found))}\n")
    print(bars_table(bars))
    return int(arguments.check and not all(bar.met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
