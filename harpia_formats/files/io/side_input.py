"""Read a small file that says how to work: a schema, a configuration, a definition."""

import os
import stat
from pathlib import Path

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
    mode = path.stat().st_mode
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
