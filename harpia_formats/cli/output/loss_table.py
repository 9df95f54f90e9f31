"""What a conversion lost and wrote, as lines for standard error."""

from collections.abc import Iterator

from harpia_formats.cli.output.fitted_table import has_room, table_lines
from harpia_formats.cli.output.table import CELL
from harpia_formats.conversion.losses.table import FieldLine, field_lines, words_for
from harpia_formats.conversion.report import ConversionReport
from harpia_formats.model.text.sanitize import safe
from harpia_formats.model.text.words import with_noun
from harpia_formats.reporters.text import position

#: The columns of the table. The last one has places, which may be long paths: in a
#: narrow terminal they are below the rows.
_NAMES = ("field", "records", "kept", "lost or changed", "how", "first")
#: Code points of the name of a file.
_PATH = 200


def loss_lines(report: ConversionReport, width: int | None = None) -> Iterator[str]:
    """Yield the table of losses: a row for each field that is not kept as it is.

    The fields that are kept share one line below it. The table is at most `width`
    columns wide, and as wide as its cells if `width` is None.
    """
    lines = field_lines(report.losses)
    changed = [line for line in lines if line.fates]
    kept = [line.name for line in lines if not line.fates]
    if not changed:
        if kept:
            yield "nothing is lost"
        return
    rows = [_cells(line) for line in changed]
    if has_room(_NAMES, rows, width):
        yield from table_lines(_NAMES, rows, width)
    else:
        places = [f"    {_NAMES[-1]}: {row[-1]}" if row[-1] else "" for row in rows]
        narrow = [row[:-1] for row in rows]
        yield from table_lines(_NAMES[:-1], narrow, width, below=places)
    if kept:
        yield f"kept as they are: {', '.join(safe(name, CELL) for name in kept)}"


def _cells(line: FieldLine) -> tuple[str, ...]:
    """Return the cells of one field, safe to print."""
    place = line.place
    first = position(place.full_path, place.line, place.column) if place else ""
    return (
        safe(line.name, CELL),
        f"{line.records:,}",
        f"{line.kept:,}",
        ", ".join(words_for(line)),
        safe("; ".join(line.hows), CELL),
        first,
    )


def written_line(report: ConversionReport) -> str:
    """Return how many rows were written to which files, or why none were."""
    names = ", ".join(safe(name, _PATH) for name in report.outputs)
    skipped = ""
    if report.skipped:
        skipped = f", {with_noun(report.skipped, 'record')} left out"
        if report.quarantine:
            skipped += f" (in {safe(report.quarantine[0], _PATH)})"
    if report.written:
        return f"{names}: {with_noun(report.rows, 'row')} of {report.target}{skipped}"
    why = "something would be lost" if report.failed_by_loss else "see above"
    if report.is_empty:
        why = "there is no record in the input"
    if report.quarantine and not report.is_cut:
        names = " and ".join(safe(name, _PATH) for name in report.quarantine)
        return f"no row was written, only {names}: {why}"
    return f"{safe(report.nothing, _PATH)}: {why}"
