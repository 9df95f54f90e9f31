"""Whether a file is the same wherever work is done: other machines have other disks."""

import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from harpia_formats.io.reader import error_reason
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.urls import masked

#: Bytes of the beginning that are compared.
BEGINNING = 64 * 1024
_sign = "sign"


@dataclass(frozen=True, slots=True)
class FileFingerprint:
    """A file as it is seen on one machine: plain data, and none of its content."""

    origin: Path | RemoteFile
    size: int
    digest: bytes

    @property
    def name(self) -> str:
        """What it is called, as shown to the user."""
        origin = self.origin
        return masked(origin.url) if isinstance(origin, RemoteFile) else str(origin)


def fingerprint_of(origin: Path | RemoteFile) -> FileFingerprint:
    """Return a file as it is seen here; raises `OSError`."""
    if isinstance(origin, Path):
        # Those who work elsewhere have another working folder.
        origin = origin.absolute()
        with origin.open("rb") as file:
            head = file.read(BEGINNING)
        return FileFingerprint(origin, origin.stat().st_size, _digest(head))
    size = origin.size or 0
    return FileFingerprint(origin, size, _digest(origin.read(0, min(BEGINNING, size))))


def unlike(fingerprint: FileFingerprint) -> str:
    """Return why not the same file is seen here, "" if it is."""
    try:
        found = fingerprint_of(fingerprint.origin)
    except OSError as error:
        return f"{fingerprint.name} {error_reason(error)}"
    if found.size != fingerprint.size:
        sizes = f"{found.size:,} bytes there, {fingerprint.size:,} here"
        return f"{fingerprint.name} has {sizes}"
    if found.digest != fingerprint.digest:
        return f"{fingerprint.name} begins otherwise there than here"
    return ""


def leave_sign(folder: str) -> bytes:
    """Return what is now in a folder, and in no other of the same name."""
    sign = os.urandom(16)
    Path(folder, _sign).write_bytes(sign)
    return sign


def sees_sign(folder: str, sign: bytes) -> bool:
    """Tell whether a folder is that in which a sign was left, and can be written to."""
    path = Path(folder, _sign)
    try:
        return path.read_bytes() == sign and os.access(folder, os.W_OK)
    except OSError:
        return False


def _digest(head: bytes) -> bytes:
    return blake2b(head, digest_size=16).digest()
