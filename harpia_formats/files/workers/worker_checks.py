"""Check that workers on other machines have the same code and see the same files."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from harpia_formats.files.io.reader import error_reason, schema_folder
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.urls import masked

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


_packages = ("harpia_formats", "harpia_converters")
#: Digits of a digest that are shown.
_shown = 12


class OtherCodeError(Exception):
    """A worker has other code than the process that sends it tasks."""


@cache
def code_digest() -> str:
    """Return a digest of all files of the packages and of the schemas.

    It does not depend on how they are installed: from a wheel, from a checkout or in a
    zip file. It is computed once in each process.
    """
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, too slow for start-up
    from importlib.resources import files  # noqa: PLC0415 - slow, and for clusters only

    whole = blake2b(digest_size=16)
    roots = [(name, files(name)) for name in _packages]
    for root, folder in (*roots, ("schemas", schema_folder())):
        for name, data in sorted(_files_in(root, folder)):
            whole.update(f"{len(name)} {len(data)} {name}".encode())
            whole.update(data)
    return whole.hexdigest()


def _files_in(name: str, folder: "Traversable") -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each file that is part of the code."""
    for child in folder.iterdir():
        path = f"{name}/{child.name}"
        if child.name.startswith((".", "__pycache__")) or path in _elsewhere:
            continue
        if child.is_dir():
            yield from _files_in(path, child)
        elif not child.name.endswith(".pyc"):
            yield path, child.read_bytes()


#: Where a wheel has the schemas, which are next to the packages in a checkout.
_elsewhere = {"harpia_formats/_schemas"}


def difference_of_code(theirs: str, ours: str) -> str:
    """Return how the code of a worker differs from ours, "" if it is the same."""
    if theirs == ours:
        return ""
    return (
        f"has other files of harpia-formats, digest {theirs[:_shown]}, not "
        f"{ours[:_shown]}: install the same there and here, and restart the workers"
    )


def run_with_same_code(digest: str, run: Callable[..., Any], *given: Any) -> Any:
    """Run a task in a worker that has our code; raises `OtherCodeError` in others."""
    difference = difference_of_code(code_digest(), digest)
    if difference:
        raise OtherCodeError(f"a worker {difference}")
    return run(*given)


#: Bytes at the beginning of a file that are compared.
BEGINNING = 64 * 1024
_marker = "marker"


class FileFingerprint(Struct, frozen=True):
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
