"""Read ranges of a file that must not change meanwhile."""

from pathlib import Path

from harpia_formats.framing.byte_ranges import LineRange, read_range
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.remote.file import RemoteFile


def bytes_of_range(name: str, origin: Path | RemoteFile, work: LineRange) -> bytes:
    """Return the bytes of a range. Raises `SourceError` if they cannot be read."""
    try:
        return read_range(origin, work.begin, work.end)
    except OSError as error:
        raise SourceError(name, error_reason(error)) from error


def check_unchanged(name: str, remote: RemoteFile) -> None:
    """Raise `SourceError` if a remote file has changed since it was found."""
    try:
        remote.check_unchanged()
    except OSError as error:
        raise SourceError(name, error_reason(error)) from error
