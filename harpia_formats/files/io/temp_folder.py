"""Temporary folders that are removed even if the process is killed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harpia_formats.files.io.process_lock import acquire_lock

PREFIX = "harpia-formats-"
#: The lock file in a folder, held by the process that made it.
LOCK = "lock"


@contextmanager
def temporary_folder(parent: str | None) -> Iterator[str]:
    """Yield the path of a new folder in `parent`, or in the default place if None.

    It is removed at the end. A killed process cannot do that, so folders left by
    killed processes are removed at the beginning. Raises `OSError` if the folder cannot
    be made.
    """
    parent = parent or tempfile.gettempdir()
    _remove_abandoned(Path(parent))
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent) as folder:
        place = Path(folder, LOCK)
        # The name that others look for appears only once the lock is held.
        hidden = place.with_suffix(".new")
        lock = os.open(hidden, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            if acquire_lock(lock):
                hidden.rename(place)
            yield folder
        finally:
            os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    """Remove temporary folders whose lock no process holds."""
    for lock_file in parent.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):
            lock = os.open(lock_file, os.O_RDWR)
            try:
                if acquire_lock(lock):
                    shutil.rmtree(lock_file.parent, ignore_errors=True)
            finally:
                os.close(lock)
