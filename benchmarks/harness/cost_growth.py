"""Time and memory of validation by number of rows, on generated and real records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from data import repeat
from report.pages import circumstances, log, memory_in
from report.picture import Point, svg_of
from report.tables import MEGABYTE, megabytes, ratio, ratio_text, table

from harness.candidates import (
    CONTINUED,
    OURS,
    PARSER,
    ROOT,
    SOURCEMETA,
    commands,
    sourcemeta,
)
from harness.measure import INTERVAL, Candidate, Measurement, compare

ROWS = (50_000, 158_000, 500_000, 1_580_000, 5_000_000)
#: The number of times that each real record is repeated.
REAL_TIMES = 500
NEW_SCHEMA = str(ROOT / "schemas" / "eee" / "eee@0.3.0.schema.json")
#: A peer is left out if it needs more than this share of the free memory.
MEMORY_SHARE = 0.6
#: The names of the tools in the picture.
LABELS = {OURS: "ours", PARSER: "orjson.loads", SOURCEMETA: "sourcemeta"}
DOCUMENT = """\
## How cost grows

![Seconds and memory by rows, both logarithmic]({picture})

{growth}

{stops}

{real}

- Ours runs with all default rules on all cores. Beyond {generated:,} generated rows
  they are repeated with new ids.
- Medians of runs by turns: {runs}. Output is thrown away, and the file is in the page
  cache as far as it fits. Memory comes from a run of its own: the peak of the sum of
  the proportional set sizes of all processes, looked at every {interval:.0f} ms.
{circumstances}
"""
REAL = """\
### Real records

The 306 records that EvalEval's converters wrote, each {times} times with new ids: as
they are, in several versions and with faults in 90 of them, and repaired to the shape
of 0.3.0, where all are valid.

{rows}"""
NO_REAL = (
    "The real records were not measured: they are not in the folder that "
    "`HARPIA_CORPORA` names."
)

Measurements = Mapping[str, Measurement]


@dataclass(slots=True)
class Growth:
    """The measurements so far, and why sourcemeta is left out of larger files."""

    points: list[Point] = field(default_factory=list)
    reason_stopped: str = ""


def measured(counts: Sequence[int], folder: Path, runs: int) -> Growth:
    """Measure every tool at every number of rows.

    Raises `UnexpectedExitError`, and `SystemExit` if sourcemeta is not installed or if
    the disk has no room.
    """
    sourcemeta()
    growth = Growth()
    for count in sorted(counts):
        log(f"writing {count:,} rows")
        with repeat.good_rows(folder, count) as path:
            tools = [
                OURS,
                PARSER,
                *([] if stops_sourcemeta(growth, count) else [SOURCEMETA]),
            ]
            log(f"measuring {count:,} rows: {', '.join(tools)}")
            given = commands(path)
            found = compare([Candidate(tool, given[tool]) for tool in tools], runs)
            growth.points += points_of(found, count, path.stat().st_size)
    return growth


def points_of(found: Measurements, rows: int, size: int) -> list[Point]:
    """Return the measurements of all tools on one file as points of the picture."""
    return [
        Point(name, rows, size, measurement.median, measurement.peak)
        for name, measurement in found.items()
    ]


def stops_sourcemeta(growth: Growth, count: int) -> bool:
    """Tell whether sourcemeta would need too much memory; note the reason if so."""
    last = [point for point in growth.points if point.tool == SOURCEMETA]
    free = memory_in("MemAvailable")
    if growth.reason_stopped or not last or free is None or last[-1].peak is None:
        return bool(growth.reason_stopped)
    would = last[-1].peak / last[-1].rows * count
    if would > free * MEMORY_SHARE:
        growth.reason_stopped = (
            f"`{SOURCEMETA}` stops at {last[-1].rows:,} rows: {count:,} would take it "
            f"about {would / 1e9:.0f} GB of memory, and {free / 1e9:.0f} GB were free."
        )
        log(growth.reason_stopped)
    return bool(growth.reason_stopped)


def growth_table(points: Sequence[Point]) -> str:
    """Return a table of the time and memory of each tool for each number of rows."""
    ours = {point.rows: point.seconds for point in points if point.tool == OURS}
    heads = ["command", "rows", "GB", "s", "MB/s", "peak memory, MB", "ours / this"]
    rows = [
        [
            point.tool,
            f"{point.rows:,}",
            f"{point.size / 1e9:.2f}",
            f"{point.seconds:.2f}",
            f"{point.size / MEGABYTE / point.seconds:.0f}",
            megabytes(point.peak),
            ratio_text(ours[point.rows] / point.seconds),
        ]
        for point in points
    ]
    return table(heads, rows)


def real_candidates(path: Path, *, valid: bool) -> list[Candidate]:
    """Return the tools on a file of real records, of which some may be invalid."""
    given = commands(path)
    all_of_it = () if valid else ("--continue",)
    peer = (*sourcemeta(), *all_of_it, NEW_SCHEMA, str(path))
    return [
        Candidate(OURS, given[OURS], 0 if valid else 1),
        Candidate(PARSER, given[PARSER]),
        Candidate(SOURCEMETA if valid else CONTINUED, peer, 0 if valid else 2),
    ]


def real_text(folder: Path, runs: int, times: int) -> str:
    """Return the measurements on repeated real records as text, or why none exist."""
    if not repeat.REPAIRED.is_file() or not repeat.samples():
        log(NO_REAL)
        return NO_REAL
    rows = []
    for name, source, valid in (
        ("as they are", repeat.samples(), False),
        ("repaired", [repeat.REPAIRED], True),
    ):
        count = repeat.rows_in(source) * times
        log(f"measuring {count:,} real rows, {name}")
        with repeat.repeated_file(folder, source, count) as path:
            found = compare(real_candidates(path, valid=valid), runs)
            rows += real_rows(name, found, count, path.stat().st_size)
    heads = ["command", "records", "rows", "GB", "s", "MB/s", "peak memory, MB"]
    lines = table([*heads, "ours / this"], rows)
    return REAL.format(times=times, rows=lines)


def real_rows(name: str, found: Measurements, count: int, size: int) -> list[list[str]]:
    """Return the rows of the table for one kind of real records."""
    return [
        [
            tool,
            name,
            f"{count:,}",
            f"{size / 1e9:.2f}",
            f"{measurement.median:.2f}",
            f"{size / MEGABYTE / measurement.median:.0f}",
            megabytes(measurement.peak),
            ratio_text(ratio(found[OURS], measurement)),
        ]
        for tool, measurement in found.items()
    ]


def text(
    counts: Sequence[int], folder: Path, runs: int, picture: Path, command: str
) -> str:
    """Draw the picture, and return the measured part of the page."""
    growth = measured(counts, folder, runs)
    labelled = [replace(point, tool=LABELS[point.tool]) for point in growth.points]
    picture.write_text(svg_of(labelled), encoding="utf-8")
    most = max(point.rows for point in growth.points)
    return DOCUMENT.format(
        picture=picture.name,
        growth=growth_table(growth.points),
        stops=growth.reason_stopped or f"Every command was run up to {most:,} rows.",
        real=real_text(folder, runs, REAL_TIMES),
        generated=repeat.GENERATED_ROWS,
        runs=runs,
        interval=INTERVAL * 1000,
        circumstances=circumstances(command),
    )
