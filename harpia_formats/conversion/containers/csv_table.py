"""Write rows as a table in CSV, whose columns are known only at the end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO

from harpia_formats.conversion.containers.csv_lines import TableEncoder, with_columns
from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    WriteBytes,
    spool,
)
from harpia_formats.mapping.columns import check_columns_unique
from harpia_formats.model.adapter import Row


@dataclass(slots=True)
class CsvWriter:
    """Writes a line of column names, and a line of cells for each row."""

    write: WriteBytes
    encoder: TableEncoder = field(default_factory=TableEncoder)
    #: The name of a column in the file by its key, where they differ.
    names: Mapping[str, str] = field(default_factory=dict)
    #: Each block in the temporary file: its size (bytes), rows and columns.
    _blocks: list[tuple[int, int, tuple[str, ...]]] = field(default_factory=list)
    _lines: IO[bytes] | None = None

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Keep some lines in a temporary file."""
        if self._lines is None:
            self._lines = spool()
        for block in blocks:
            if block.columns != self.encoder.known:
                self.encoder = self.encoder.with_known(block.columns)
            (lines,) = block.texts
            self._lines.write(lines)
            self._blocks.append((len(lines), block.count, block.columns))

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
        self._lines.seek(0)
        for size, count, own in self._blocks:
            block = EncodedRows(count, (self._lines.read(size),), own)
            self.write(with_columns(block, columns))
        self.discard()

    def discard(self) -> None:
        """Drop the rows."""
        if self._lines is not None:
            self._lines.close()
