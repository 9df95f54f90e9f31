"""Notice that a file was changed, cut or replaced while it was read."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harpia_formats.files.io.reader import error_reason


@dataclass(frozen=True, slots=True)
class FileState:
    """Which file it is, its size in bytes, and when it was written last (ns)."""

    device: int
    inode: int
    size: int
    written: int


def state_of_stream(stream: Any) -> FileState | None:
    """Return the state of an open file, None for what is no regular file."""
    try:
        return _state_of(os.fstat(stream.fileno()))
    except (AttributeError, OSError):
        return None


def state_of_path(path: Path) -> FileState | None:
    """Return the state of the file at a path, None for what is no regular file.

    Raises `OSError` if there is none.
    """
    return _state_of(path.stat())


def reason_of_change(path: Path, state: FileState | None) -> str:
    """Return how the file at a path differs from its earlier `state`, "" if not at all.

    A file without a state, such as a pipe, cannot differ.
    """
    if state is None:
        return ""
    try:
        now = state_of_path(path)
    except OSError as error:
        return f"cannot be found any more at the end: {error_reason(error)}"
    if now == state:
        return ""
    if now is None or (now.device, now.inode) != (state.device, state.inode):
        return "was replaced by another file while it was read"
    sizes = f"it had {state.size:,} bytes, and has {now.size:,} now"
    if now.size == state.size:
        sizes = f"it still has {now.size:,} bytes"
    return f"was changed while it was read: {sizes}"


def _state_of(status: os.stat_result) -> FileState | None:
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileState(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
