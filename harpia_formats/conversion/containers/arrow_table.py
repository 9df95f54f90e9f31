"""Write records as a table in Parquet, Arrow or Feather, a column for each field."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    RowEncoder,
    WriteBytes,
    encode_rows,
)
from harpia_formats.files.arrow.tables import (
    batch_of_rows,
    load_pyarrow,
    record_schema,
    require_pyarrow,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode, encode

#: The most rows of a row group, and the bytes of JSON after which one ends: the table
#: is the same however its rows arrive.
GROUP_ROWS = 65_536
GROUP_BYTES = 8 * 1024 * 1024
#: Rows that become columns together.
BATCH_ROWS = 500
BATCH_BYTES = 1024 * 1024
#: Suffixes of files that are written in Arrow's own format, which Feather is, too.
_arrow_suffixes = frozenset({".arrow", ".feather"})


def table_writer(write: WriteBytes, suffix: str) -> "TableWriter":
    """Return what writes a file with this suffix: Parquet, unless it is Arrow's.

    Raises `MissingPyarrow` if it is not installed.
    """
    require_pyarrow()
    return TableWriter(write, _arrow if suffix in _arrow_suffixes else _parquet)


@dataclass(slots=True)
class TableWriter:
    """Writes rows in row groups of bounded size; a header goes into the last row."""

    write: WriteBytes
    #: Given a file: what writes tables with `write_table` and `close`.
    open: Callable[[Any], Any]
    encoder: RowEncoder = encode_rows
    #: Lines that are not columns yet, and their bytes.
    _lines: list[bytes] = field(default_factory=list)
    _line_bytes: int = 0
    #: The columns of a row group, their rows, and the bytes these had as lines.
    _batches: list[Any] = field(default_factory=list)
    _group_rows: int = 0
    _group_bytes: int = 0
    _file: "_ByteFile | None" = None
    _writer: Any = None

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Keep some rows, and write the row groups that are complete without the last.

        The last row waits for the header.
        """
        for block in blocks:
            (lines,) = block.texts
            for line in lines.splitlines():
                self._add_line(line)

    def _add_line(self, line: bytes) -> None:
        if len(self._lines) >= BATCH_ROWS or self._line_bytes >= BATCH_BYTES:
            self._end_batch()
        if self._group_rows >= GROUP_ROWS or self._group_bytes >= GROUP_BYTES:
            self._write_group()
        self._lines.append(line)
        self._line_bytes += len(line)

    def _end_batch(self) -> None:
        """Make columns of the lines."""
        if self._lines:
            rows = self._taken_rows()
            self._group_rows += len(rows)
            self._batches.append(batch_of_rows(rows))

    def _taken_rows(self) -> list[Row]:
        """Decode the lines and drop them, so that a long one is held only once."""
        lines, self._lines = self._lines, []
        self._group_bytes += self._line_bytes
        self._line_bytes = 0
        if len(lines) == 1:
            return [decode(lines.pop())]
        rows: list[Row] = decode(b"[" + b",".join(lines) + b"]")
        return rows

    def _write_group(self) -> None:
        """Write the columns as one row group."""
        pa = load_pyarrow()
        table = pa.Table.from_batches(self._batches, record_schema())
        self._opened().write_table(table)
        self._batches, self._group_rows, self._group_bytes = [], 0, 0
        del table
        # The pool keeps what it was given, and the next row group asks for more.
        pa.default_memory_pool().release_unused()

    def _opened(self) -> Any:
        """Return what writes tables to the file, which is opened at the first call."""
        if self._writer is None:
            self._file = _ByteFile(self.write)
            self._writer = self.open(self._file)
        return self._writer

    def close(self, header: Row) -> None:
        """Write all rows that are left, the last of them with `header`."""
        if header and self._lines:
            line = self._lines[-1]
            self._lines[-1] = line[:-1] + b',"header":' + encode(header) + b"}"
        self._end_batch()
        if self._batches:
            self._write_group()
        self._opened().close()

    def discard(self) -> None:
        """Drop all rows; what the library writes when it ends goes nowhere."""
        self._lines, self._batches = [], []
        if self._file is not None:
            self._file.is_discarded = True
        if self._writer is not None:
            self._writer.close()
            self._writer = None


@dataclass(slots=True)
class _ByteFile:
    """A function that takes bytes, as a file that can be written only."""

    take: WriteBytes
    is_discarded: bool = False
    #: pyarrow asks for it.
    closed: bool = False
    _at: int = 0

    def write(self, data: Any) -> int:
        """Pass bytes on, and return their number."""
        piece = bytes(data)
        if not self.is_discarded:
            self.take(piece)
        self._at += len(piece)
        return len(piece)

    def tell(self) -> int:
        """Return the number of bytes that were written."""
        return self._at

    def flush(self) -> None:
        """Do nothing: no bytes are held."""

    def close(self) -> None:
        """Take no more bytes."""
        self.closed = True

    def readable(self) -> bool:
        """Return that it cannot be read."""
        return False

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def seekable(self) -> bool:
        """Return that it has no other places than its end."""
        return False


def _parquet(file: _ByteFile) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only tables need it

    return pq.ParquetWriter(file, record_schema(), compression="zstd")


def _arrow(file: _ByteFile) -> Any:
    pa = load_pyarrow()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    return pa.ipc.new_file(file, record_schema(), options=options)
