"""Measure the HTML report of a million findings: its size, its time and its opening.

Makes a file whose rows are all invalid, and validates it with and without
`--report FILE.html`, interleaved. Chromium then opens the page several times. With
`--check` it ends with 1 if the page is not below 1 MB, or does not open in a second, or
if writing it takes more than a tenth of the run.
"""

import argparse
import statistics
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from harness.candidates import script
from harness.chromium import Chromium, program
from harness.measure import Candidate, Measurement, compare

#: Limits: bytes of the page, milliseconds until it is loaded, and the processor time of
#: a run with the report divided by that without.
BYTES, MILLISECONDS, RATIO = 1_000_000, 1000, 1.1
WITHOUT, WITH = "validate", "validate --report"
#: Invalid rows in different ways; each gives one finding.
ROWS = (
    '{"id": %d, "score": "0.75", "text": "a <b>bold</b> answer"}',
    '{"id": %d, "score": null, "text": "an answer"}',
    '{"id": %d, "score": 0.5, "text": ["an", "answer"]}',
    '{"id": %d, "score": 0.5, "text": "an answer", "kind": "other"}',
    '{"id": %d, "score": 0.5',
)
SCHEMA = """{
  "type": "object",
  "properties": {
    "id": {"type": "integer"},
    "score": {"type": "number"},
    "text": {"type": "string"}
  },
  "required": ["id", "score"],
  "additionalProperties": false
}
"""
#: The pictures of `--pictures`: the name, the width, dark colours, and the medium.
PICTURES = (
    ("light", 1000, False, ""),
    ("dark", 1000, True, ""),
    ("narrow", 360, False, ""),
    ("print", 800, False, "print"),
)


def write_rows(path: Path, count: int) -> None:
    """Write so many invalid rows."""
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(islice(cycle(ROWS), count), 1):
            file.write(row % number + "\n")


def measured(folder: Path, count: int, runs: int, jobs: str) -> dict[str, Measurement]:
    """Measure validation with and without the report `page.html` in a folder."""
    write_rows(folder / "rows.jsonl", count)
    (folder / "schema.json").write_text(SCHEMA, encoding="utf-8")
    command = (
        *(script("harpia-formats"), "validate", str(folder / "rows.jsonl"), "-q"),
        *("--schema", str(folder / "schema.json"), "--jobs", jobs),
        *("--output-format", "json"),
    )
    page = ("--report", str(folder / "page.html"))
    candidates = [
        Candidate(WITHOUT, command, expected=1),
        Candidate(WITH, (*command, *page), expected=1),
    ]
    return compare(candidates, runs)


def processor_time(measurement: Measurement) -> float:
    """Return the median of the user and system seconds of the runs."""
    runs = zip(measurement.user, measurement.system, strict=True)
    return statistics.median(map(sum, runs))


def opening(page: Path, runs: int, pictures: Path | None) -> float:
    """Return the median milliseconds until Chromium has loaded a page."""
    with Chromium() as browser:
        browser.show(1000)
        times = [browser.open(page) for _ in range(runs)]
        for name, width, dark, media in PICTURES if pictures else ():
            browser.show(width, 1400, dark=dark, media=media)
            browser.open(page)
            browser.value("document.querySelector('.record').open = true")
            browser.screenshot(pictures / f"{name}.png")  # type: ignore[operator]  # there are pictures
    return statistics.median(times)


def main() -> int:
    """Measure, print a line for each measure, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--findings", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--check", action="store_true", help="end with 1 over a limit")
    parser.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="PNG of the page"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = measured(Path(name), options.findings, options.runs, options.jobs)
        page = Path(name, "page.html")
        size = page.stat().st_size
        seconds = {one: processor_time(found[one]) for one in found}
        ratio = seconds[WITH] / seconds[WITHOUT]
        print(f"page of {options.findings:,} findings: {size:,} bytes")
        print(
            f"processor time: {seconds[WITHOUT]:.2f} s, {seconds[WITH]:.2f} s with it"
        )
        print(f"ratio of processor times: {ratio:.3f}")
        peaks = ", ".join(f"{(one.peak or 0) / 1e6:.0f} MB" for one in found.values())
        print(f"memory without and with it: {peaks}")
        is_met = size < BYTES and ratio < RATIO
        if program() is None:
            print("not opened: Chromium is not installed")
        else:
            if options.pictures:
                options.pictures.mkdir(parents=True, exist_ok=True)
            milliseconds = opening(page, 5, options.pictures)
            print(f"loaded by Chromium in {milliseconds:.0f} ms")
            is_met = is_met and milliseconds < MILLISECONDS
    return int(options.check and not is_met)


if __name__ == "__main__":
    sys.exit(main())
