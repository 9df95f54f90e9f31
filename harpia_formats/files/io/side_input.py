"""Read a small file that says how to work, and find the folder of the schemas."""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # only installations in zip files need it
    from importlib.resources.abc import Traversable


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


def schema_folder() -> "Path | Traversable":
    """Return the folder of all schemas, in an installation or in a checkout."""
    here = Path(__file__).parents[2]
    for folder in (here / "_schemas", here.parent / "schemas"):
        if folder.is_dir():
            return folder
    from importlib.resources import files  # noqa: PLC0415 - slow, and for zip files only

    return files("harpia_formats") / "_schemas"
