"""Rename files so that nothing is replaced, and names survive a power failure."""

import os
from contextlib import suppress
from errno import EEXIST
from pathlib import Path


def rename_to_new(path: Path, place: Path) -> None:
    """Rename a file to a name that no other file has.

    Raises `FileExistsError` if there is a file called `place`, and `OSError`.
    """
    try:
        # Unlike a rename, a second name never replaces another file.
        place.hardlink_to(path)
    except FileExistsError:
        raise FileExistsError(EEXIST, _meanwhile, str(place)) from None
    except (OSError, NotImplementedError):  # a file system without second names
        if os.path.lexists(place):
            raise FileExistsError(EEXIST, _meanwhile, str(place)) from None
        path.rename(place)
        return
    path.unlink()


_meanwhile = "a file of that name has appeared meanwhile; --overwrite replaces it"


def sync_folder(folder: Path) -> None:
    """Write the names of the files in a folder to the disk, where the system can."""
    with suppress(OSError):  # not on every system, and the file itself is complete
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
