"""Open a table of Parquet or Arrow, and read it batch by batch in bounded memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import SEEK_END
from typing import Any, BinaryIO, Protocol

from harpia_formats.arrow.package import load_pyarrow

#: Bytes that are read ahead of each column of a Parquet file.
BUFFER = 1024 * 1024
#: Rows of a batch of Parquet, and about the bytes that they may have.
ROWS, BYTES = 500, 4 * 1024 * 1024
_PARQUET, _ENCRYPTED, _ARROW = b"PAR1", b"PARE", b"ARROW1"
#: Bytes at the end of a Parquet file: the length of its footer, and its magic.
_TAIL = 8
_SHORTEST = 12


class BadTableError(ValueError):
    """A table that cannot be read on; its text is the reason."""


class Table(Protocol):
    """An open table."""

    @property
    def metadata(self) -> dict[bytes, bytes]:
        """What its writer said of the columns, by key."""

    @property
    def names(self) -> list[str]:
        """The names of its columns."""

    def batches(self) -> Iterator[Any]:
        """Yield its record batches; raises `BadTableError`."""


@contextmanager
def opened_table(file: BinaryIO) -> Iterator[Table]:
    """Open the table in a binary file that can seek.

    Raises `MissingPyarrow` without the package, and `BadTableError` for a file that is
    cut, encrypted or corrupt.
    """
    pa = load_pyarrow()
    file.seek(0)
    head = file.read(len(_ARROW))
    file.seek(0)
    with _errors_of(pa):
        if head.startswith(_PARQUET):
            _check_end(file)
            yield _open_parquet(file)
        elif head.startswith(_ENCRYPTED):
            raise BadTableError("is encrypted, which is not read")
        elif head.startswith(_ARROW):
            yield _Arrow(pa.ipc.open_file(file), is_file=True)
        else:
            yield _Arrow(pa.ipc.open_stream(file), is_file=False)


@contextmanager
def _errors_of(pa: Any) -> Iterator[None]:
    """Raise `BadTableError` for the errors of pyarrow."""
    try:
        yield
    except (pa.ArrowException, OSError, OverflowError) as error:
        raise BadTableError(f"cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def _check_end(file: BinaryIO) -> None:
    """Raise `BadTableError` if a Parquet file is cut, or its columns are encrypted."""
    size = file.seek(0, SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    file.seek(0)
    length = int.from_bytes(tail[:4], "little")
    if size < _SHORTEST or tail[4:] != _PARQUET or length > size - _SHORTEST:
        raise BadTableError(
            "is cut: a Parquet file ends with a footer, and this has none"
        )


def _open_parquet(file: BinaryIO) -> "_Parquet":
    import pyarrow.parquet as pq  # noqa: PLC0415 - only Parquet needs it

    # Nothing is read before it is needed: by default whole row groups are.
    return _Parquet(pq.ParquetFile(file, pre_buffer=False, buffer_size=BUFFER))


@dataclass(slots=True)
class _Parquet:
    """A Parquet file."""

    file: Any
    metadata: dict[bytes, bytes] = field(init=False)
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.metadata = self.file.schema_arrow.metadata or {}
        self.names = self.file.schema_arrow.names

    def batches(self) -> Iterator[Any]:
        """Yield batches of few rows, row group by row group."""
        for number in range(self.file.metadata.num_row_groups):
            group = self.file.metadata.row_group(number)
            if not group.num_rows:
                continue
            width = max(1, group.total_byte_size // group.num_rows)
            yield from self.file.iter_batches(
                batch_size=max(1, min(ROWS, BYTES // width)),
                row_groups=[number],
                use_threads=False,
            )


@dataclass(slots=True)
class _Arrow:
    """A file or a stream of Arrow."""

    reader: Any
    #: Whether its end says where the batches are; in a stream they follow each other.
    is_file: bool
    metadata: dict[bytes, bytes] = field(init=False)
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.metadata = self.reader.schema.metadata or {}
        self.names = self.reader.schema.names

    def batches(self) -> Iterator[Any]:
        """Yield the batches in their order."""
        if not self.is_file:
            yield from self.reader
            return
        for number in range(self.reader.num_record_batches):
            yield self.reader.get_batch(number)
