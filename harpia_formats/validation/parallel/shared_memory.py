"""Hand over bytes to other processes of this machine, quicker than by a pipe."""

import os
import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from harpia_formats.io.temp_folder import temporary_folder

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
    _folder: str = ""
    _next: int = 0
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        if _has_room(self.slots * self.size):
            self._folder = self._stack.enter_context(temporary_folder(MEMORY))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def put(self, parts: list[bytes]) -> Path | None:
        """Return a file that begins with these bytes, None if there is none.

        It is used again after as many others as there are slots.
        """
        if not self._folder:
            return None
        path = Path(self._folder, str(self._next))
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
