"""Carry what is around the records over, and note what of it is lost."""

from collections.abc import Sequence

from msgspec import UNSET

from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.report import FileLosses
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates
from harpia_formats.model.record import Header


def header_row(
    destination: Destination,
    files: Sequence[FileLosses],
    headers: Sequence[Sequence[Header]],
) -> Row:
    """Return the header that is written, and note what is lost of those of `files`."""
    chosen = _chosen(files, headers)
    if chosen is None:
        return {}
    file, header = chosen
    fates = FieldFates()
    row: Row = {}
    names = [
        each for each in header.__struct_fields__ if getattr(header, each) is not UNSET
    ]
    if destination.outputs.headed and not destination.written:
        for name in names:
            fates.dropped(f"header.{name}", "there is no record to carry it")
    else:
        adapter = destination.adapter
        if adapter.write_header is not None:
            row = adapter.write_header(header, fates)
        held = {each.partition(".")[0] for each in adapter.header_fields}
        for name in names:
            if name not in held:
                fates.dropped(f"header.{name}")
    paths = tuple(f"header.{each}" for each in names)
    file.losses.add(paths, tuple(fates.entries), lambda: None)
    return row


def _chosen(
    files: Sequence[FileLosses], headers: Sequence[Sequence[Header]]
) -> tuple[FileLosses, Header] | None:
    """Return the first header with its file; note that others are dropped."""
    given = [
        (file, header)
        for file, own in zip(files, headers, strict=False)
        for header in own
    ]
    for file, header in given[1:]:
        if header != given[0][1]:
            note = FieldFate(Fate.DROPPED, "header", "another one came first")
            file.losses.add((), (note,), lambda: None)
    return given[0] if given else None
