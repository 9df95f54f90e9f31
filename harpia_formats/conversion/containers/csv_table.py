"""Write rows as a table in CSV or TSV, whose columns are known only at the end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harpia_formats.conversion.containers.csv_lines import TableEncoder, with_columns
from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    WriteBytes,
    spool,
)
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.adapter import Row
from harpia_formats.model.column_map import check_columns_unique

#: Bytes of lines that are read and changed together, except for the last block.
RUN_BYTES = 256 * 1024


@dataclass(slots=True)
class _Run:
    """The number and the bytes of some lines that have the same columns."""

    columns: tuple[str, ...]
    size: int = 0
    count: int = 0


@dataclass(slots=True)
class CsvWriter:
    """Writes a line of column names, and a line of cells for each row."""

    write: WriteBytes
    encoder: TableEncoder = field(default_factory=TableEncoder)
    #: The name of a column in the file by its key, where they differ.
    names: Mapping[str, str] = field(default_factory=dict)
    #: What is in the temporary file.
    _runs: list["_Run"] = field(default_factory=list)
    #: The columns of blocks, by themselves.
    _layouts: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    _lines: FixedRecords | None = None

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Keep some lines in a temporary file."""
        if self._lines is None:
            self._lines = spool()
        for block in blocks:
            if block.columns != self.encoder.known:
                self.encoder = self.encoder.with_known(block.columns)
            (lines,) = block.texts
            self._lines.extend_bytes(lines)
            run = self._runs[-1] if self._runs else None
            if run is None or run.columns != block.columns or run.size >= RUN_BYTES:
                # Blocks of other processes have equal columns that are not the same.
                columns = self._layouts.setdefault(block.columns, block.columns)
                run = _Run(columns)
                self._runs.append(run)
            run.size += len(lines)
            run.count += block.count

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
        begin = 0
        for run in self._runs:
            lines = self._lines.read(begin, run.size).tobytes()
            begin += run.size
            block = EncodedRows(run.count, (lines,), run.columns)
            self.write(with_columns(block, columns, self.encoder.delimiter))
        self.discard()

    def discard(self) -> None:
        """Drop the rows."""
        if self._lines is not None:
            self._lines.close()
