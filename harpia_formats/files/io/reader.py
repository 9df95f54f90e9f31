"""Read blocks of bytes and small files; the limits of rows; unreadable sources."""

import os
import stat
from collections.abc import Callable
from errno import ENOENT
from os import strerror
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.model.problem import HarpiaFormatsError

if TYPE_CHECKING:  # only installations in zip files need it
    from importlib.resources.abc import Traversable


#: Levels of arrays and objects in one row, at most.
DEPTH_LIMIT = 200
#: Bytes of one row, at most; a longer one is an error and is skipped.
ROW_LIMIT = 16 * 1024 * 1024
#: Bytes of a JSON array, or of a table, that are cut into rows at once.
WINDOW = 256 * 1024


#: Bytes in a block, and in one read from the disk. With half of them, `convert` of rows
#: of EvalEval and `validate` of arrays take up to a twentieth more time, and other
#: commands as long (`benchmarks/compare_versions.py`).
BLOCK = 128 * 1024


class SourceError(HarpiaFormatsError):
    """A source cannot be read: its name as shown to the user, and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{printable(self.path)}: {printable(self.reason)}"


class MissingSourceError(SourceError, FileNotFoundError):
    """A source that does not exist."""

    errno = ENOENT
    strerror = strerror(ENOENT)
    __str__ = SourceError.__str__

    @property
    def filename(self) -> str:
        """The name of the source, as shown to the user."""
        return self.path


class FullReader:
    """Reads of full size, short only at the end, and errors only after all data."""

    __slots__ = ("_ended", "_failure", "_head", "_pull")

    def __init__(self, pull: Callable[[int], bytes]) -> None:
        """Read by `pull`, which returns at most so many bytes, none at the end."""
        self._pull = pull
        self._head = b""
        self._ended = False
        self._failure: SourceError | None = None

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes without consuming them."""
        if len(self._head) < size:
            self._head = self.read(size)
        return self._head[:size]

    def read(self, size: int) -> bytes:
        """Return `size` bytes, fewer at the end, then none.

        Raises `SourceError` behind the last good bytes of a source that fails.
        """
        head, self._head = self._head[:size], self._head[size:]
        if self._ended and (head or not self._failure):
            return head
        pieces = [head] if head else []
        missing = size - sum(map(len, pieces))
        while missing and (piece := self._next(missing)):
            pieces.append(piece)
            missing -= len(piece)
        if self._failure and not pieces:
            raise self._failure
        return b"".join(pieces)

    def _next(self, size: int) -> bytes:
        if self._ended:  # else a user would have to end a terminal twice
            return b""
        try:
            piece = self._pull(size)
        except SourceError as error:
            self._failure = error
            piece = b""
        self._ended = not piece
        return piece


def error_reason(error: Exception) -> str:
    """Return the text of an error as the end of a sentence."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return reason[:1].lower() + reason[1:]


def printable(text: str) -> str:
    """Return `text` in one line, since a file name may hold any character."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


#: Bytes of the largest such file.
LARGEST = 64 * 1024 * 1024
_unreadable = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISBLK, "is a block device"),
    (stat.S_ISCHR, "is a character device"),
)


def check_readable(path: Path) -> None:
    """Raise `OSError` if there is no file or pipe at `path`, but a device or folder.

    Reading a device may never end. The error has the reason as its `strerror`.
    """
    try:
        mode = path.stat().st_mode
    except ValueError as error:  # a NUL, or a lone surrogate
        raise OSError(None, error_reason(error), os.fspath(path)) from error
    for is_kind, reason in _unreadable:
        if is_kind(mode):
            raise OSError(None, reason, os.fspath(path))


def read_side_input(path: Path, largest: int = LARGEST) -> bytes:
    """Return the bytes of a file of at most `largest` bytes; raises `OSError`.

    Devices and folders are refused, and so are larger files.
    """
    check_readable(path)
    with path.open("rb") as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        reason = f"is too large: it has more than {largest:,} bytes"
        raise OSError(None, reason, os.fspath(path))
    return data


def schema_folder() -> "Path | Traversable":
    """Return the folder of all schemas, in an installation or in a checkout."""
    here = Path(__file__).parents[2]
    for folder in (here / "_schemas", here.parent / "schemas"):
        if folder.is_dir():
            return folder
    from importlib.resources import files  # noqa: PLC0415 - slow, and for zip files only

    return files("harpia_formats") / "_schemas"
