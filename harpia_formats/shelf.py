"""Hand over bytes to other processes of this machine, quicker than by a pipe."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

#: Where Linux has files in memory.
MEMORY = "/dev/shm"  # noqa: S108 - a folder with a name of its own is made in it
#: Bytes that must be free there for each byte that is wanted.
_ROOM = 4


@dataclass(slots=True)
class Shelf:
    """Some files in memory, each used again and again, for `with`.

    Nothing is put there where there is no such place, or no room for so many bytes.
    """

    slots: int
    size: int
    _folder: TemporaryDirectory[str] | None = None
    _next: int = 0

    def __enter__(self) -> Self:
        if _has_room(self.slots * self.size):
            self._folder = TemporaryDirectory(prefix="harpia-formats-", dir=MEMORY)
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def put(self, parts: list[bytes]) -> Path | None:
        """Return a file that begins with these bytes, None if there is none.

        It is used again after as many others as there are slots.
        """
        if self._folder is None:
            return None
        path = Path(self._folder.name, str(self._next))
        self._next = (self._next + 1) % self.slots
        try:
            with os.fdopen(
                os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb"
            ) as file:
                file.writelines(parts)
        except OSError:  # it is full: then they go the other way
            return None
        return path


def _has_room(size: int) -> bool:
    try:
        free = shutil.disk_usage(MEMORY).free
    except OSError:
        return False
    return free > _ROOM * size and os.access(MEMORY, os.W_OK)
