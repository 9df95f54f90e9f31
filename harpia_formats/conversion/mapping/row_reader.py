"""Read rows of a format as records, with the extra fields that they may hold."""

from collections.abc import Callable, Mapping
from typing import Any

from harpia_formats.conversion.mapping.extras import (
    has_extras,
    restore_extras,
    split_extras,
)
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.record import Record

#: Returns the record of a row.
ReadRow = Callable[[Row], Record]


#: What stands around the rows of a file of which nothing else is known.
NO_SURROUNDINGS: Mapping[str, Any] = {}
#: The key in what stands around rows of the records by which they are completed: an
#: object whose method `of` returns the record with an id, or None.
PARTNERS = "(partners)"
#: The key in what stands around rows that are true if several rows are one record.
HAS_PARTS = "(parts)"


def row_reader(
    adapter: FormatAdapter,
    dialect: str = "",
    surroundings: Mapping[str, Any] = NO_SURROUNDINGS,
) -> ReadRow:
    """Return the function that returns the record of a row of the `dialect`.

    Without a dialect the rows are as `adapter` writes them. `surroundings` are what
    stands around the rows, as far as the adapter needs it.
    """
    normalize = adapter.dialect_normalizers.get(dialect)
    read, path = adapter.read, adapter.extras_path
    if adapter.reader_in is not None:
        read = adapter.reader_in(surroundings)
    if adapter.join is not None and PARTNERS in surroundings:
        read = _joined(read, adapter.join, surroundings[PARTNERS].of)
    if normalize is None and path is None:
        return read

    def read_row(row: Row) -> Record:
        if normalize is not None:
            row = normalize(row)
        if path is None or not has_extras(row, path):
            return read(row)
        bare, kept = split_extras(row, adapter)
        return restore_extras(read(bare), kept)

    return read_row


def _joined(
    read: ReadRow,
    join: Callable[[Record, Record], Record],
    partner_of: Callable[[Any], Record | None],
) -> ReadRow:
    """Return the function that reads a row with the record that has its id."""

    def read_joined(row: Row) -> Record:
        record = read(row)
        partner = partner_of(record.id)
        return record if partner is None else join(record, partner)

    return read_joined
