"""Where in its row the value of a record's field is."""

from collections.abc import Mapping
from dataclasses import replace

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.findings import Where
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.format import Container

#: The keys of a field in rows, by its path in records.
RowPaths = Mapping[str, tuple[str, ...]]


def row_paths(variant: FormatVariant) -> RowPaths:
    """Return the paths of fields in rows of JSON, as far as they are known."""
    dialect, format_ = variant.dialect, variant.format
    is_json = dialect.container in {Container.ROWS, Container.WRAPPED}
    if not is_json or dialect.name != format_.dialects[0].name:
        return {}
    return {
        mapping.record_path: mapping.path
        for mapping in adapter_of(format_).fields
        if "*" not in mapping.path
    }


def where_of(placed: PlacedRecord, paths: RowPaths, *fields: str) -> Where:
    """Return the place of the first of some fields that the row has, with its line.

    It is the beginning of the row if there is none.
    """
    row = placed.row
    known = [paths[field] for field in fields if field in paths]
    for path in known if row.text[:1] == b"{" else ():
        try:
            start, end = row.bytes_of(path)
        except KeyError:
            continue
        return replace(row.place(start, end, path), pointer=""), row.excerpt(start, end)
    return row.place(0, 1, ()), None
