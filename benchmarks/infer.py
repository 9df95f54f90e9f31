"""Measure `harpia-formats schema infer`: time against a loop of `json.loads`, memory.

The rows are those that validation is measured with. A second file has other keys in
every row, which must not take more memory than the first one.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.candidates import PEERS, generated, script
from harness.measure import Candidate, Measurement, compare
from report.tables import MEGABYTE, table

OURS, LOOP, KEYS = "schema infer", "a loop of json.loads", "schema infer, other keys"
#: The limits of the time divided by that of the loop, and of the memory in bytes.
TIME_FLOOR, MEMORY_FLOOR = 2.0, 200 * MEGABYTE


def rows_of_other_keys(count: int) -> Iterator[dict[str, object]]:
    """Yield rows whose objects have keys that are data."""
    for number in range(count):
        scores = {f"user {number}-{place}": place / 10 for place in range(20)}
        yield {"id": number, "scores": scores}


def candidates(count: int, folder: Path) -> list[Candidate]:
    """Return the commands with their files of `count` rows."""
    path = generated(folder, count)
    other = folder / f"{count}-rows-other-keys.jsonl"
    if not other.exists():
        with other.open("w", encoding="utf-8") as lines:
            for row in rows_of_other_keys(count):
                lines.write(json.dumps(row) + "\n")
    ours = (script("harpia-formats"), "schema", "infer", "-q")
    loop = (sys.executable, str(PEERS / "json_loop.py"), str(path))
    return [
        Candidate(LOOP, loop),
        Candidate(OURS, (*ours, str(path))),
        Candidate(KEYS, (*ours, str(other))),
    ]


def processor_seconds(result: Measurement) -> float:
    """Return the least processor time of the runs of a command."""
    return min(map(sum, zip(result.user, result.system, strict=True)))


def main() -> None:
    """Measure, print a table, and fail with `--check` beyond the limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the files; a new one if not")
    parser.add_argument("--check", action="store_true", help="fail beyond the limits")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = compare(
            candidates(options.rows, options.folder or Path(folder)), options.runs
        )
    ratio = processor_seconds(found[OURS]) / processor_seconds(found[LOOP])
    peak = max(found[name].peak or 0 for name in (OURS, KEYS))
    lines = [
        (
            name,
            f"{processor_seconds(one):.2f} s",
            f"{(one.peak or 0) / MEGABYTE:.0f} MB",
        )
        for name, one in found.items()
    ]
    print(table(["command", "processor time", "peak memory"], lines))
    print(f"time divided by that of the loop: {ratio:.2f} (at most {TIME_FLOOR})")
    if options.check and (ratio > TIME_FLOOR or peak > MEMORY_FLOOR):
        raise SystemExit("beyond the limits")


if __name__ == "__main__":
    main()
