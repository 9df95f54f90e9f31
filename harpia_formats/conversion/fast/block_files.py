"""Hand rows from one process to another in files, which are used again and again."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from harpia_formats.framing.byte_ranges import LineRange

#: How many times as long as a range its rows may be in another format; where they
#: are longer it is done where they need not be kept.
MOST = 4


def block_of(folder: str, work: LineRange) -> Path | None:
    """Return the file for the rows of a range, None where there is no folder."""
    return Path(folder, f"rows-{work.block}") if folder else None


def block_once(folder: str) -> Path | None:
    """Return a file that no other work has, None where there is no folder.

    On a cluster a range may be worked on by two, and by one long after it is wanted.
    So a file is taken only if it was given back, and by one alone: who takes it gives
    it a name that nobody knows.
    """
    if not folder:
        return None
    own = Path(folder, f"rows-{os.urandom(8).hex()}")
    for each in Path(folder).glob("free-*"):
        try:
            return each.rename(own)
        except OSError:  # another one has taken it
            continue
    return own


def give_back(block: Path) -> None:
    """Let a file that no other work had be used again."""
    block.rename(block.with_name(f"free-{block.name}"))


@dataclass(slots=True)
class Block:
    """The file for the rows of one range, for `with`; without one they are held.

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
        """Write some rows; tell whether they are not too many to be kept."""
        if self.path is None:
            self.held.append(rows)
        elif rows:
            self._write(rows, self.path)
        self.size += len(rows)
        return self.size <= MOST * (self.work.end - self.work.begin)

    def let_go(self) -> bytes:
        """Return the rows that are held, which are not held any more then."""
        rows = b"".join(self.held)
        self.held.clear()
        return rows

    def _write(self, rows: bytes, path: Path) -> None:
        if self._file is None:
            self._file = os.fdopen(_opened(path), "wb", buffering=0)
        left = memoryview(rows)
        while left:
            left = left[self._file.write(left) :]


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
