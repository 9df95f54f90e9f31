"""Check that workers, perhaps on other machines, see the same files and folders."""

import os
from dataclasses import dataclass
from pathlib import Path

from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.remote.file import RemoteFile
from harpia_formats.files.io.urls import masked

#: Bytes at the beginning of a file that are compared.
BEGINNING = 64 * 1024
_marker = "marker"


@dataclass(frozen=True, slots=True)
class FileFingerprint:
    """The size of a file and a digest of its beginning, as seen on one machine."""

    origin: Path | RemoteFile
    size: int
    digest: bytes

    @property
    def name(self) -> str:
        """The path or URL for messages, without secrets."""
        origin = self.origin
        return masked(origin.url) if isinstance(origin, RemoteFile) else str(origin)


def fingerprint_of(origin: Path | RemoteFile) -> FileFingerprint:
    """Return the fingerprint of a file as seen by this process; raises `OSError`."""
    if isinstance(origin, Path):
        # Workers may have another working folder.
        origin = origin.absolute()
        with origin.open("rb") as file:
            head = file.read(BEGINNING)
        return FileFingerprint(origin, origin.stat().st_size, _digest(head))
    size = origin.size or 0
    return FileFingerprint(origin, size, _digest(origin.read(0, min(BEGINNING, size))))


def difference_from(fingerprint: FileFingerprint) -> str:
    """Return how the file differs as seen by this process, "" if it is the same."""
    try:
        found = fingerprint_of(fingerprint.origin)
    except OSError as error:
        return f"{fingerprint.name} {error_reason(error)}"
    if found.size != fingerprint.size:
        sizes = f"{found.size:,} bytes there, but {fingerprint.size:,} here"
        return f"{fingerprint.name} has {sizes}"
    if found.digest != fingerprint.digest:
        return f"{fingerprint.name} begins with other bytes there than here"
    return ""


def write_marker(folder: str) -> bytes:
    """Write random bytes to a file in `folder`, and return them."""
    marker = os.urandom(16)
    Path(folder, _marker).write_bytes(marker)
    return marker


def has_marker(folder: str, marker: bytes) -> bool:
    """Tell whether `folder` has the file with `marker`, and can be written to."""
    path = Path(folder, _marker)
    try:
        return path.read_bytes() == marker and os.access(folder, os.W_OK)
    except OSError:
        return False


def _digest(head: bytes) -> bytes:
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, too slow for start-up

    return blake2b(head, digest_size=16).digest()
