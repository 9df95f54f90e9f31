"""Measurements of validation and its peers, and the limits that it must meet."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data.generate import FAULTS
from report.pages import log

from harness.bars import Bar, memory_ratio, timed
from harness.candidates import (
    CLEAN,
    CONTINUED,
    EMPTY,
    EVERY,
    OURS,
    OURS_ALONE,
    OURS_LESS,
    PARSER,
    SOME_BAD,
    SOURCEMETA,
    all_bad_candidates,
    candidates_on,
    every_candidates,
    every_eval_ever,
    prove_candidates,
    some_bad_candidates,
    sourcemeta,
    start_up_candidates,
)
from harness.measure import Measurement, compare

START_UP_RUNS = 15
NO_EVERY = (
    "not measured: no every_eval_ever (Python 3.12: pip install every_eval_ever, "
    "then --every-eval-ever COMMAND)"
)

Measurements = Mapping[str, Measurement]


@dataclass(frozen=True, slots=True)
class Results:
    """All measurements of one run of the benchmark."""

    #: Measurements by number of rows, then by name of the command.
    sizes: Mapping[int, Measurements]
    start_up: Measurements
    some_bad: Measurements
    #: Measurements by the fault of all rows, then by name of the command.
    all_bad: Mapping[str, Measurements]
    #: Empty if EvalEval's validator is not installed.
    every: Measurements

    @property
    def fewest(self) -> int:
        """The rows of the smallest file, also those of the files with bad rows."""
        return min(self.sizes)

    @property
    def most(self) -> int:
        """The rows of the largest file, to which the limits apply."""
        return max(self.sizes)


def measured(
    counts: list[int], folder: Path, runs: int, validator: str | None = None
) -> Results:
    """Return all measurements, with generated files in `folder`.

    Raises `UnexpectedExitError`, and `SystemExit` without sourcemeta's command.
    """
    sourcemeta()
    log("seeing that all commands accept and refuse")
    prove_candidates(folder)
    fewest, most = min(counts), max(counts)
    sizes = {}
    for count in sorted(counts):
        log(f"measuring {count:,} good rows")
        sizes[count] = compare(candidates_on(count, folder), runs)
    every = _measured_every(most, folder, runs, validator)
    log(f"measuring 1 % of bad rows among {most:,}")
    some_bad = compare(some_bad_candidates(most, folder), runs)
    all_bad = {}
    for fault in FAULTS:
        log(f"measuring {fewest:,} bad rows: {fault}")
        all_bad[fault] = compare(all_bad_candidates(fewest, fault, folder), runs)
    log("measuring start-up")
    start_up = compare(start_up_candidates(folder), max(runs, START_UP_RUNS))
    return Results(sizes, start_up, some_bad, all_bad, every)


def _measured_every(
    count: int, folder: Path, runs: int, validator: str | None
) -> Measurements:
    """Measure our command and EvalEval's own validator, if that is installed."""
    command = every_eval_ever(validator)
    if command is None:
        log(NO_EVERY)
        return {}
    log(f"measuring {count:,} rows against every_eval_ever")
    return compare(every_candidates(command, count, folder), runs)


def bars_of(results: Results) -> list[Bar]:
    """Return every limit of validation with its measured value."""
    good = results.sizes[results.most]
    peer = good[SOURCEMETA]
    sizes = f"{results.most:,} rows"
    less = f"{sizes}: ours without repeated keys / sourcemeta"
    some, none = results.some_bad[SOME_BAD], results.some_bad[CLEAN]
    record, empty = results.start_up[OURS], results.start_up[EMPTY]
    return [
        timed(f"{sizes}: ours / sourcemeta", 0.2, good[OURS], peer),
        timed(less, 0.125, good[OURS_LESS], peer),
        Bar(f"{less}, memory", 0.1, memory_ratio(good[OURS_LESS], peer)),
        _every_bar(results),
        timed(
            f"{sizes}: one process, without repeated keys / orjson.loads",
            1.0,
            good[OURS_ALONE],
            good[PARSER],
        ),
        timed(f"{sizes}: 1 % bad / all good", 1.3, some, none),
        *_bad_bars(results),
        timed("one record: ours / an empty typer program", 1.5, record, empty),
    ]


def _every_bar(results: Results) -> Bar:
    """Return the limit against EvalEval's own validator."""
    what = f"{results.most:,} rows of 0.3.0: ours / every_eval_ever"
    if not results.every:
        return Bar(f"{what}, time", 0.1, None, why_not=NO_EVERY)
    return timed(what, 0.1, results.every[OURS], results.every[EVERY])


def _bad_bars(results: Results) -> list[Bar]:
    """Return the limits on files in which every row is bad."""
    bars = []
    for fault, measurements in results.all_bad.items():
        what = f"{results.fewest:,} rows, all bad ({fault})"
        rate = results.fewest / measurements[OURS].median
        bars += [
            timed(
                f"{what}: ours / sourcemeta --continue",
                0.2,
                measurements[OURS],
                measurements[CONTINUED],
            ),
            Bar(f"{what}: rows a second", 30_000, rate, at_least=True),
        ]
    return bars
