"""Measurements as Markdown tables, which are also readable on a terminal."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

from harness.measure import Measurement

MEGABYTE = 1e6


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, its first column aligned left and the others right."""
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_line(line, widths) for line in (heads, rule, *lines[1:]))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return f"| {' | '.join(padded)} |"


def ratio(first: Measurement, second: Measurement) -> float:
    """Return the median time of `first` divided by that of `second`."""
    return first.median / second.median


def ratio_text(value: float) -> str:
    """Return a ratio with two digits after the point, three below 0.1."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def ratios_table(
    groups: Mapping[str, Mapping[str, Measurement]], ours: Sequence[str]
) -> str:
    """Return a table with the ratios of each of `ours` to every other candidate."""
    heads = ["against", *(f"{name}, {group}" for group in groups for name in ours)]
    others = [name for name in next(iter(groups.values())) if name not in ours]
    rows = [
        [
            other,
            *(
                ratio_text(ratio(group[name], group[other]))
                for group in groups.values()
                for name in ours
            ),
        ]
        for other in others
    ]
    return table(heads, rows)


def times_table(
    measurements: Mapping[str, Measurement], *, unit: str = "s", base: str = ""
) -> str:
    """Return a table of wall times in `unit` (s or ms), memory, and ratios to `base`.

    It also has the medians of the user and system processor times of all processes.
    """
    heads = ["command", f"median, {unit}", f"min, {unit}", f"max, {unit}"]
    heads += [f"program, {unit}", f"system, {unit}", "peak memory, MB"]
    heads += [f"ratio to {base}"] if base else []
    factor, digits = (1, 2) if unit == "s" else (1000, 0)
    rows = []
    for measurement in measurements.values():
        times = [measurement.median, min(measurement.seconds), max(measurement.seconds)]
        times += [
            statistics.median(of or (0.0,))
            for of in (measurement.user, measurement.system)
        ]
        row = [measurement.name, *(f"{time * factor:.{digits}f}" for time in times)]
        row.append(megabytes(measurement.peak))
        if base:
            row.append(ratio_text(ratio(measurement, measurements[base])))
        rows.append(row)
    return table(heads, rows)


def megabytes(size: int | None) -> str:
    """Return a number of bytes in megabytes, or "not measured" for None."""
    return "not measured" if size is None else f"{size / MEGABYTE:.0f}"
