"""Folders for what processes hand to each other, which none leaves behind."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "harpia-formats-"
#: Held by whoever made the folder, as long as it lives.
LOCK = "lock"


@contextmanager
def temporary_folder(parent: str | None) -> Iterator[str]:
    """Yield the name of a new folder in `parent`, or in the usual place.

    It is removed at the end. A process that is killed cannot do so: folders of such
    ones are removed at the beginning.
    """
    parent = parent or tempfile.gettempdir()
    _remove_dead(Path(parent))
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent) as folder:
        place = Path(folder, LOCK)
        # Nobody may see it before it is taken.
        hidden = place.with_suffix(".new")
        lock = os.open(hidden, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            if _is_taken(lock):
                hidden.rename(place)
            yield folder
        finally:
            os.close(lock)


def _remove_dead(parent: Path) -> None:
    """Remove folders of ours whose lock nobody holds any more."""
    for each in parent.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):
            lock = os.open(each, os.O_RDWR)
            try:
                if _is_taken(lock):
                    shutil.rmtree(each.parent, ignore_errors=True)
            finally:
                os.close(lock)


def _is_taken(lock: int) -> bool:
    """Take a lock that ends with all processes that have it; tell whether it is ours.

    Where there are no such locks it never is.
    """
    try:
        import fcntl  # noqa: PLC0415 - on POSIX only

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
