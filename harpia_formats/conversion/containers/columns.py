"""Write rows as columns: an object with an array for each key of the rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO

import msgspec

from harpia_formats.conversion.containers.row_writer import (
    WriteBytes,
    copy_spooled,
    spool,
)
from harpia_formats.mapping.columns import check_columns_unique
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode

#: Nulls that are written at once where many rows lack a column.
NULLS = 10_000
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@dataclass(slots=True)
class ColumnWriter:
    """Writes an array for each key of the rows; a row without the key has null."""

    write: WriteBytes
    #: The name of a column in the file by its key, where they differ.
    names: Mapping[str, str] = field(default_factory=dict)
    separator: bytes = b"\n"
    _columns: dict[str, "_Column"] = field(default_factory=dict)
    _rows: int = 0

    def block(self, rows: Iterable[bytes]) -> None:
        """Add the values of some rows to their columns."""
        for row in b"".join(rows).split(b"\n"):
            for key, item in _decode_members(row).items():
                column = self._columns.get(key)
                if column is None:
                    column = self._columns[key] = _Column()
                column.add(bytes(item), self._rows)
            self._rows += 1

    def close(self, header: Row) -> None:
        """Write all columns, below the component's name if `header` has one.

        Raises `MapError` if two columns have one name.
        """
        names = [self.names.get(key, key) for key in self._columns]
        check_columns_unique(names)
        component = header.get("component")
        self.write(b"{" if component is None else b"{" + encode(component) + b": {")
        for number, (name, column) in enumerate(
            zip(names, self._columns.values(), strict=True)
        ):
            self.write((b",\n" if number else b"\n") + encode(name) + b": [")
            column.copy(self.write, self._rows)
            self.write(b"]")
        self.write(b"\n}\n" if component is None else b"\n}}\n")

    def discard(self) -> None:
        """Drop the values of all columns."""
        for column in self._columns.values():
            column.file.close()


@dataclass(slots=True)
class _Column:
    """The items of one column, in a temporary file."""

    file: IO[bytes] = field(default_factory=spool)
    items: int = 0

    def add(self, item: bytes, row: int) -> None:
        """Add the item of the row with index `row`, and null for rows before it."""
        self.fill(row)
        self.file.write((b", " if self.items else b"") + item)
        self.items += 1

    def fill(self, rows: int) -> None:
        """Add nulls until there are `rows` items."""
        while (missing := min(rows - self.items, NULLS)) > 0:
            nulls = b", ".join([b"null"] * missing)
            self.file.write((b", " if self.items else b"") + nulls)
            self.items += missing

    def copy(self, write: WriteBytes, rows: int) -> None:
        """Write `rows` items, and close the temporary file."""
        self.fill(rows)
        copy_spooled(self.file, write)
