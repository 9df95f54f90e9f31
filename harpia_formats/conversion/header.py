"""Convert the headers of the inputs to one header, and count what they lose."""

from collections.abc import Sequence

from msgspec import UNSET

from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.mapping.targets import header_needs_rows
from harpia_formats.conversion.report import FileLosses
from harpia_formats.conversion.written_rows import header_error
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates
from harpia_formats.model.format import Format
from harpia_formats.model.record import Header


def header_row(
    destination: Destination,
    files: Sequence[FileLosses],
    headers: Sequence[Sequence[Header]],
) -> Row:
    """Return the header as the target writes it, and add what it loses to `files`.

    `headers` are those of each file. The first of them is written.
    """
    chosen = _first_header(files, headers)
    if chosen is None:
        return {}
    file, header = chosen
    fates = FieldFates()
    row: Row = {}
    names = [
        name for name in header.__struct_fields__ if getattr(header, name) is not UNSET
    ]
    if header_needs_rows(destination.target) and not destination.written:
        for name in names:
            fates.dropped(f"header.{name}", "there is no record to carry it")
    else:
        adapter = destination.adapter
        if adapter.write_header is not None:
            row = adapter.write_header(header, fates)
            _drop_invalid(row, destination.target, fates)
        carried = {path.partition(".")[0] for path in adapter.header_fields}
        for name in names:
            if name not in carried:
                fates.dropped(f"header.{name}")
    paths = tuple(f"header.{name}" for name in names)
    file.losses.add(paths, tuple(fates.entries), lambda: None)
    return row


def _drop_invalid(row: Row, target: Format, fates: FieldFates) -> None:
    """Remove the members of a written header that `target` refuses, as dropped."""
    for key in list(row):
        problem = header_error(target, key, row[key])
        if problem is not None:
            del row[key]
            fates.dropped(f"header.{key}", f"not valid: {problem.message}")


def _first_header(
    files: Sequence[FileLosses], headers: Sequence[Sequence[Header]]
) -> tuple[FileLosses, Header] | None:
    """Return the first header with its file; count the others as dropped."""
    found = [
        (file, header)
        for file, own in zip(files, headers, strict=False)
        for header in own
    ]
    for file, header in found[1:]:
        if header != found[0][1]:
            dropped = FieldFate(Fate.DROPPED, "header", "another one came first")
            file.losses.add((), (dropped,), lambda: None)
    return found[0] if found else None
