"""Compare `harpia-formats validate --lint` with `validate`: processor and wall time.

    python benchmarks/lint.py [--rows N] [--runs N] [--texts TEXT ...]
        [--formats FORMAT ...] [--output PAGE] [--check]

Both run interleaved on the same files: rows of every record format in which lints find
nothing, so that what is measured is looking for faults; and rows that come again and
again with new ids, as from repeated runs, in which there are many near duplicates. With
`--check` it ends with 1 if lint takes more than its limit in any cell.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from data.samples import REPEATS, TEXTS, TIMES, samples, tidy
from data.source_files import FORMATS, TOOL_ROWS, suffix_of, write_rows
from harness.candidates import script
from harness.measure import Candidate, Measurement, compare
from report.pages import circumstances, command_given
from report.pair_tables import MEMORY_LIMIT
from report.tables import MEGABYTE, table

#: The limit of the processor time with lints divided by that without.
LIMIT = 4.0
DEFAULT, LINT = "validate", "validate --lint"
#: The formats.
MEASURED = (*FORMATS, *TOOL_ROWS)
DOCUMENT = """\
# Benchmark of `harpia-formats validate --lint`

Written by `benchmarks/lint.py`: {records:,} rows of each format, of about 1.5 kB, in
which lints find nothing but what the last column names: the rule, and how often in a
row. In the rows named "{repeats}", each English sample comes {times} times with another
id, as when a benchmark is run again and again. A ratio is the time with `--lint`
divided by that without, one process each (`--jobs 1`), medians of {runs} interleaved
runs. The worst ratio of processor times is {worst:.2f}; the limit is {limit:g}.

{cells}

Memory is the peak of the sum of the proportional set sizes, with `--lint`.

{circumstances}
"""


def file_of(format_: str, kind: str, count: int, folder: Path) -> Path:
    """Write a file of so many rows of a format, and return it."""
    path = folder / f"{format_}-{kind.replace(' ', '-')}{suffix_of(format_)}"
    write_rows(path, format_, kind, tidy(samples(kind, count)))
    return path


def measured(path: Path, format_: str, runs: int) -> dict[str, Measurement]:
    """Measure runs with and without lints."""
    program = script("harpia-formats")
    options = ("-q", "--jobs", "1", "--format", format_)
    command = (program, "validate", str(path), *options)
    candidates = [Candidate(DEFAULT, command), Candidate(LINT, (*command, "--lint"))]
    return compare(candidates, runs)


def findings_in(path: Path, format_: str, count: int) -> str:
    """Return the rules that lints find broken in a file, and how often in a row."""
    command = [script("harpia-formats"), "validate", str(path), "--lint"]
    command += ["--format", format_, "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, check=False)
    found: dict[str, int] = {}
    for group in json.loads(done.stdout)["groups"]:
        found[group["code"]] = found.get(group["code"], 0) + group["count"]
    return ", ".join(f"{code} {number / count:.2f}" for code, number in found.items())


def processor_time(measurement: Measurement) -> float:
    """Return the median of the user and system seconds of the runs."""
    runs = zip(measurement.user, measurement.system, strict=True)
    return statistics.median(map(sum, runs))


def main() -> int:
    """Measure all cells, print them, write the page, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--texts", nargs="+", default=list(TEXTS), choices=TEXTS)
    parser.add_argument(
        "--formats", nargs="+", default=list(MEASURED), choices=MEASURED
    )
    parser.add_argument("--output", type=Path, help="the page that is written")
    parser.add_argument("--check", action="store_true", help="fail beyond the limit")
    options = parser.parse_args()
    rows, worst, peak = [], 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for format_ in options.formats:
            for text in options.texts:
                path = file_of(format_, text, options.rows, Path(folder))
                found = measured(path, format_, options.runs)
                default, lint = found[DEFAULT], found[LINT]
                ratio = processor_time(lint) / processor_time(default)
                worst, peak = max(worst, ratio), max(peak, lint.peak or 0)
                cells = [
                    f"{format_}, {text}",
                    f"{processor_time(default):.2f}",
                    f"{processor_time(lint):.2f}",
                    f"{ratio:.2f}",
                    f"{lint.median / default.median:.2f}",
                    f"{(lint.peak or 0) / MEGABYTE:.0f}",
                    findings_in(path, format_, options.rows) or "none",
                ]
                print(*cells, sep="\t", flush=True)
                rows.append(cells)
                path.unlink()
    heads = [
        "rows",
        "processor, s",
        "with lint, s",
        "ratio",
        "wall ratio",
        "MB",
        "found",
    ]
    page = DOCUMENT.format(
        records=options.rows,
        runs=options.runs,
        worst=worst,
        limit=LIMIT,
        repeats=REPEATS,
        times=TIMES,
        cells=table(heads, rows),
        circumstances=circumstances(command_given()),
    )
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    print(f"worst ratio {worst:.2f}, limit {LIMIT:g}")
    return int(
        options.check and not (worst <= LIMIT and peak <= MEMORY_LIMIT * MEGABYTE)
    )


if __name__ == "__main__":
    sys.exit(main())
