"""Tell tables from other text, and take the sample of a table."""

from collections.abc import Iterable, Sequence
from itertools import islice

from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.container import Layout, OpenedContainer
from harpia_formats.files.framing.limits import WINDOW
from harpia_formats.files.parsing.csv_delimiter import COMMA, DELIMITERS
from harpia_formats.files.parsing.full_width_table import wide_delimiter
from harpia_formats.formats.detection.candidates import variants_of
from harpia_formats.formats.detection.file_name import (
    JSON_SUFFIXES,
    TABLE_SUFFIXES,
    delimiter_of,
    has_suffix,
    uncompressed_lower_name,
)
from harpia_formats.formats.detection.sample import SAMPLE_BYTES, Sample
from harpia_formats.formats.registry import adapter_of, all_formats
from harpia_formats.model.format import Format


def is_table(
    opened: OpenedContainer,
    formats: Sequence[Format],
    name: str,
    delimiter: str | None,
) -> bool:
    """Tell whether a file is a table: by the formats asked for, or its name.

    Input without a name, such as standard input, is a table by its header. A table is
    recognized even if no format of tables is asked for, to report that.
    """
    if not formats:
        return False
    if len(variants_of(formats, Layout.TEXT)) == len(variants_of(formats)):
        return True
    if opened.layout is not Layout.TEXT:
        return False
    plain = uncompressed_lower_name(name)
    if plain.endswith(TABLE_SUFFIXES) or (
        delimiter is not None and not plain.endswith(JSON_SUFFIXES)
    ):
        return True
    return not has_suffix(name) and _has_known_column(opened, name)


def _has_known_column(opened: OpenedContainer, name: str) -> bool:
    """Tell whether the first line has the name of a column of a known table.

    Whether lines have as many commas says nothing: those of a letter may, too.
    """
    header, _ = _first_rows(opened, delimiter_of(None, name))
    return _is_known(header)


def likely_delimiter(opened: OpenedContainer) -> str:
    """Return the delimiter by which the first lines of a text are a known table.

    It is not the comma, cuts the header and the first row alike, and the header
    has the name of a column of a known table; "" if there is none.
    """
    for delimiter in DELIMITERS:
        header, first = _first_rows(opened, delimiter)
        is_even = len(header) == len(first) > 1
        if delimiter != COMMA and is_even and _is_known(header):
            return delimiter
    found = _wide(opened)
    line = opened.buffer.data.partition(b"\n")[0].decode(errors="replace").strip()
    return found if found and _is_known(line.split(found)) else ""


def _is_known(header: Iterable[str]) -> bool:
    """Tell whether a header has the name of a column of a known table."""
    variants = variants_of(all_formats().values(), Layout.TEXT)
    tables = [variant.format for variant in variants if variant.format.adapter]
    return any(set(header) & set(adapter_of(table).columns) for table in tables)


def table_sample(opened: OpenedContainer, delimiter: str) -> Sample:
    """Return the first row below the header, its fields by their columns."""
    header, first = _first_rows(opened, delimiter)
    # Fields that are missing are blank.
    row = dict(zip(header, [*first, *[""] * len(header)], strict=False))
    return Sample(
        Layout.TEXT,
        (row,) if header else (),
        delimiter=delimiter,
        other_delimiter="" if len(header) > 1 else _other(opened, delimiter),
    )


def _other(opened: OpenedContainer, delimiter: str) -> str:
    """Return the delimiter that cuts the header and the first row alike, or ""."""
    for other in DELIMITERS:
        header, first = _first_rows(opened, other)
        if other != delimiter and len(header) == len(first) > 1:
            return other
    return _wide(opened)


def _wide(opened: OpenedContainer) -> str:
    """Return the delimiter of full width of the first lines, "" if there is none."""
    is_cut = opened.buffer.fill(SAMPLE_BYTES // 8)
    found = wide_delimiter(opened.buffer.data, _is_known, is_cut=is_cut)
    opened.buffer.put_back(WINDOW)
    return found


def _first_rows(opened: OpenedContainer, delimiter: str) -> tuple[list[str], list[str]]:
    """Return the fields of the header and of the first row below it."""
    from harpia_formats.files.parsing.csv_pieces import TableBlank, TableRow  # noqa: PLC0415 - only tables need it
    from harpia_formats.files.parsing.csv_records import table_rows  # noqa: PLC0415 - only tables need it

    opened.buffer.fill(SAMPLE_BYTES // 8)
    copy = ByteBuffer(iter(()), opened.buffer.data)
    pieces = table_rows(copy, opened.start, len(copy.data), delimiter)
    lines = (piece for piece in pieces if not isinstance(piece, TableBlank))
    texts = [
        [field.text for field in piece.fields] if isinstance(piece, TableRow) else []
        for piece in islice(lines, 2)
    ]
    opened.buffer.put_back(WINDOW)
    header, first = [*texts, [], []][:2]
    return header, first
