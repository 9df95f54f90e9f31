"""Measure the work of validation beside its peers, and judge it by its bars."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data.generate import FAULTS
from report.pages import say

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
    """Everything that was measured in one run."""

    #: By number of rows, then by name.
    sizes: Mapping[int, Measurements]
    start_up: Measurements
    some_bad: Measurements
    #: By the fault that all rows have, then by name.
    all_bad: Mapping[str, Measurements]
    #: Empty where EvalEval's validator is missing.
    every: Measurements

    @property
    def fewest(self) -> int:
        """The rows of the smallest file, of which others are made with bad rows."""
        return min(self.sizes)

    @property
    def most(self) -> int:
        """The rows of the largest file, by which the bars are judged."""
        return max(self.sizes)


def measured(
    counts: list[int], folder: Path, runs: int, validator: str | None = None
) -> Results:
    """Measure everything, with generated files in `folder`.

    Raises `UnexpectedExit`, and `SystemExit` without sourcemeta's command.
    """
    sourcemeta()
    say("seeing that all commands accept and refuse")
    prove_candidates(folder)
    fewest, most = min(counts), max(counts)
    sizes = {}
    for each in sorted(counts):
        say(f"measuring {each:,} good rows")
        sizes[each] = compare(candidates_on(each, folder), runs)
    every = _measured_every(most, folder, runs, validator)
    say(f"measuring 1 % of bad rows among {most:,}")
    some_bad = compare(some_bad_candidates(most, folder), runs)
    all_bad = {}
    for fault in FAULTS:
        say(f"measuring {fewest:,} bad rows: {fault}")
        all_bad[fault] = compare(all_bad_candidates(fewest, fault, folder), runs)
    say("measuring start-up")
    start_up = compare(start_up_candidates(folder), max(runs, START_UP_RUNS))
    return Results(sizes, start_up, some_bad, all_bad, every)


def _measured_every(
    count: int, folder: Path, runs: int, validator: str | None
) -> Measurements:
    """Measure ours beside EvalEval's own validator, if that is here."""
    command = every_eval_ever(validator)
    if command is None:
        say(NO_EVERY)
        return {}
    say(f"measuring {count:,} rows beside every_eval_ever")
    return compare(every_candidates(command, count, folder), runs)


def bars_of(results: Results) -> list[Bar]:
    """Return every line that validation must reach, with its figure."""
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
    """Return the line that compares with EvalEval's own validator."""
    what = f"{results.most:,} rows of 0.3.0: ours / every_eval_ever"
    if not results.every:
        return Bar(f"{what}, time", 0.1, None, why_not=NO_EVERY)
    return timed(what, 0.1, results.every[OURS], results.every[EVERY])


def _bad_bars(results: Results) -> list[Bar]:
    """Return the lines on files in which every row is bad."""
    bars = []
    for fault, each in results.all_bad.items():
        what = f"{results.fewest:,} rows, all bad ({fault})"
        rate = results.fewest / each[OURS].median
        bars += [
            timed(
                f"{what}: ours / sourcemeta --continue",
                0.2,
                each[OURS],
                each[CONTINUED],
            ),
            Bar(f"{what}: rows a second", 30_000, rate, at_least=True),
        ]
    return bars
