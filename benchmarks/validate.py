"""Compare `harpia-formats validate` with its peers: wall time, memory and start-up.

All commands run interleaved on generated files, so that the noise of the machine
affects them equally, and ratios of medians are compared. Ends with 1 if a limit is not
met.
"""

import argparse
import shlex
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from harness import cost_growth as series
from harness import masses
from harness import memory_growth as joined_lines
from harness.bars import Bar, bars_table
from harness.candidates import (
    CLEAN,
    EMPTY,
    EVERY,
    OURS,
    OURS_ALONE,
    OURS_LESS,
    SAMPLE_ROWS,
    SOURCEMETA,
)
from harness.candidates import generated as generated_file
from harness.measure import INTERVAL
from harness.validation_runs import NO_EVERY, START_UP_RUNS, Results, bars_of, measured
from report.pages import PAGE, circumstances, replace_part
from report.tables import ratios_table, times_table

#: The least rows: in one file 1 % of rows are bad, and fewer might have none.
FEWEST_ROWS = 1000
PEER = """\
Of the {seconds:.1f} s of sourcemeta's on the largest file, {program:.1f} s are its own
code and {system:.1f} s the system's, mostly to give it memory for the whole file: a
machine that does that faster comes to other ratios."""
DOCUMENT = """\
## What it must reach

{bars}

Rows are generated `eee@0.2.0` records of {mean:.1f} kB each. The tables below hold the
seconds and the memory of each line.

{peer}

## Ratios

{ratios}

{sizes}

## EvalEval's own validator, {most:,} rows of 0.3.0

{every}

## Bad rows

One in a hundred, {most:,} rows:

{some_bad}

{all_bad}

## Start-up, one record

{start_up}

## What was measured

- Ours runs with all defaults: it also looks for repeated keys, which the peers but
  `every_eval_ever` do not, and says where and why a row is bad. With `--ignore
  duplicate-key` it checks what the peers check, and with `--jobs 1` in one process.
- `sourcemeta jsonschema --fast` is the binary itself, without its Python launcher.
  `orjson + jsonschema-rs` and `orjson alone` are one process each that loops over
  the lines. `jsonschema` was run on the first {sample:,} rows, and its time, less
  that for one row, multiplied. `every_eval_ever validate` also compares the ids and the
  number of rows with the aggregate of the samples, as ours does `--with` it; it
  coerces what the schema refuses.
- Each command was seen to accept a good record and to refuse a bad one.
- Wall time is from the start of a process to its end. Runs of each command, by
  turns: {runs}, for start-up {start_up_runs}. Output is thrown away, and the file is
  in the page cache as far as it fits.
- `program` and `system` are seconds of processors, of all processes of a command: in
  its own code, and in the system for it. A command that keeps a file in memory waits
  for the system to give it that memory, and how long differs much from run to run and
  from machine to machine; where `system` is large, so is the doubt about the ratio.
- Memory comes from a run of its own: the peak of the sum of the proportional set
  sizes of the process and its descendants, looked at every {interval:.0f} ms. Pages
  shared with other processes, such as those of the interpreter, count in part.
{circumstances}
"""


def document(results: Results, mean: float, runs: int, command: str) -> str:
    """Return the results as Markdown; `mean` is the mean size of a row in bytes."""
    groups = {
        f"{count:,} rows": measurements for count, measurements in results.sizes.items()
    }
    sizes = [
        f"## {name}\n\n{times_table(measurements)}"
        for name, measurements in groups.items()
    ]
    all_bad = [
        f"Every row, {results.fewest:,} of them, {fault}:\n\n{times_table(found)}"
        for fault, found in results.all_bad.items()
    ]
    every = times_table(results.every, base=EVERY) if results.every else NO_EVERY
    return DOCUMENT.format(
        bars=bars_table(bars_of(results)),
        mean=mean / 1000,
        peer=peer_text(results),
        ratios=ratios_table(groups, (OURS, OURS_LESS, OURS_ALONE)),
        sizes="\n\n".join(sizes),
        most=results.most,
        every=every,
        some_bad=times_table(results.some_bad, base=CLEAN),
        all_bad="\n\n".join(all_bad),
        start_up=times_table(results.start_up, unit="ms", base=EMPTY),
        sample=SAMPLE_ROWS,
        runs=runs,
        start_up_runs=max(runs, START_UP_RUNS),
        interval=INTERVAL * 1000,
        circumstances=circumstances(command),
    )


def peer_text(results: Results) -> str:
    """Return a sentence on the processor times of sourcemeta on the largest file."""
    peer = results.sizes[results.most][SOURCEMETA]
    program, system = (statistics.median(times) for times in (peer.user, peer.system))
    return PEER.format(seconds=peer.median, program=program, system=system)


def bars_part(arguments: argparse.Namespace, folder: Path) -> tuple[str, list[Bar]]:
    """Measure the values of all limits; return the text and the limits."""
    counts, runs = arguments.rows, arguments.runs
    results = measured(counts, folder, runs, arguments.every_eval_ever)
    count = results.fewest
    mean = generated_file(folder, count).stat().st_size / count
    text = document(results, mean, runs, command_of(arguments))
    return text, bars_of(results)


def series_part(arguments: argparse.Namespace, folder: Path) -> tuple[str, list[Bar]]:
    """Measure time and memory by rows, draw the picture, and return the text."""
    picture = arguments.output.with_suffix(".svg")
    text = series.text(
        arguments.series_rows, folder, arguments.runs, picture, command_of(arguments)
    )
    return text, []


def memory_part(arguments: argparse.Namespace, folder: Path) -> tuple[str, list[Bar]]:
    """Measure the memory for growing files; return the text and the limits."""
    return joined_lines.text(arguments.gigabytes, folder, command_of(arguments))


def masses_part(arguments: argparse.Namespace, folder: Path) -> tuple[str, list[Bar]]:
    """Measure wrong rows and many small files; return the text and the limits."""
    counts = (min(arguments.rows), arguments.files)
    return masses.text(counts, folder, arguments.runs, command_of(arguments))


PARTS: Mapping[str, Callable[[argparse.Namespace, Path], tuple[str, list[Bar]]]] = {
    "bars": bars_part,
    "series": series_part,
    "memory": memory_part,
    "masses": masses_part,
}


def command_of(arguments: argparse.Namespace) -> str:
    """Return the command line without paths of this machine."""
    return shlex.join(("python", "benchmarks/validate.py", *arguments.without_paths))


def arguments_of(given: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--bars", action="store_true", help="measure the limits; the default")
    add(
        "--series",
        action="store_true",
        help="measure time and memory by rows, and draw them",
    )
    add("--memory", action="store_true", help="measure the memory up to 10 GB")
    add(
        "--masses",
        action="store_true",
        help="measure files of wrong rows, and many small files",
    )
    add("--files", type=int, default=5000, help="how many small files")
    add("--rows", type=int, nargs="+", default=[50_000, 500_000])
    add("--series-rows", type=int, nargs="+", default=list(series.ROWS))
    add("--gigabytes", type=float, nargs="+", default=list(joined_lines.GIGABYTES))
    add("--runs", type=int, default=3)
    add("--folder", type=Path, help="where generated files are kept")
    add("--every-eval-ever", metavar="COMMAND", help="EvalEval's own validator")
    add("--output", type=Path, default=PAGE, help="the page to update")
    add(
        "--report-only",
        action="store_true",
        help="end with 0 even if a limit is not met",
    )
    arguments = parser.parse_args(given)
    if min(arguments.rows) < FEWEST_ROWS or arguments.runs < 1:
        parser.error(f"at least {FEWEST_ROWS:,} rows and one run are needed")
    arguments.parts = [part for part in PARTS if getattr(arguments, part)] or ["bars"]
    arguments.without_paths = without_paths(sys.argv[1:] if given is None else given)
    return arguments


def without_paths(given: list[str]) -> list[str]:
    """Return the arguments without those that are paths of this machine."""
    places = ("--folder", "--output", "--every-eval-ever")
    pairs = zip(["", *given], given, strict=False)
    return [
        argument
        for before, argument in pairs
        if before not in places and not argument.startswith(places)
    ]


def main() -> int:
    """Measure, write the parts of the page, and return the exit code."""
    arguments = arguments_of()
    measured_bars: list[Bar] = []
    with tempfile.TemporaryDirectory() as fleeting:
        folder: Path = arguments.folder or Path(fleeting)
        folder.mkdir(parents=True, exist_ok=True)
        for part in arguments.parts:
            text, bars = PARTS[part](arguments, folder)
            replace_part(arguments.output, part, text)
            print(text)
            measured_bars += bars
    if measured_bars:
        print(bars_table(measured_bars))
    all_met = all(bar.met for bar in measured_bars)
    return int(not all_met and not arguments.report_only)


if __name__ == "__main__":
    sys.exit(main())
