"""Hand rows from one process to another in files that are used again and again."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from harpia_formats.framing.byte_ranges import LineRange

#: How many times as long as a range its rows may be. The main process converts a range
#: itself whose rows are longer, since it need not keep them.
MAX_GROWTH = 4


def range_file(folder: str, work: LineRange) -> Path | None:
    """Return the file for the rows of a range, None if there is no folder."""
    return Path(folder, f"rows-{work.block}") if folder else None


def claim_file(folder: str) -> Path | None:
    """Return a file for one worker alone, None if there is no folder.

    On a cluster two workers may convert the same range, and one may still do so when
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


@dataclass(slots=True)
class RowFile:
    """The file for the rows of one range, for `with`; without a path they are held.

    A file is used again and again: memory that it has already costs nothing.
    """

    path: Path | None
    work: LineRange
    size: int = 0
    #: The rows, if there is no file.
    held: list[bytes] = field(default_factory=list)
    _file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, rows: bytes) -> bool:
        """Write some rows; return False if there are too many to be kept."""
        if self.path is None:
            self.held.append(rows)
        elif rows:
            self._write(rows, self.path)
        self.size += len(rows)
        return self.size <= MAX_GROWTH * (self.work.end - self.work.begin)

    def take_held(self) -> bytes:
        """Return the rows that are held, and hold them no longer."""
        rows = b"".join(self.held)
        self.held.clear()
        return rows

    def _write(self, rows: bytes, path: Path) -> None:
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
        left = memoryview(rows)
        while left:
            left = left[self._file.write(left) :]
