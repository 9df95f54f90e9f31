"""Prove and measure the three conversions of conversations, and check their limits."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from report.pages import log
from report.tables import MEGABYTE, ratio

from harness.candidates import OURS
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
from harness.measure import Measurement, compare

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
        log(f"seeing that all write the same: {pair.name}")
        prove(pair, folder)
        log(f"measuring {count:,} records: {pair.name}")
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
