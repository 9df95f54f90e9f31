"""The limits of speed: what each is of, and the function that measures its cells.

A cell is one file and one comparison. Ratios are of the medians of runs by turns, of
wall times unless stated otherwise; the worst cell of a line counts.
"""

import random
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from data.lm_eval_rows import KINDS as LM_EVAL_KINDS
from data.samples import samples, tidy
from data.source_files import (
    FORMATS,
    LINES,
    TOOL_ROWS,
    layout_of,
    source_file,
    suffix_of,
    write_rows,
)
from lint import findings_in, processor_time
from neighbours import measured as measured_neighbours
from report.pair_tables import MANY_LIMIT, MEDIAN_LIMIT, PAIR_LIMIT
from report.tables import MEGABYTE, ratio

from harness.candidates import PEERS, ours, script
from harness.conversion_pairs import EEE_TO_NEMO, ENGINES, QUICK
from harness.conversion_pairs import LINES as LINE_SCRIPT
from harness.every_pair import measure_cell
from harness.masses import LOOP, LOOP_ALONE, ONE, START_UP, measured_files
from harness.measure import Candidate, Measurement, compare
from harness.pair_results import TWO, Cell
from harness.two_way_commands import exit_code_of

RUNS = 3
#: The size of texts in rows of about 3.5 kB, as `samples` takes it.
LARGE = 2.5
EEE = "eee@0.2.0"
#: Pairs of formats in a run.
PAIRS = 24
OURS, PEER = "ours", "peer"


@dataclass(frozen=True)
class Run:
    """What is measured: the kind of text, the share of all rows, and which pairs."""

    text: str
    share: float
    seed: int
    folder: Path

    def rows(self, count: int) -> int:
        """Return how many rows are measured, of so many."""
        return max(int(count * self.share), 100)


@dataclass(frozen=True)
class Figure:
    """What was measured in a cell: a ratio or seconds, and the peak in megabytes."""

    cell: str
    value: float
    peak: float | None = None


#: Measures the cells of a line.
Measure = Callable[[Run], Iterator[Figure]]


@dataclass(frozen=True)
class Line:
    """A limit, the function that measures its cells, and what of them it is of."""

    name: str
    limit: float
    measure: Measure
    of: Callable[[list[float]], float] = max


def validation(run: Run) -> Iterator[Figure]:
    """Measure `validate` with all defaults, relative to a loop of `orjson.loads`."""
    yield _against_loop(run, 150_000)


def validation_alone(run: Run) -> Iterator[Figure]:
    """Measure `validate` in one process, relative to a loop of `orjson.loads`."""
    yield _against_loop(run, 150_000, "--jobs", "1")


def lint(run: Run) -> Iterator[Figure]:
    """Measure the processor time with lints of EvalEval rows, relative to without."""
    for count in (20_000, 120_000):
        yield _lint_of(run, EEE, count)


def lint_of_formats(run: Run) -> Iterator[Figure]:
    """Measure the processor time with lints of every format, relative to without."""
    for format_ in (*FORMATS, *TOOL_ROWS):
        yield _lint_of(run, format_, 20_000)


def aggregates(run: Run) -> Iterator[Figure]:
    """Measure small files in one process, relative to a loop, both without start-up."""
    count = run.rows(2000)
    found = measured_files(count, run.folder, RUNS, pairs=False)
    loop = found[LOOP].median - found[LOOP_ALONE].median
    net = found[ONE].median - found[START_UP].median
    yield Figure(f"{count:,} aggregates", net / loop)


def large_conversion(run: Run) -> Iterator[Figure]:
    """Measure the conversion of large rows, relative to a script with orjson."""
    path, output = _large_rows(run, 120_000), run.folder / "output.jsonl"
    program = run.folder / "to-nemo.py"
    program.write_text(ENGINES[QUICK] + EEE_TO_NEMO + LINE_SCRIPT, encoding="utf-8")
    command = (script("harpia-formats"), "convert", str(path), "--overwrite")
    by_hand = (sys.executable, str(program), str(path), str(output))
    yield _figure(
        f"{run.rows(120_000):,} rows, {EEE} to nemo-output",
        (*command, "--to", "nemo-output", "--output", str(output)),
        by_hand,
    )


def pairs_of_many_rows(run: Run) -> Iterator[Figure]:
    """Measure pairs of formats on 100,000 rows, relative to their scripts."""
    yield from _pairs(run, run.rows(100_000))


def pairs_of_few_rows(run: Run) -> Iterator[Figure]:
    """Measure pairs of formats on 2,000 rows, relative to their scripts."""
    yield from _pairs(run, run.rows(2000))


def formats_of_tools(run: Run) -> Iterator[Figure]:
    """Measure samples of lm-evaluation-harness, relative to a loop of msgspec."""
    for kind in LM_EVAL_KINDS:
        _, found = measured_neighbours(kind, run.rows(60_000), RUNS, run.folder)
        yield Figure(f"lm-eval, {kind}", found.median)


def two_jobs(run: Run) -> Iterator[Figure]:
    """Measure two jobs relative to one, of every format that is read in ranges."""
    for format_ in (*FORMATS, *TOOL_ROWS):
        if layout_of(format_) == LINES:
            path = source_file(format_, run.text, run.rows(100_000), run.folder)
            command = (*ours(), "--quiet", "--format", format_, str(path), "--jobs")
            yield _figure(format_, (*command, "2"), (*command, "1"))
            path.unlink()


def diff(run: Run) -> Iterator[Figure]:
    """Measure `diff` relative to a script that reads both files and compares by id."""
    for format_ in ("nemo-output", "csv"):
        count = run.rows(120_000)
        files = [
            str(source_file(format_, run.text, count, run.folder, changed=changed))
            for changed in (False, True)
        ]
        command = (script("harpia-formats"), "diff", *files)
        command += ("--from", format_, "--to", format_)
        yield _figure(format_, command, _peer("plain_diff", *files))


def help_page(run: Run) -> Iterator[Figure]:
    """Measure the seconds of `--help`."""
    yield _seconds(run, "--help")


def one_record(run: Run) -> Iterator[Figure]:
    """Measure the seconds of the validation of one record."""
    path = source_file(EEE, run.text, 1, run.folder)
    yield _seconds(run, "validate", str(path))


def all_pairs(run: Run) -> Iterator[Figure]:
    """Measure the seconds of `formats --pairs`."""
    yield _seconds(run, "formats", "--pairs")


SPEED_LINES = (
    Line("validate, default jobs / a loop of orjson.loads", 0.55, validation),
    Line("validate, one process / a loop of orjson.loads", 1.0, validation_alone),
    Line("validate --lint / validate, processor time", 4.0, lint),
    Line("validate --lint / validate, worst format", 3.0, lint_of_formats),
    Line("aggregates / orjson and jsonschema-rs", 4.0, aggregates),
    Line("convert, default jobs / a script with orjson", 0.5, large_conversion),
    Line(
        "convert, pairs / scripts, median",
        MEDIAN_LIMIT,
        pairs_of_many_rows,
        statistics.median,
    ),
    Line("convert, pairs / scripts, worst", MANY_LIMIT, pairs_of_many_rows),
    Line("convert, pairs of 2,000 rows / scripts", PAIR_LIMIT, pairs_of_few_rows),
    Line("convert, formats of tools / a loop of msgspec", 1.0, formats_of_tools),
    Line("validate, two jobs / one", 0.65, two_jobs),
    Line("diff / a script", 0.6, diff),
    Line("--help, seconds", 0.2, help_page),
    Line("one record, seconds", 0.15, one_record),
    Line("formats --pairs, seconds", 1.0, all_pairs),
)


def _large_rows(run: Run, count: int) -> Path:
    return source_file(EEE, run.text, run.rows(count), run.folder, size=LARGE)


def _against_loop(run: Run, count: int, *options: str) -> Figure:
    path = _large_rows(run, count)
    command = (*ours(), "--quiet", "--format", EEE, str(path), *options)
    loop = _peer("orjson_loop", str(path))
    return _figure(f"{run.rows(count):,} rows", command, loop)


def _lint_of(run: Run, format_: str, count: int) -> Figure:
    """Measure rows in which lints find nothing but near duplicates."""
    path = run.folder / f"lint{suffix_of(format_)}"
    write_rows(path, format_, run.text, tidy(samples(run.text, run.rows(count))))
    command = (*ours(), str(path), "--quiet", "--jobs", "1", "--format", format_)
    with_lints, without = _compared((*command, "--lint"), command)
    measured = run.rows(count)
    found = findings_in(path, format_, measured)
    value = processor_time(with_lints) / processor_time(without)
    return Figure(f"{measured:,} {format_}, finds {found or 'none'}", value)


def _pairs(run: Run, count: int) -> Iterator[Figure]:
    """Measure pairs that the seed draws, each without start-up."""
    ways = [(one, other) for one in FORMATS for other in FORMATS if one != other]
    for source, target in sorted(random.Random(run.seed).sample(ways, PAIRS)):
        result = measure_cell(Cell(count, run.text, source, target), run.folder, RUNS)
        peak = None if result.peak is None else result.peak / MEGABYTE
        yield Figure(f"{source} to {target}", result.ratio(TWO), peak)


def _figure(cell: str, command: tuple[str, ...], other: tuple[str, ...]) -> Figure:
    """Return the ratio of the wall times of two commands, and the peak of the first."""
    first, second = _compared(command, other)
    peak = None if first.peak is None else first.peak / MEGABYTE
    return Figure(cell, ratio(first, second), peak)


def _compared(
    command: tuple[str, ...], other: tuple[str, ...]
) -> tuple[Measurement, Measurement]:
    """Measure two commands by turns; each may end with 1, for findings."""
    found = compare(
        [
            Candidate(name, words, exit_code_of(words))
            for name, words in ((OURS, command), (PEER, other))
        ],
        RUNS,
    )
    return found[OURS], found[PEER]


def _seconds(run: Run, *words: str) -> Figure:
    """Return the median seconds of a command of ours, of nine runs."""
    candidate = Candidate(OURS, (script("harpia-formats"), *words))
    found = compare([candidate], 3 * RUNS, memory=False)[OURS]
    return Figure(f"{words[0]}, {run.text}", found.median)


def _peer(name: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, str(PEERS / f"{name}.py"), *words)
