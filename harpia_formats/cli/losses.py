"""What a conversion came to, in lines for standard error."""

import os
import sys
from collections.abc import Iterator, Sequence

from harpia_formats.cli.table import wants_color
from harpia_formats.conversion.losses.table import FieldLine, field_lines, words_for
from harpia_formats.conversion.report import ConversionReport
from harpia_formats.reporters.frame import columns
from harpia_formats.reporters.text import position
from harpia_formats.text.sanitize import safe

_names = ("field", "records", "kept", "lost or changed", "how", "first")
#: Columns that a narrow terminal shortens; a place is folded, since one that is cut
#: leads nowhere, and numbers are shown whole.
_shortened, _folded = frozenset({"field", "lost or changed", "how"}), "first"
#: Code points of a cell, far more than any terminal is wide.
CELL = 4096
#: Columns of a terminal that does not tell how many it has.
USUAL = 80


def loss_lines(report: ConversionReport, width: int | None = None) -> Iterator[str]:
    """Yield the table of losses: fields that arrive as they are share a line.

    It is fitted to a terminal of `width` columns, and as wide as it is without one.
    """
    lines = field_lines(report.losses)
    touched = [each for each in lines if each.fates]
    whole = [each.name for each in lines if not each.fates]
    if not touched:
        if whole:
            yield "nothing is lost"
        return
    rows = [_cells(each) for each in touched]
    yield from _aligned(rows) if width is None else _fitted(rows, width)
    if whole:
        yield f"kept as they are: {', '.join(safe(each, CELL) for each in whole)}"


def width_of_terminal() -> int | None:
    """Return how many columns standard error has, None if it is no terminal."""
    if not sys.stderr.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    # Standard output may be a file; a terminal that does not tell says 0.
    return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield a line for each row, with its cells below those of the others."""
    every = [_names, *rows]
    widths = [max(map(columns, column)) for column in zip(*every, strict=True)]
    for row in every:
        cells = (
            each + " " * (width - columns(each))
            for each, width in zip(row, widths, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _fitted(rows: Sequence[tuple[str, ...]], width: int) -> Iterator[str]:
    """Yield the lines of a table that is no wider than `width`."""
    from rich.console import Console  # noqa: PLC0415 - slow, and only on a terminal
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in _names:
        is_whole = name not in _shortened and name != _folded
        how = "fold" if name == _folded else "ellipsis"
        table.add_column(name, overflow=how, no_wrap=is_whole)  # type: ignore[arg-type]  # one of its words
    for row in rows:
        # One line for each field, but for its place.
        table.add_row(
            *(
                Text(cell, no_wrap=name != _folded)
                for name, cell in zip(_names, row, strict=True)
            )
        )
    console = Console(
        width=width,
        height=len(rows) + 1,  # without it the width of a dumb terminal is 80
        force_terminal=True,
        # Without one there are no bold letters either, as a dumb terminal needs it.
        color_system="standard" if wants_color() else None,
    )
    with console.capture() as captured:
        console.print(table)
    yield from (each.rstrip() for each in captured.get().splitlines())


def _cells(line: FieldLine) -> tuple[str, ...]:
    place = line.place
    first = position(place.path, place.line, place.column) if place else ""
    return (
        safe(line.name, CELL),
        f"{line.records:,}",
        f"{line.kept:,}",
        ", ".join(words_for(line)),
        safe("; ".join(line.hows), CELL),
        first,
    )


def written_line(report: ConversionReport) -> str:
    """Return how many rows were written where, or why none were."""
    names = ", ".join(safe(each, 200) for each in report.outputs)
    skipped = ""
    if report.skipped:
        skipped = f", {_counted(report.skipped, 'record')} left out"
        if report.quarantine:
            skipped += f" (in {safe(report.quarantine[0], 200)})"
    if report.written:
        return f"{names}: {_counted(report.rows, 'row')} of {report.target}{skipped}"
    why = "something would be lost" if report.failed_by_loss else "see above"
    return f"nothing was written: {why}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
