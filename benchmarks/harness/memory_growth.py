"""The memory of two worker processes for files of 0.1, 1 and 10 GB."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.repeat import good_rows
from report.pages import circumstances, log
from report.tables import MEGABYTE, table

from harness.bars import Bar, bars_table
from harness.candidates import generated, ours
from harness.measure import MEMORY_IS_KNOWN, Candidate, peak_of, seconds_of

GIGABYTES = (0.1, 1.0, 10.0)
#: Rows from which the mean size of a row is computed.
SAMPLE = 2_000
#: The number of measured peaks of each size, of which the highest counts.
LOOKS = 2
DOCUMENT = """\
## Memory as files grow

{bars}

{sizes}

- Ours with two workers (`--jobs 2`) and all default rules, ids that may not be
  repeated among them. Beyond 500,000 generated rows they are repeated with new ids.
- Memory is the highest of {looks} peaks of the sum of the proportional set sizes of
  all processes. Seconds are those of one run before, and of the disk, where a file
  does not fit into the page cache.
{circumstances}
"""


@dataclass(frozen=True, slots=True)
class Size:
    """The measurement of a file of one size."""

    size: int
    rows: int
    seconds: float
    #: Peak memory in bytes; None if the system does not report it.
    peak: int | None


def measured(gigabytes: Sequence[float], folder: Path) -> dict[float, Size]:
    """Measure a file of each size. Raises `UnexpectedExitError`, and `SystemExit`."""
    row = generated(folder, SAMPLE).stat().st_size / SAMPLE
    sizes = {}
    for target in sorted(gigabytes):
        count = int(target * 1e9 / row)
        log(f"measuring the memory at {target:g} GB")
        with good_rows(folder, count) as path:
            command = Candidate("ours", (*ours(), "--jobs", "2", str(path)))
            seconds = seconds_of(command)
            looks = LOOKS if MEMORY_IS_KNOWN else 0
            peak = max((peak_of(command) for _ in range(looks)), default=None)
            sizes[target] = Size(path.stat().st_size, count, seconds, peak)
    return sizes


def bars_of(sizes: Mapping[float, Size]) -> list[Bar]:
    """Return the limits of the memory."""
    peaks = [size.peak for size in sizes.values() if size.peak is not None]
    is_known = bool(peaks) and len(peaks) == len(sizes)
    spread_apart = max(peaks) / min(peaks) if is_known else None
    most = max(peaks) / MEGABYTE if is_known else None
    names = ", ".join(f"{target:g}" for target in sizes)
    return [
        Bar(f"{names} GB: highest / lowest peak memory", 1.1, spread_apart),
        Bar(f"{names} GB: peak memory of all processes, MB", 200, most),
    ]


def sizes_table(sizes: Mapping[float, Size]) -> str:
    """Return a table of all sizes."""
    heads = ["size, GB", "rows", "s", "MB/s", "peak memory, MB"]
    rows = [
        [
            f"{size.size / 1e9:.2f}",
            f"{size.rows:,}",
            f"{size.seconds:.2f}",
            f"{size.size / MEGABYTE / size.seconds:.0f}",
            "unknown" if size.peak is None else f"{size.peak / MEGABYTE:.1f}",
        ]
        for size in sizes.values()
    ]
    return table(heads, rows)


def text(
    gigabytes: Sequence[float], folder: Path, command: str
) -> tuple[str, list[Bar]]:
    """Return the measured part of the page, and its bars."""
    sizes = measured(gigabytes, folder)
    bars = bars_of(sizes)
    page = DOCUMENT.format(
        bars=bars_table(bars),
        sizes=sizes_table(sizes),
        looks=LOOKS,
        circumstances=circumstances(command),
    )
    return page, bars
