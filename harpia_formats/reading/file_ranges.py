"""Read ranges of a file that must not change meanwhile."""

from pathlib import Path

from harpia_formats.framing.byte_ranges import LineRange, read_range
from harpia_formats.io.file_state import FileState, reason_of_change, state_of_path
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.remote.file import RemoteFile


def bytes_of_range(name: str, origin: Path | RemoteFile, work: LineRange) -> bytes:
    """Return the bytes of a range. Raises `SourceError` if they cannot be read."""
    try:
        return read_range(origin, work.begin, work.end)
    except OSError as error:
        raise SourceError(name, error_reason(error)) from error


def state_of(name: str, origin: Path | RemoteFile) -> FileState | None:
    """Return the state of a file of this machine; raises `SourceError`."""
    try:
        return state_of_path(origin) if isinstance(origin, Path) else None
    except OSError as error:
        raise SourceError(name, error_reason(error)) from error


def check_unchanged(
    name: str, origin: Path | RemoteFile, state: FileState | None
) -> None:
    """Raise `SourceError` if a file is not what it was in its earlier `state`.

    A remote file is compared with its version when it was found.
    """
    if isinstance(origin, Path):
        reason = reason_of_change(origin, state)
        if reason:
            raise SourceError(name, reason)
        return
    try:
        origin.check_unchanged()
    except OSError as error:
        raise SourceError(name, error_reason(error)) from error
