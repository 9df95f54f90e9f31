"""What a conversion came to, in lines for standard error."""

from collections.abc import Iterator

from harpia_formats.conversion import ConversionReport
from harpia_formats.loss_table import FieldLine, field_lines, words_for
from harpia_formats.reporters.frame import columns
from harpia_formats.reporters.text import position
from harpia_formats.safe import safe

_names = ("field", "records", "kept", "lost or changed", "how", "first")
#: Code points of a cell.
CELL = 60


def loss_lines(report: ConversionReport) -> Iterator[str]:
    """Yield the table of losses: fields that arrive as they are share a line."""
    lines = field_lines(report.losses)
    touched = [each for each in lines if each.fates]
    whole = [each.name for each in lines if not each.fates]
    if not touched:
        if whole:
            yield "nothing is lost"
        return
    rows = [_names, *(_cells(each) for each in touched)]
    widths = [
        max(columns(each) for each in column) for column in zip(*rows, strict=True)
    ]
    for row in rows:
        cells = (
            each + " " * (width - columns(each))
            for each, width in zip(row, widths, strict=True)
        )
        yield "  ".join(cells).rstrip()
    if whole:
        yield f"kept as they are: {', '.join(safe(each, CELL) for each in whole)}"


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
