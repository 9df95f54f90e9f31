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
from harpia_formats.mapping.extras import COMPONENT_KEY
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode

#: Nulls that are written at once where many rows lack a column.
NULLS = 10_000
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@dataclass(slots=True)
class ColumnWriter:
    """Writes an array for each key of the rows; a row without the key has null.

    Rows of several components are written as one object of arrays for each.
    """

    write: WriteBytes
    #: The name of a column in the file by its key, where they differ.
    names: Mapping[str, str] = field(default_factory=dict)
    separator: bytes = b"\n"
    #: The columns of each component by its encoded name, b"" for rows without one.
    _components: dict[bytes, "_Columns"] = field(default_factory=dict)

    def block(self, rows: Iterable[bytes]) -> None:
        """Add the values of some rows to their columns."""
        for row in b"".join(rows).split(b"\n"):
            members = _decode_members(row)
            name = bytes(members.get(COMPONENT_KEY, b""))
            if name.startswith(b'"'):
                del members[COMPONENT_KEY]
            else:
                name = b""
            columns = self._components.get(name)
            if columns is None:
                columns = self._components[name] = _Columns()
            columns.add(members)

    def close(self, header: Row) -> None:
        """Write all columns, below the component's name if `header` has one.

        Raises `MapError` if two columns have one name.
        """
        # Rows without a component, beside others, are those of the header's.
        component = header.get("component", "component" if self._is_named else None)
        if component is None:
            self._write_columns(self._components.get(b"", _Columns()))
            self.write(b"\n")
            return
        name = encode(component)
        named = {key or name: columns for key, columns in self._components.items()}
        for number, (key, columns) in enumerate((named or {name: _Columns()}).items()):
            self.write((b",\n" if number else b"{") + key + b": ")
            self._write_columns(columns)
        self.write(b"}\n")

    @property
    def _is_named(self) -> bool:
        return any(self._components)

    def _write_columns(self, columns: "_Columns") -> None:
        """Write the columns of one component as an object of arrays."""
        names = [self.names.get(key, key) for key in columns.by_key]
        check_columns_unique(names)
        self.write(b"{")
        for number, (name, column) in enumerate(
            zip(names, columns.by_key.values(), strict=True)
        ):
            self.write((b",\n" if number else b"\n") + encode(name) + b": [")
            column.copy(self.write, columns.rows)
            self.write(b"]")
        self.write(b"\n}")

    def discard(self) -> None:
        """Drop the values of all columns."""
        for columns in self._components.values():
            for column in columns.by_key.values():
                column.file.close()


@dataclass(slots=True)
class _Columns:
    """The columns of one component."""

    by_key: dict[str, "_Column"] = field(default_factory=dict)
    rows: int = 0

    def add(self, members: Mapping[str, msgspec.Raw]) -> None:
        """Add a row."""
        for key, item in members.items():
            column = self.by_key.get(key)
            if column is None:
                column = self.by_key[key] = _Column()
            column.add(bytes(item), self.rows)
        self.rows += 1


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
