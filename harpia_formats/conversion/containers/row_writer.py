"""The interface of all writers of rows, and the helpers that they share.

Rows are encoded in blocks by a function that needs no file, so that another process may
call it. What cannot be written before all rows are known goes through temporary files,
so that memory does not grow with the number of rows.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Protocol

from msgspec import Struct, field

from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode_lines

#: Rows that `RowBatches` holds; they may be large.
ROWS_PER_BATCH = 32
#: Bytes of a temporary file that are held in memory before it goes to disk.
SPOOL_BYTES = 1024 * 1024

#: Writes some bytes to the file.
WriteBytes = Callable[[bytes], None]


class EncodedRows(Struct, frozen=True):
    """Some rows of one file as bytes: plain data, which crosses processes.

    A file gets the same bytes however its rows are cut into such blocks.
    """

    #: The number of rows.
    count: int
    #: The rows as lines; or for each of `columns` its items, separated by `, `.
    texts: tuple[bytes, ...]
    #: The keys of the rows in a table and in columns, in the order of cells or `texts`.
    columns: tuple[str, ...] = ()
    #: The component that rows written as columns are of, if they name one.
    component: str | None = None


#: Returns rows as blocks, which are written one after the other. It can be pickled.
RowEncoder = Callable[[Sequence[Row]], list[EncodedRows]]


class RowWriter(Protocol):
    """Writes the rows of one file, and what stands around them."""

    @property
    def encoder(self) -> RowEncoder:
        """Encodes rows for `add`.

        It may change with each `add`; what earlier ones encode can still be added.
        """

    def add(self, blocks: Iterable[EncodedRows]) -> None:
        """Write rows that `encoder` has encoded."""

    def close(self, header: Row) -> None:
        """Write what follows the rows, and `header` where the container has a place."""

    def discard(self) -> None:
        """Close the temporary files; what was not written yet is lost."""


class RowBatches(Struct):
    """Takes single rows for a writer, which encodes many at once."""

    writer: RowWriter
    _rows: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Write a row soon."""
        self._rows.append(row)
        if len(self._rows) >= ROWS_PER_BATCH:
            self._flush()

    def close(self, header: Row) -> None:
        """Write all rows, and what follows them; raises what the writer raises."""
        self._flush()
        self.writer.close(header)

    def discard(self) -> None:
        """Drop all rows."""
        self._rows.clear()
        self.writer.discard()

    def _flush(self) -> None:
        if self._rows:
            self.writer.add(self.writer.encoder(self._rows))
            self._rows.clear()


def encode_rows(rows: Sequence[Row]) -> list[EncodedRows]:
    """Return rows as lines of JSON, the form in which lines and arrays take them."""
    return [EncodedRows(len(rows), (encode_lines(rows),))]


def keys_of(rows: Sequence[Row]) -> dict[str, None]:
    """Return the keys of some rows in the order in which these have them."""
    if not rows:
        return {}
    keys = dict.fromkeys(rows[0])
    # A set of all keys costs less than their order, which the first row mostly tells.
    if len(set().union(*rows)) > len(keys):
        keys = dict.fromkeys(chain(*rows))
    return keys


def items_of(key: str, rows: Sequence[Row]) -> list[Any]:
    """Return the value of each row for a key, None where it lacks the key."""
    try:
        return [*map(itemgetter(key), rows)]
    except KeyError:
        return [row.get(key) for row in rows]


def spool() -> FixedRecords:
    """Return a store of single bytes; `copy_spooled` or the caller closes it."""
    return FixedRecords("B", SPOOL_BYTES)


def copy_spooled(text: FixedRecords, write: WriteBytes) -> None:
    """Write the bytes of a store from the first one on, and close it."""
    for block in text.blocks():
        write(block)
    text.close()
