"""Put rows together to a file: lines, an array, an object around one, columns, a table.

Rows come as JSON texts. What cannot be written before all rows are known goes through
temporary files, so memory does not grow with them.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Protocol

import msgspec

from harpia_formats.io.reader import BLOCK
from harpia_formats.mapping.columns import check_columns_unique
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode, encode_lines

#: Bytes that a temporary file holds in memory.
HELD = 1024 * 1024
_size = struct.Struct("<I")
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

Write = Callable[[bytes], None]


def _held() -> IO[bytes]:
    """Return a temporary file; whoever copies it closes it."""
    return SpooledTemporaryFile(HELD)


class Writer(Protocol):
    """Puts rows together."""

    #: What stands between two rows of one block.
    separator: bytes

    def block(self, rows: Iterable[bytes]) -> None:
        """Write some rows in pieces; `separator` sets the rows apart."""

    def close(self, header: Row) -> None:
        """Write what is behind the rows, and around them."""

    def drop(self) -> None:
        """Let go of what is not written."""


@dataclass(slots=True)
class Lines:
    """Each row is a line; the header, if there is one, is in the first."""

    write: Write
    #: Whether a header may come, so that the first row has to wait for it.
    headed: bool = False
    separator: bytes = b"\n"
    _waiting: "_Waiting | None" = None

    def block(self, rows: Iterable[bytes]) -> None:
        """Write some lines."""
        if not self.headed:
            # Each by itself, as rows are large and a copy of them would cost more.
            for each in rows:
                self.write(each)
            self.write(b"\n")
        elif self._waiting is None:
            self._waiting = _Waiting(b"".join(rows), self.separator)
        else:
            self._waiting.add(rows)

    def close(self, header: Row) -> None:
        """Write the first row with the header, and the rows behind it."""
        if self._waiting is not None:
            self._waiting.copy(self.write, header)
            self.write(b"\n")

    def drop(self) -> None:
        """Let go of the rows that wait for the header."""
        if self._waiting is not None:
            self._waiting.drop()


class _Waiting:
    """Rows that wait for the header, which the first of them gets."""

    def __init__(self, rows: bytes, separator: bytes) -> None:
        self._separator = separator
        self._first, _, later = rows.partition(separator)
        self._later: IO[bytes] = _held()
        if later:
            self.add([later])

    def add(self, rows: Iterable[bytes]) -> None:
        """Take further rows."""
        self._later.write(self._separator)
        self._later.writelines(rows)

    def copy(self, write: Write, header: Row) -> None:
        """Write all rows, the first with `header` if there is one."""
        first = self._first
        if header:
            first = first[:-1] + b',"header":' + encode(header) + b"}"
        write(first)
        _copy(self._later, write)

    def drop(self) -> None:
        """Let go of all rows."""
        self._later.close()


@dataclass(slots=True)
class Array:
    """All rows are one array, one in each line; the header is in the first."""

    write: Write
    #: Whether a header may come, so that the first row has to wait for it.
    headed: bool = False
    separator: bytes = b",\n"
    _begun: bool = False
    _waiting: "_Waiting | None" = None

    def block(self, rows: Iterable[bytes]) -> None:
        """Write some items."""
        if not self.headed:
            self.write(b",\n" if self._begun else b"[\n")
            for each in rows:
                self.write(each)
        elif self._waiting is None:
            self._waiting = _Waiting(b"".join(rows), self.separator)
        else:
            self._waiting.add(rows)
        self._begun = True

    def close(self, header: Row) -> None:
        """Close the array."""
        if self._waiting is not None:
            self.write(b"[\n")
            self._waiting.copy(self.write, header)
        self.write(b"\n]\n" if self._begun else b"[]\n")

    def drop(self) -> None:
        """Let go of the rows that wait for the header."""
        if self._waiting is not None:
            self._waiting.drop()


@dataclass(slots=True)
class Wrapped:
    """An object around an array of all rows, the header behind it."""

    write: Write
    #: The key of the array.
    rows_at: str
    separator: bytes = b",\n"
    _begun: bool = False

    def block(self, rows: Iterable[bytes]) -> None:
        """Write some items."""
        start = b"{" + encode(self.rows_at) + b": [\n"
        self.write(b",\n" if self._begun else start)
        for each in rows:
            self.write(each)
        self._begun = True

    def close(self, header: Row) -> None:
        """Close the array, and write the members of the header."""
        end = b"\n]" if self._begun else b"{" + encode(self.rows_at) + b": []"
        for key, value in header.items():
            end += b",\n" + encode(key) + b": " + encode(value)
        self.write(end + b"\n}\n")

    def drop(self) -> None:
        """Hold nothing, and so do nothing."""


@dataclass(slots=True)
class Columns:
    """An object of arrays, one for each key of the rows; null where a row has none."""

    write: Write
    #: What a column is called in the file, if something else.
    names: Mapping[str, str] = field(default_factory=dict)
    separator: bytes = b"\n"
    _columns: dict[str, "_Column"] = field(default_factory=dict)
    _rows: int = 0

    def block(self, rows: Iterable[bytes]) -> None:
        """Take the items of some rows."""
        for each in b"".join(rows).split(b"\n"):
            for key, item in _members(each).items():
                column = self._columns.get(key)
                if column is None:
                    column = self._columns[key] = _Column()
                column.add(bytes(item), self._rows)
            self._rows += 1

    def close(self, header: Row) -> None:
        """Write the columns, below the name of the component if there is one."""
        called = [self.names.get(each, each) for each in self._columns]
        check_columns_unique(called)
        component = header.get("component")
        self.write(b"{" if component is None else b"{" + encode(component) + b": {")
        for number, (key, column) in enumerate(
            zip(called, self._columns.values(), strict=True)
        ):
            self.write((b",\n" if number else b"\n") + encode(key) + b": [")
            column.copy(self.write, self._rows)
            self.write(b"]")
        self.write(b"\n}\n" if component is None else b"\n}}\n")

    def drop(self) -> None:
        """Let go of the items of all columns."""
        for each in self._columns.values():
            each.file.close()


@dataclass(slots=True)
class _Column:
    """The items of a column, in a temporary file."""

    file: IO[bytes] = field(default_factory=_held)
    items: int = 0

    def add(self, item: bytes, place: int) -> None:
        """Take the item of the row at `place`; rows passed over have null."""
        self.fill(place)
        self.file.write((b", " if self.items else b"") + item)
        self.items += 1

    def fill(self, rows: int) -> None:
        """Have an item for each of the first `rows` rows."""
        while (missing := min(rows - self.items, 10_000)) > 0:
            nulls = b", ".join([b"null"] * missing)
            self.file.write((b", " if self.items else b"") + nulls)
            self.items += missing

    def copy(self, write: Write, rows: int) -> None:
        """Write all items."""
        self.fill(rows)
        _copy(self.file, write)


@dataclass(slots=True)
class Table:
    """Lines of fields below the names of the columns, which are known at the end."""

    write: Write
    #: Columns in their order; others come behind them as they turn up.
    order: Sequence[str] = ()
    #: Columns that are there even if no row has them.
    always: Sequence[str] = ()
    #: Columns that are there wherever another one is, by that.
    beside: Mapping[str, str] = field(default_factory=dict)
    #: What a column is called in the file, if something else.
    names: dict[str, str] = field(default_factory=dict)
    #: Whether an empty text is told from none by quotes.
    quotes_empty: bool = False
    separator: bytes = b"\n"
    _seen: dict[str, None] = field(default_factory=dict)
    _rows: IO[bytes] | None = None

    def block(self, rows: Iterable[bytes]) -> None:
        """Take some rows."""
        if self._rows is None:
            self._rows = SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed by `drop`
        for each in b"".join(rows).split(b"\n"):
            row = msgspec.json.decode(each)
            self._seen.update(dict.fromkeys(row))
            self._rows.write(_size.pack(len(each)) + each)

    def close(self, header: Row) -> None:  # noqa: ARG002 - a table has no header of ours
        """Write the header and the rows."""
        beside = [each for one, each in self.beside.items() if one in self._seen]
        there = {*self._seen, *self.always, *beside}
        known = [each for each in self.order if each in there]
        columns = [*known, *(each for each in self._seen if each not in known)]
        called = [self.names.get(each, each) for each in columns]
        check_columns_unique(called)
        self.write(self._line(called))
        if self._rows is None:
            return
        self._rows.seek(0)
        for each in _sized(self._rows):
            row = msgspec.json.decode(each)
            self.write(self._line([row.get(column) for column in columns]))
        self.drop()

    def drop(self) -> None:
        """Let go of the rows."""
        if self._rows is not None:
            self._rows.close()

    def _line(self, texts: Iterable[str | None]) -> bytes:
        cells = [self._cell(each) for each in texts]
        # A line with nothing on it would not be a row.
        line = ",".join(cells) or '""'
        return line.encode() + b"\n"

    def _cell(self, text: str | None) -> str:
        if text is None:
            return ""
        if text == "":
            return '""' if self.quotes_empty else ""
        if any(each in text for each in ',"\r\n\0'):
            return '"' + text.replace('"', '""') + '"'
        return text


def _sized(file: IO[bytes]) -> Iterator[bytes]:
    while size := file.read(_size.size):
        yield file.read(_size.unpack(size)[0])


def _copy(file: IO[bytes], write: Write) -> None:
    file.seek(0)
    for block in iter(lambda: file.read(BLOCK), b""):
        write(block)
    file.close()


def ended(rows: Sequence[Any], separator: bytes) -> bytes:
    """Return rows as one block, with `separator` behind each of them."""
    if separator == b"\n":
        return encode_lines(rows)
    return separator.join([*map(encode, rows), b""])


def joined(rows: Iterable[Any], separator: bytes) -> bytes:
    """Return rows as one block."""
    return separator.join(map(encode, rows))
