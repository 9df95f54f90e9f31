"""Hand rows to other processes of this machine in files that lie in memory.

What is sent through a pipe is held by several processes at once. With these files a
run over an array needs 0.87 of that memory and 0.92 of the time, over a compressed file
0.83 and 0.93 (`python benchmarks/memory_files.py --pairs 9 --rows 30000`). Blocks of
`multiprocessing.shared_memory` would be mapped, and so count as memory of each process.
"""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from harpia_formats.files.io.temp_folder import temporary_folder
from harpia_formats.validation.plan.units import FileBytes

#: Where Linux keeps files in memory.
MEMORY = "/dev/shm"  # noqa: S108 - a folder with a name of its own is made in it
#: Bytes that must be free there for each byte that is needed.
_ROOM = 4


class MemoryFiles:
    """Some files in memory, each used again and again, for `with`.

    Without such a place, or without room in it, there are none.
    """

    def __init__(self, slots: int, size: int) -> None:
        """Take the number of files, and the bytes that each may have."""
        self._slots = slots
        self._size = size
        self._folder = ""
        self._next = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if _has_room(self._slots * self._size):
            self._folder = self._stack.enter_context(temporary_folder(MEMORY))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def put(self, parts: list[bytes]) -> FileBytes | None:
        """Return the place of these bytes in a file, None if there is none for them.

        The file is used again after as many others as there are slots.
        """
        if not self._folder:
            return None
        path = Path(self._folder, str(self._next))
        self._next = (self._next + 1) % self._slots
        try:
            with os.fdopen(
                os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb"
            ) as file:
                file.writelines(parts)
        except OSError:  # no room is left: the bytes are sent with the unit
            return None
        return FileBytes(path, 0, sum(map(len, parts)))


def _has_room(size: int) -> bool:
    """Return whether there are files in memory, and room for so many bytes."""
    try:
        free = shutil.disk_usage(MEMORY).free
    except OSError:
        return False
    return free > _ROOM * size and os.access(MEMORY, os.W_OK)
