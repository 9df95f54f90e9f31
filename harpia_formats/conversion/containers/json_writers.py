"""Write rows in JSON: as lines, as the items of an array, or as columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    RowEncoder,
    WriteBytes,
    copy_spooled,
    encode_rows,
    items_of,
    keys_of,
    spool,
)
from harpia_formats.conversion.mapping.extra_fields import COMPONENT_KEY
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.adapter import Row
from harpia_formats.model.column_map import check_columns_unique
from harpia_formats.model.exact_json import encode, encode_lines


class LineWriter(Struct):
    """Writes each row as a line; a header becomes a member of the first row."""

    write: WriteBytes
    #: Whether a header may follow, so that the first row has to wait for it.
    headed: bool = False
    encoder: RowEncoder = encode_rows
    _waiting: "WaitingRows | None" = None

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Write some lines, or keep them until the header is known."""
        for block in blocks:
            (lines,) = block.texts
            if not self.headed:
                self.write(lines)
            elif self._waiting is None:
                self._waiting = WaitingRows(lines)
            else:
                self._waiting.add(lines)

    def close(self, header: Row) -> None:
        """Write the rows that waited for `header`, the first of them with it."""
        if self._waiting is not None:
            self._waiting.copy(self.write, header)

    def discard(self) -> None:
        """Drop the rows that wait for the header."""
        if self._waiting is not None:
            self._waiting.discard()


class WaitingRows:
    """Lines in a temporary file that wait for the header of their data set."""

    def __init__(self, lines: bytes) -> None:
        self._first, _, later = lines.partition(b"\n")
        self._later = spool()
        self.add(later)

    def add(self, lines: bytes) -> None:
        """Keep further lines."""
        self._later.extend_bytes(lines)

    def copy(self, write: WriteBytes, header: Row) -> None:
        """Write all lines, the first of them with `header` unless that is empty."""
        first = self._first
        if header:
            first = first[:-1] + b',"header":' + encode(header) + b"}"
        write(first + b"\n")
        copy_spooled(self._later, write)

    def discard(self) -> None:
        """Drop all lines."""
        self._later.close()


class _Items(Struct):
    """Writes lines of JSON as the items of an array."""

    write: WriteBytes
    #: What stands before the next piece.
    before: bytes
    has_any: bool = False

    def add(self, piece: bytes) -> None:
        """Write a piece of the lines, which may end inside of a line."""
        if not piece:
            return
        # No row has a newline inside: in JSON texts it is escaped.
        items = piece.replace(b"\n", b",\n")
        is_end = piece.endswith(b"\n")
        self.write(self.before)
        self.write(items[:-2] if is_end else items)
        self.before = b",\n" if is_end else b""
        self.has_any = True


@dataclass(slots=True)
class ArrayWriter:
    """Writes one array with a row on each line; a header goes into the first row."""

    write: WriteBytes
    #: Whether a header may follow, so that the first row has to wait for it.
    headed: bool = False
    encoder: RowEncoder = encode_rows
    _items: _Items = field(init=False)
    _waiting: WaitingRows | None = None

    def __post_init__(self) -> None:
        self._items = _Items(self.write, b"[\n")

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Write some items, or keep them until the header is known."""
        for block in blocks:
            (lines,) = block.texts
            if not self.headed:
                self._items.add(lines)
            elif self._waiting is None:
                self._waiting = WaitingRows(lines)
            else:
                self._waiting.add(lines)

    def close(self, header: Row) -> None:
        """Write the rows that waited for `header`, and close the array."""
        if self._waiting is not None:
            self._waiting.copy(self._items.add, header)
        self.write(b"\n]\n" if self._items.has_any else b"[]\n")

    def discard(self) -> None:
        """Drop the rows that wait for the header."""
        if self._waiting is not None:
            self._waiting.discard()


@dataclass(slots=True)
class WrappedArrayWriter:
    """Writes an object around an array of all rows, with the header behind it."""

    write: WriteBytes
    #: The key of the array.
    rows_at: str
    encoder: RowEncoder = encode_rows
    _items: _Items = field(init=False)

    def __post_init__(self) -> None:
        start = b"{" + encode(self.rows_at) + b": [\n"
        self._items = _Items(self.write, start)

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Write some items of the array."""
        for block in blocks:
            self._items.add(block.texts[0])

    def close(self, header: Row) -> None:
        """Close the array, and write the members of `header` behind it."""
        is_empty = not self._items.has_any
        end = b"{" + encode(self.rows_at) + b": []" if is_empty else b"\n]"
        for key, value in header.items():
            end += b",\n" + encode(key) + b": " + encode(value)
        self.write(end + b"\n}\n")

    def discard(self) -> None:
        """Do nothing: no row is kept."""


#: Nulls that are written at once where many rows lack a column.
NULLS = 10_000


def encode_columns(rows: Sequence[Row]) -> list[EncodedRows]:
    """Return rows as a block for each of their components."""
    keys = keys_of(rows)
    if COMPONENT_KEY not in keys:
        return [_block(None, keys, rows)] if rows else []
    components: dict[str | None, list[Row]] = {}
    for row in rows:
        name = row.get(COMPONENT_KEY)
        components.setdefault(name if isinstance(name, str) else None, []).append(row)
    blocks = []
    for component, members in components.items():
        keys = keys_of(members)
        if component is not None:
            del keys[COMPONENT_KEY]
        blocks.append(_block(component, keys, members))
    return blocks


def _block(
    component: str | None, keys: Iterable[str], rows: Sequence[Row]
) -> EncodedRows:
    """Return the items that rows of one component have for `keys`, or else null."""
    # No item has a newline inside: in JSON texts it is escaped.
    texts = tuple(
        encode_lines(items_of(key, rows))[:-1].replace(b"\n", b", ") for key in keys
    )
    return EncodedRows(len(rows), texts, tuple(keys), component)


@dataclass(slots=True)
class ColumnWriter:
    """Writes an array for each key of the rows; a row without the key has null.

    Rows of several components are written as one object of arrays for each.
    """

    write: WriteBytes
    #: The name of a column in the file by its key, where they differ.
    names: Mapping[str, str] = field(default_factory=dict)
    encoder: RowEncoder = encode_columns
    #: The columns of each component by its name, None for rows without one.
    _components: dict[str | None, "_Columns"] = field(default_factory=dict)

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Add the values of some rows to their columns."""
        for block in blocks:
            columns = self._components.get(block.component)
            if columns is None:
                columns = self._components[block.component] = _Columns()
            columns.add(block)

    def close(self, header: Row) -> None:
        """Write all columns, below the component's name if `header` has one.

        Raises `MapError` if two columns have one name.
        """
        # Rows without a component, among others, are those of the header's.
        component = header.get("component", "component" if self._is_named else None)
        if component is None:
            self._write_columns(self._components.get(None, _Columns()))
            self.write(b"\n")
            return
        named: dict[str, _Columns] = {}
        for name, columns in self._components.items():
            own = component if name is None else name
            if own in named:  # rows of one file name it, and those of another do not
                named[own].extend(columns)
            else:
                named[own] = columns
        start = b"{"
        for name, columns in (named or {component: _Columns()}).items():
            self.write(start + encode(name) + b": ")
            self._write_columns(columns)
            start = b",\n"
        self.write(b"}\n")

    @property
    def _is_named(self) -> bool:
        return any(name is not None for name in self._components)

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
                column.texts.close()


@dataclass(slots=True)
class _Columns:
    """The columns of one component."""

    by_key: dict[str, "_Column"] = field(default_factory=dict)
    rows: int = 0

    def add(self, block: EncodedRows) -> None:
        """Add some rows."""
        for key, items in zip(block.columns, block.texts, strict=True):
            column = self.by_key.get(key)
            if column is None:
                column = self.by_key[key] = _Column()
            column.add([items], block.count, self.rows)
        self.rows += block.count

    def extend(self, other: "_Columns") -> None:
        """Add the rows of other columns, and close the temporary files of these."""
        for key, column in other.by_key.items():
            column.fill(other.rows)
            mine = self.by_key.setdefault(key, _Column())
            mine.add(column.texts.blocks(), other.rows, self.rows)
            column.texts.close()
        self.rows += other.rows


@dataclass(slots=True)
class _Column:
    """The items of one column, in a temporary file."""

    texts: FixedRecords = field(default_factory=spool)
    count: int = 0

    def add(self, items: Iterable[bytes], count: int, before: int) -> None:
        """Add the items of `count` rows, and null for the `before` rows before them.

        The items are one text, which may be in pieces.
        """
        self.fill(before)
        if self.count:
            self.texts.extend_bytes(b", ")
        for piece in items:
            self.texts.extend_bytes(piece)
        self.count += count

    def fill(self, rows: int) -> None:
        """Add nulls until there are `rows` items."""
        while (missing := min(rows - self.count, NULLS)) > 0:
            nulls = b", ".join([b"null"] * missing)
            self.texts.extend_bytes((b", " if self.count else b"") + nulls)
            self.count += missing

    def copy(self, write: WriteBytes, rows: int) -> None:
        """Write `rows` items, and close the temporary file."""
        self.fill(rows)
        copy_spooled(self.texts, write)
