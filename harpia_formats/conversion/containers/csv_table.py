"""Write rows as a table in CSV, whose columns are known only at the end."""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

import msgspec

from harpia_formats.conversion.containers.row_writer import WriteBytes, spool
from harpia_formats.mapping.columns import check_columns_unique
from harpia_formats.model.adapter import Row

_size = struct.Struct("<I")


@dataclass(slots=True)
class CsvWriter:
    """Writes a line of column names, and a line of cells for each row."""

    write: WriteBytes
    #: Columns in their order; others follow in the order in which rows have them.
    order: Sequence[str] = ()
    #: Columns that the table has even if no row has them.
    required: Sequence[str] = ()
    #: Columns that the table has if it has another one, by the name of that one.
    implied: Mapping[str, str] = field(default_factory=dict)
    #: The name of a column in the file by its key, where they differ.
    names: dict[str, str] = field(default_factory=dict)
    #: Whether empty text is written as `""`, and only an absent value as nothing.
    quotes_empty: bool = False
    separator: bytes = b"\n"
    _keys: dict[str, None] = field(default_factory=dict)
    _rows: IO[bytes] | None = None

    def block(self, rows: Iterable[bytes]) -> None:
        """Keep some rows in a temporary file."""
        if self._rows is None:
            self._rows = spool()
        for text in b"".join(rows).split(b"\n"):
            row = msgspec.json.decode(text)
            self._keys.update(dict.fromkeys(row))
            self._rows.write(_size.pack(len(text)) + text)

    def close(self, header: Row) -> None:  # noqa: ARG002 - a table has no place for it
        """Write the names of the columns and all rows.

        Raises `MapError` if two columns have one name.
        """
        implied = [column for key, column in self.implied.items() if key in self._keys]
        present = {*self._keys, *self.required, *implied}
        known = [column for column in self.order if column in present]
        columns = [*known, *(key for key in self._keys if key not in known)]
        names = [self.names.get(column, column) for column in columns]
        check_columns_unique(names)
        self.write(self._line(names))
        if self._rows is None:
            return
        self._rows.seek(0)
        for text in _sized_texts(self._rows):
            row = msgspec.json.decode(text)
            self.write(self._line([row.get(column) for column in columns]))
        self.discard()

    def discard(self) -> None:
        """Drop the rows."""
        if self._rows is not None:
            self._rows.close()

    def _line(self, texts: Iterable[str | None]) -> bytes:
        cells = [self._cell(text) for text in texts]
        # An empty line would not be read as a row.
        line = ",".join(cells) or '""'
        return line.encode() + b"\n"

    def _cell(self, text: str | None) -> str:
        if text is None:
            return ""
        if text == "":
            return '""' if self.quotes_empty else ""
        if any(character in text for character in ',"\r\n\0'):
            return '"' + text.replace('"', '""') + '"'
        return text


def _sized_texts(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the texts of a file in which the size of each is written before it."""
    while size := file.read(_size.size):
        yield file.read(_size.unpack(size)[0])
