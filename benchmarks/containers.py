"""Measure `harpia-formats validate` on containers of gigabytes: memory, and places.

Each file has one invalid record, which must be found at its line, column and byte. Ids
are checked with and without the rule X101, in interleaved runs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

from data.containers import CASES, IDS, WRONG, Case, Planted, records_for, write
from harness.candidates import script
from harness.measure import Candidate, Measurement, compare
from report.pages import circumstances, command_given
from report.tables import MEGABYTE, table

#: The limits of the memory in bytes, and of the time with the check of ids divided by
#: the time without it.
MEMORY_FLOOR = 200 * MEGABYTE
ID_FLOOR = 1.25
DOCUMENT = """\
# Containers of gigabytes

Written by `benchmarks/containers.py`. Memory is the peak of the sum of the proportional
set sizes of all processes. In each of the first files one record is wrong, and the run
counts only if it is found at its line, column and byte.

{sizes}

## Unique ids

{ids}

With the check of {records:,} ids a run takes {ratio:.2f} of the time without it
(medians of {runs} interleaved runs).

{circumstances}
"""


def check_place(planted: Planted, case: Case) -> None:
    """Raise `SystemExit` unless the invalid record is found at its place."""
    command = [
        script("harpia-formats"),
        "validate",
        str(planted.path),
        "--output-format",
        "json",
        "-q",
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    report = json.loads(done.stdout)
    (problem,) = [
        problem for problem in report["problems"] if problem["severity"] == "error"
    ]
    text = planted.path.open("rb")
    with text:
        text.seek(problem["byte_offset"])
        there = text.read(3)
        column = column_of(text, problem["byte_offset"])
    keys = ("line", "column", "record")
    found = (report["files"][0]["format"], *(problem[key] for key in keys))
    number = min(WRONG, planted.records)
    expected = (case.format, planted.line, column, number)
    inside = 0 <= problem["byte_offset"] - planted.byte_offset < 2_000
    is_value = there.startswith((b"5", b"7", b"NaN"))
    if found != expected or not inside or not is_value:
        raise SystemExit(f"{case.name}: found {found}, expected {expected}: {problem}")


def column_of(text: BinaryIO, offset: int) -> int:
    """Return the column of the byte at `offset`, counted in code points from 1."""
    start = max(0, offset - 4_000)
    text.seek(start)
    before = text.read(offset - start).rpartition(b"\n")[2]
    return len(before.decode()) + 1


def measured(case: Case, folder: Path, share: float) -> tuple[Planted, Measurement]:
    """Write a file, prove that its invalid record is found, and measure a run."""
    path = folder / f"{case.format}.json"
    planted = write(case, path, records_for(case, case.size * share))
    check_place(planted, case)
    candidate = Candidate(
        case.name, (script("harpia-formats"), "validate", str(path), "-q"), 1
    )
    result = compare([candidate], 1)[case.name]
    return planted, result


def measured_ids(
    folder: Path, records: int, runs: int
) -> tuple[Planted, dict[str, Measurement]]:
    """Measure runs with and without the check of unique ids."""
    planted = write(IDS, folder / "ids.json", records)
    command = (script("harpia-formats"), "validate", str(planted.path), "-q")
    candidates = [
        Candidate("with X101", command),
        Candidate("without", (*command, "--ignore", "X101")),
    ]
    return planted, compare(candidates, runs)


def main() -> None:
    """Measure all cases, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the full sizes")
    parser.add_argument("--ids", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the files; a new one if not")
    parser.add_argument("--output", type=Path, help="the page; printed if not given")
    parser.add_argument("--check", action="store_true", help="fail below the floors")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = []
        peaks = []
        for case in CASES:
            planted, result = measured(case, Path(folder), options.share)
            size = planted.path.stat().st_size
            planted.path.unlink()
            peaks.append(result.peak or 0)
            rows.append(row_of(case.name, size, planted.records, result))
        planted, results = measured_ids(Path(folder), options.ids, options.runs)
        size = planted.path.stat().st_size
    with_ids, without = results["with X101"], results["without"]
    ratio = with_ids.median / without.median
    peaks.append(with_ids.peak or 0)
    head = ["file", "size", "records", "time", "peak memory"]
    ids = [
        row_of(result.name, size, options.ids, result) for result in results.values()
    ]
    page = DOCUMENT.format(
        sizes=table(head, rows),
        ids=table(head, ids),
        records=options.ids,
        ratio=ratio,
        runs=options.runs,
        circumstances=circumstances(command_given()),
    )
    if options.output:
        options.output.write_text(page)
    else:
        print(page)
    if options.check and (max(peaks) > MEMORY_FLOOR or ratio > ID_FLOOR):
        sys.exit("below a floor: more than 200 MB, or ids take more than a quarter")


def row_of(name: str, size: int, records: int, result: Measurement) -> list[str]:
    """Return a row of a table."""
    peak = f"{result.peak / MEGABYTE:.0f} MB" if result.peak else "unknown"
    time = f"{result.median:.1f} s"
    return [name, f"{size / 1e9:.2f} GB", f"{records:,}", time, peak]


if __name__ == "__main__":
    main()
