"""Fail if validation has become much slower than its peers: a short run for CI.

All commands run three times, interleaved, on 50,000 rows. The best of the three ratios
counts, and the limits are about twice the values of a quiet machine, so that changes of
the code fail and noise does not. What a start takes is compared with a typer program
that does nothing.
"""

import sys
import tempfile
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from harness.bars import Bar, bars_table
from harness.candidates import (
    EMPTY,
    OURS,
    OURS_ALONE,
    PARSER,
    REFUSALS,
    SOURCEMETA,
    commands,
    generated,
    has_sourcemeta,
    script,
    start_up_candidates,
)
from harness.measure import Candidate, Measurement, compare
from report.pages import log

ROWS = 50_000
#: sourcemeta is so much slower that it gets a tenth of the rows.
PEER_SHARE = 10
RUNS = 3
ONE, ALL_BAD = "ours, one record", "ours, every row bad"
HELP, PAIRS = "ours, --help", "ours, formats --pairs"
CONVERTED = "ours, one record converted"
NO_PEER = "skipped: sourcemeta, as sourcemeta-jsonschema is not installed"


def candidates(folder: Path, count: int = ROWS) -> list[Candidate]:
    """Return all commands; print a message if sourcemeta is not installed."""
    path = generated(folder, count)
    good = commands(path)
    bad = commands(misspelt(path, folder / "bad.jsonl"))
    record, empty = start_up_candidates(folder)
    found = [Candidate(name, good[name]) for name in (OURS, OURS_ALONE, PARSER)]
    found.append(Candidate(ALL_BAD, bad[OURS], REFUSALS[OURS]))
    found += [Candidate(ONE, record.command), empty, *starts(record.command[-1])]
    if not has_sourcemeta():
        log(NO_PEER)
        return found
    fewer = beginning(path, folder / "fewer.jsonl", count // PEER_SHARE)
    return [*found, Candidate(SOURCEMETA, commands(fewer)[SOURCEMETA])]


def starts(record: str) -> list[Candidate]:
    """Return commands whose time is that of their start; one reads a `record`."""
    program = script("harpia-formats")
    return [
        Candidate(HELP, (program, "--help")),
        Candidate(CONVERTED, (program, "convert", record, "--to", "record")),
        Candidate(PAIRS, (program, "formats", "--pairs")),
    ]


def misspelt(path: Path, target: Path) -> Path:
    """Write a copy of a file with a misspelt key in each row, and return it."""
    data = path.read_bytes()
    target.write_bytes(data.replace(b'"score": ', b'"scores": '))
    return target


def beginning(path: Path, target: Path, count: int) -> Path:
    """Write the first rows of a file to `target`, and return that."""
    with path.open("rb") as lines, target.open("wb") as file:
        file.writelines(islice(lines, count))
    return target


def bars_of(found: Mapping[str, Measurement]) -> list[Bar]:
    """Return the limits with their values, without those of a missing peer."""
    bars = [
        Bar("one process / orjson.loads", 3.0, best(found[OURS_ALONE], found[PARSER])),
        Bar("all cores / orjson.loads", 3.0, best(found[OURS], found[PARSER])),
        Bar("every row bad / every row good", 4.0, best(found[ALL_BAD], found[OURS])),
        _start_bar("--help", 0.6, found[HELP], found[EMPTY]),
        _start_bar("one record", 1.7, found[ONE], found[EMPTY]),
        _start_bar("one record converted", 2.4, found[CONVERTED], found[EMPTY]),
        _start_bar("formats --pairs", 14.0, found[PAIRS], found[EMPTY]),
    ]
    if SOURCEMETA in found:
        figure = best(found[OURS], found[SOURCEMETA]) / PEER_SHARE
        bars.append(Bar("all cores / sourcemeta, scaled", 1.2, figure))
    return bars


def _start_bar(name: str, limit: float, ours: Measurement, empty: Measurement) -> Bar:
    """Return the limit of a command's time, by that of a program that does nothing."""
    return Bar(f"{name} / empty typer program", limit, best(ours, empty))


def best(first: Measurement, second: Measurement) -> float:
    """Return the least ratio of the paired runs of two measurements."""
    pairs = zip(first.seconds, second.seconds, strict=True)
    return min(one / other for one, other in pairs)


def main() -> int:
    """Measure, print the limits, and return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        bars = bars_of(compare(candidates(Path(folder)), RUNS, memory=False))
    print(bars_table(bars))
    return int(not all(bar.met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
