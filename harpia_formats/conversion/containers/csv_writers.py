"""Write rows as a table in CSV or TSV, many rows at once."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import cast

from msgspec import Struct, field
from msgspec.structs import replace

from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    WriteBytes,
    items_of,
    spool,
)
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.files.parsing.csv_delimiter import COMMA
from harpia_formats.model.adapter import Row
from harpia_formats.model.column_map import check_columns_unique
from harpia_formats.model.safe_text import marked

#: What stands for an empty line, which no reader would take for a row.
_BLANK_LINE = '""'


class TableEncoder(Struct, frozen=True):
    """Returns rows of texts as lines of cells; a text that is None is absent.

    The line of a row without any cell in a table of one column is empty: `with_columns`
    puts it right, since the table may get more columns.
    """

    #: Columns in their order; others follow in the order in which rows have them.
    order: Sequence[str] = ()
    #: Columns that the table has even if no row has them.
    required: Sequence[str] = ()
    #: Columns that the table has if it has another one, by the name of that one.
    implied: Mapping[str, str] = field(default_factory=dict)
    #: Whether empty text is written as `""`, and only an absent value as nothing.
    quotes_empty: bool = False
    #: Whether texts that a spreadsheet would run get a mark.
    csv_safe: bool = False
    #: The character between the cells of a line.
    delimiter: str = COMMA
    #: The columns of earlier rows of the same file. A block that has all columns of the
    #: file is copied as it is.
    known: tuple[str, ...] = ()

    def __call__(self, rows: Sequence[Row]) -> list[EncodedRows]:
        """Return rows as one block, with the columns that are known and its own."""
        columns = self.known
        if not columns or not set().union(*rows).issubset(columns):
            columns = self.columns_of(chain(columns, *rows))
        cells = [self._cells(items_of(column, rows)) for column in columns or ("",)]
        lines = [*map(self.delimiter.join, zip(*cells, strict=True)), ""]
        # Each line by itself: a character beyond ASCII slows down all text around it.
        text = b"\n".join(map(str.encode, lines))
        return [EncodedRows(len(rows), (text,), columns)]

    def columns_of(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the columns of a table whose rows have `keys`, in their order."""
        own = dict.fromkeys(keys)
        present = {*own, *self.required}
        # An implied column can imply a further one: the columns of a table that is read
        # back as `known` must be the same again.
        implied = self.implied
        while new := {implied[key] for key in present & implied.keys()} - present:
            present |= new
        ordered = dict.fromkeys(column for column in self.order if column in present)
        return tuple(ordered | own)

    def with_known(self, columns: Iterable[str]) -> "TableEncoder":
        """Return an encoder for later rows of a table that has `columns`, too."""
        known = self.columns_of(chain(self.known, columns))
        return self if known == self.known else replace(self, known=known)

    def line(self, texts: Iterable[str | None]) -> bytes:
        """Return one line of texts, such as the names of columns."""
        cells = self._cells([*texts])
        return (self.delimiter.join(cells) or _BLANK_LINE).encode() + b"\n"

    def _cells(self, texts: list[str | None]) -> list[str]:
        """Return the cells with some texts."""
        if self.csv_safe:
            texts = [text and marked(text) for text in texts]
        # Most columns have no cell in quotes, and none that is empty: to look at all
        # cells together costs less than to look at each.
        delimiter = self.delimiter
        if _needs_quotes("".join(filter(None, texts)), delimiter):
            texts = [
                '"' + text.replace('"', '""') + '"'
                if text and _needs_quotes(text, delimiter)
                else text
                for text in texts
            ]
        if all(texts):
            return cast("list[str]", texts)
        empty = _BLANK_LINE if self.quotes_empty else ""
        return [text or ("" if text is None else empty) for text in texts]


@cache
def _cell_pattern(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a cell with the delimiter or the line end behind it."""
    end = re.escape(delimiter.encode())
    return re.compile(rb'((?:"[^"]*+")*+[^"\n%b]*+)[\n%b]' % (end, end))


def with_columns(
    block: EncodedRows, columns: Sequence[str], delimiter: str = COMMA
) -> bytes:
    """Return the lines of a block in a table with `columns`, which has all of its own.

    The cells of other columns are empty; `delimiter` stands between the cells.
    """
    (lines,) = block.texts
    if block.columns == columns and (len(columns) > 1 or not _has_empty_line(lines)):
        return lines
    cells = _cell_pattern(delimiter).findall(lines)
    width = len(block.columns) or 1
    by_column = {column: cells[at::width] for at, column in enumerate(block.columns)}
    absent = [b""] * block.count
    found = [by_column.get(column, absent) for column in columns or ("",)]
    blank, between = _BLANK_LINE.encode(), delimiter.encode()
    padded = [line or blank for line in map(between.join, zip(*found, strict=True))]
    return b"\n".join([*padded, b""])


def _has_empty_line(lines: bytes) -> bool:
    """Tell whether there may be an empty line; a cell can have one, too."""
    return lines.startswith(b"\n") or b"\n\n" in lines


def _needs_quotes(text: str, delimiter: str) -> bool:
    """Tell whether a text can be a cell in quotes only."""
    return (
        delimiter in text or "\n" in text or '"' in text or "\r" in text or "\0" in text
    )


#: Bytes of lines that are read and changed together, except for the last block.
RUN_BYTES = 256 * 1024


#: Numbers of runs that are in memory.
_NUMBERS_HELD = 3 * 1024


class CsvWriter(Struct):
    """Writes a line of column names, and a line of cells for each row."""

    write: WriteBytes
    encoder: TableEncoder = field(default_factory=TableEncoder)
    #: The name of a column in the file by its key, where they differ.
    names: Mapping[str, str] = field(default_factory=dict)
    #: The numbers of the columns that blocks have.
    _layouts: dict[tuple[str, ...], int] = field(default_factory=dict)
    #: All lines, and what is known of each run of lines that have the same columns: the
    #: number of these, the bytes and the number of the lines.
    _lines: FixedRecords | None = None
    _runs: FixedRecords = field(
        default_factory=lambda: FixedRecords("Q", _NUMBERS_HELD)
    )
    #: The same of the last run.
    _last: list[int] = field(default_factory=lambda: [0, 0, 0])

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Keep some lines in a temporary file."""
        if self._lines is None:
            self._lines = spool()
        for block in blocks:
            if block.columns != self.encoder.known:
                self.encoder = self.encoder.with_known(block.columns)
            (lines,) = block.texts
            self._lines.extend_bytes(lines)
            layout = self._layouts.setdefault(block.columns, len(self._layouts))
            if layout != self._last[0] or self._last[1] >= RUN_BYTES:
                self._runs.extend(self._last)
                self._last = [layout, 0, 0]
            self._last[1] += len(lines)
            self._last[2] += block.count

    def close(self, header: Row) -> None:  # noqa: ARG002 - a table has no place for it
        """Write the names of the columns and all rows.

        Raises `MapError` if two columns have one name.
        """
        columns = self.encoder.known or self.encoder.columns_of(())
        names = [self.names.get(column, column) for column in columns]
        check_columns_unique(names)
        self.write(self.encoder.line(names))
        if self._lines is None:
            return
        if self._layouts:
            self._runs.extend(self._last)
        layouts, numbers, begin = [*self._layouts], iter(self._runs), 0
        for layout, size, count in zip(numbers, numbers, numbers, strict=True):
            lines = self._lines.read(begin, size).tobytes()
            begin += size
            block = EncodedRows(count, (lines,), layouts[layout])
            self.write(with_columns(block, columns, self.encoder.delimiter))
        self.discard()

    def discard(self) -> None:
        """Drop the rows."""
        self._runs.close()
        if self._lines is not None:
            self._lines.close()
