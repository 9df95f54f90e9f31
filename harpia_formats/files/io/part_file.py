"""Files with temporary names, under which outputs are written until they are complete.

The process that writes one holds a lock on it, which ends with the process. A file of
such a name without a lock was left by a process that was killed: the next one that
writes to the same place removes it.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from harpia_formats.files.io.process_lock import acquire_lock

#: What a temporary name ends with while the file is written, and once it is complete.
PARTIAL, COMPLETE = ".part", ".complete"
#: Bytes of the longest name of a file on common file systems.
LONGEST_NAME = 255
_mark = ".harpia-"
_random_bytes = 6


def create_part_file(place: Path) -> tuple[Path, int]:
    """Create a locked temporary file beside `place`; return its path and descriptor.

    Raises `OSError`.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        random = secrets.token_hex(_random_bytes)
        path = place.with_name(f"{_prefix(place.name)}{random}{PARTIAL}")
        with suppress(FileExistsError):
            descriptor = os.open(path, flags, 0o600)
            # Before it was locked, another process may have removed it as abandoned.
            if not acquire_lock(descriptor) or path.exists():
                return path, descriptor
            os.close(descriptor)


def mark_complete(part: Path) -> Path:
    """Rename a temporary file as one that is complete; return its new path.

    Raises `OSError`.
    """
    return part.rename(part.with_suffix(COMPLETE))


def remove_abandoned(place: Path) -> list[str]:
    """Remove the temporary files for `place` that killed processes left.

    Return a sentence for each that was complete but not in place.
    """
    return [
        f"{place}: an earlier run was killed after it had written this file and before "
        "it put it into place; other outputs of that run may be in place"
        for path in _part_files(place)
        if _is_removed(path) and path.suffix == COMPLETE
    ]


def _part_files(place: Path) -> Iterator[Path]:
    """Yield the paths of all temporary files for `place`."""
    prefix = _prefix(place.name)
    try:
        with os.scandir(place.parent) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(prefix)]
    except OSError:
        return
    yield from (
        place.with_name(name)
        for name in sorted(names)
        if name.endswith((PARTIAL, COMPLETE))
    )


def _is_removed(path: Path) -> bool:
    """Remove a file if no process holds its lock.

    Return whether it is gone with this call, under all of its names.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    with closing(os.fdopen(descriptor, "rb")), suppress(OSError):
        if acquire_lock(descriptor):
            path.unlink()
            return os.fstat(descriptor).st_nlink == 0
    return False


def _prefix(name: str) -> str:
    """Return what the temporary names for a file called `name` begin with.

    A name that would be too long for the file system is cut, and a digest tells it from
    others with the same beginning.
    """
    rest = len(_mark) + 2 * _random_bytes + len(COMPLETE) + 1
    encoded = os.fsencode(name)
    if len(encoded) + rest <= LONGEST_NAME:
        return f".{name}{_mark}"
    from hashlib import blake2b  # noqa: PLC0415 - only very long names need it

    digest = blake2b(encoded, digest_size=8).hexdigest()
    cut = encoded[: LONGEST_NAME - rest - len(digest) - 1]
    return f".{cut.decode('utf-8', 'ignore')}-{digest}{_mark}"
