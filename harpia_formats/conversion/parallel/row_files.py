"""Hand rows from one process to another in files that are used again and again."""

import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Self

from harpia_formats.conversion.containers.row_writer import EncodedRows

#: The folder of files in memory on Linux.
MEMORY_FOLDER = "/dev/shm"  # noqa: S108 - a folder with a name of its own is made in it
#: How many times as long as a unit its rows may be, and how long in any case (bytes).
#: The main process converts a unit itself whose rows are longer, since it need not keep
#: them.
MAX_GROWTH, ALLOWED = 4, 32 * 1024 * 1024
#: Bytes of lines that are joined.
MAX_JOINED = 1024 * 1024


def memory_folder(needed: int) -> str | None:
    """Return a folder in memory with so many bytes, None if there is none."""
    try:
        free = shutil.disk_usage(MEMORY_FOLDER).free
    except OSError:
        return None
    has_access = os.access(MEMORY_FOLDER, os.W_OK)
    return MEMORY_FOLDER if free > needed and has_access else None


def rows_limit(size: int) -> int:
    """Return how many bytes the rows of a unit of `size` bytes may have."""
    return max(MAX_GROWTH * size, ALLOWED)


def unit_file(folder: str, slot: int) -> Path | None:
    """Return the file for the rows of a unit, None if there is no folder."""
    return Path(folder, f"rows-{slot}") if folder else None


def claim_file(folder: str) -> Path | None:
    """Return a file for one worker alone, None if there is no folder.

    On a cluster two workers may convert the same unit, and one may still do so when
    the result is no longer needed. So a worker takes a file that was released, and
    gives it a new random name.
    """
    if not folder:
        return None
    own = Path(folder, f"rows-{os.urandom(8).hex()}")
    for path in Path(folder).glob("free-*"):
        try:
            return path.rename(own)
        except OSError:  # another worker was faster
            continue
    return own


def release_file(file: Path) -> None:
    """Let another worker use a file that `claim_file` returned."""
    file.rename(file.with_name(f"free-{file.name}"))


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Encoded rows whose texts are in a file, one behind the other."""

    count: int
    #: The size of each text in bytes.
    sizes: tuple[int, ...]
    columns: tuple[str, ...]
    component: str | None
    #: The model whose file they go to, "" if there is one file.
    model: str

    def joined(self, other: "StoredRows") -> "StoredRows | None":
        """Return these rows and the `other` ones behind them, None if that cannot be.

        The main process reads and writes joined rows at once. They are lines of JSON or
        of a table, with no more than `MAX_JOINED` bytes.
        """
        size = sum(self.sizes) + sum(other.sizes)
        # Rows written as columns have a text for each of these.
        is_line = len(self.sizes) == 1 != len(self.columns)
        given = replace(other, count=self.count, sizes=self.sizes)
        if not is_line or size > MAX_JOINED or given != self:
            return None
        return replace(self, count=self.count + other.count, sizes=(size,))

    def read(self, file: IO[bytes]) -> EncodedRows:
        """Return the rows with their texts, which are next in `file`.

        Raises `OSError` if the file cannot be read.
        """
        texts = tuple(map(file.read, self.sizes))
        return EncodedRows(self.count, texts, self.columns, self.component)


@dataclass(slots=True)
class RowFile:
    """The file for the rows of one unit, for `with`; without a path they are held.

    A file is used again and again: memory that it has already costs nothing.
    """

    path: Path | None
    #: The bytes that rows may have.
    limit: int
    size: int = 0
    #: The texts of the rows, if there is no file.
    held: list[bytes] = field(default_factory=list)
    _file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, rows: EncodedRows, model: str) -> StoredRows | None:
        """Write some rows for the file of a model.

        Returns None if there are too many to be kept.
        """
        for text in rows.texts:
            if self.path is None:
                self.held.append(text)
            elif text:
                self._write(text, self.path)
            self.size += len(text)
        if self.size > self.limit:
            return None
        sizes = tuple(map(len, rows.texts))
        return StoredRows(rows.count, sizes, rows.columns, rows.component, model)

    def take_held(self) -> bytes:
        """Return the texts that are held, and hold them no longer."""
        rows = b"".join(self.held)
        self.held.clear()
        return rows

    def _write(self, text: bytes, path: Path) -> None:
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
        left = memoryview(text)
        while left:
            left = left[self._file.write(left) :]
