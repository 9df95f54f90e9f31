"""Compare the repair of a file with its validation, and measure its memory.

    python benchmarks/fix.py [--pairs N] [--rows N] [--jobs N] [--memory MEGABYTES]
        [--output PAGE]

In a hundredth of the rows there is a null that is not allowed, a misspelt key or a
number in quotes. The same rows are validated, and repaired into another file, in
paired runs. Prints the median ratios of the times, repair to validation, with their
intervals, and the peaks of the memory for that file and for one of so many megabytes.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from data.generate import SEED, Value, row_of
from harness.measure import Candidate, Run, peak_of, run_of
from harness.paired import median_ratio
from report.pages import circumstances, command_given
from report.tables import MEGABYTE, table

#: One row in so many is wrong.
EACH = 100
#: Repaired processor time to that of a validation, at most.
LIMIT = 2.0
VALIDATED = "`validate`"
REPAIRED = "`validate --fix --output FILE`"
AGAIN = "`validate` of the repaired file"
TIMES = """\
{rows:,} rows of EvalEval 0.2.0, {size:.0f} MB, `--jobs {jobs}`:

{times}

Medians of {pairs} paired runs, with the interval in which the true median is with a
probability of 95 %; the limit of processor time (user and system, of all processes) is
{limit:g}:

{ratios}"""
DOCUMENT = """\
# Repairs

Written by `benchmarks/fix.py`, which repairs a file in which one row in a hundred has a
null that is not allowed, a misspelt key or a number in quotes, and compares it with the
validation of the same file. A repair finds and makes the changes, copies the file, and
validates the copy.

{times}

{peaks}

Memory is the peak of the sum of the proportional set sizes of all processes.

{circumstances}
"""


def wrong(number: int, row: Value) -> Value:
    """Return a row with one of three faults that are safe to repair."""
    kind = number // EACH % 3
    if kind == 0:
        row["input"]["formatted"] = None
    elif kind == 1:
        row["evaluation_nmae"] = row.pop("evaluation_name")
    else:
        usage = row["token_usage"]
        usage["total_tokens"] = str(usage["total_tokens"])
    return row


def rows(count: int) -> Iterator[str]:
    """Yield so many rows, a hundredth of them wrong."""
    chance = random.Random(SEED)
    for number in range(count):
        row = row_of(number, chance)
        if number % EACH == EACH // 2:
            row = wrong(number, row)
        yield json.dumps(row) + "\n"


def candidates(
    path: Path, output: Path, jobs: int
) -> tuple[Candidate, Candidate, Candidate]:
    """Return the commands that validate a file, repair it, and validate the result."""
    program = (sys.executable, "-m", "harpia_formats", "validate", "--quiet")
    ours = (*program, "--jobs", str(jobs), "--examples", "1")
    fix = (*ours, "--fix", str(path), "--output", str(output), "--overwrite")
    return (
        Candidate("validate", (*ours, str(path)), expected=1, source=path),
        Candidate("fix", fix, source=path),
        Candidate("validate the result", (*ours, str(output)), source=output),
    )


def processor(runs: list[Run]) -> list[float]:
    """Return the processor seconds of some runs."""
    return [run.user + run.system for run in runs]


def compare(pairs: int, count: int, jobs: int, folder: Path) -> tuple[str, bool]:
    """Measure the times; return the text, and whether the ratio is in its limit."""
    path, output = folder / "rows.jsonl", folder / "fixed.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(rows(count))
    before, after, result = candidates(path, output, jobs)
    run_of(after)
    measured: list[tuple[Run, Run, Run]] = [
        (run_of(before), run_of(after), run_of(result)) for _ in range(pairs)
    ]
    first, second, third = ([runs[i] for runs in measured] for i in range(3))
    processors = median_ratio(processor(first), processor(second))
    wall = median_ratio([run.seconds for run in first], [run.seconds for run in second])
    named = ((VALIDATED, first), (REPAIRED, second), (AGAIN, third))
    text = TIMES.format(
        rows=count,
        size=path.stat().st_size / 1e6,
        jobs=jobs,
        pairs=pairs,
        times=table(
            ["command", "processor, s"],
            [
                [name, f"{statistics.median(processor(runs)):.2f}"]
                for name, runs in named
            ],
        ),
        ratios=table(
            ["repair / validation", "median", "interval"],
            [
                [name, f"{each.median:.2f}", f"{each.low:.2f} to {each.high:.2f}"]
                for name, each in (("processor time", processors), ("wall time", wall))
            ],
        ),
        limit=LIMIT,
    )
    return text, processors.within(LIMIT)


def memory(megabytes: float, jobs: int, folder: Path) -> str:
    """Return a table of the peak memory of two files, one of them larger."""
    path, output = folder / "rows.jsonl", folder / "fixed.jsonl"
    text = path.read_bytes()
    peaks = []
    for factor in (1, max(2, round(megabytes * 1e6 / len(text)))):
        with path.open("wb") as file:
            for _ in range(factor):
                file.write(text)
        # The ids are repeated; that is not what is measured.
        fix = candidates(path, output, jobs)[1]
        command = Candidate(fix.name, (*fix.command, "--ignore", "X101"))
        peak = peak_of(command) / MEGABYTE
        peaks.append([f"{path.stat().st_size / 1e6:.0f}", f"{peak:.0f}"])
    return table([f"repaired with --jobs {jobs}, MB", "peak memory, MB"], peaks)


def main() -> None:
    """Print or write the page; exit with 1 if the ratio is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--memory", type=float, default=500.0)
    parser.add_argument("--output", type=Path, help="the page; printed if not given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        times, is_within = compare(given.pairs, given.rows, given.jobs, Path(name))
        peaks = memory(given.memory, max(2, given.jobs), Path(name))
    page = DOCUMENT.format(
        times=times, peaks=peaks, circumstances=circumstances(command_given())
    )
    if given.output:
        given.output.write_text(page, encoding="utf-8")
    else:
        print(page)
    raise SystemExit(0 if is_within else 1)


if __name__ == "__main__":
    main()
