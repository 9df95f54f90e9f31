"""Places of files that a run writes beside its output, such as reports and pictures."""

import os
from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from harpia_formats.files.io.files_read import is_same_file
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.urls import is_url, masked


def check_extra_output(place: str, others: Iterable[Any]) -> None:
    """Raise `SinkError` if no such file can be written to a path or URL.

    `others` are the paths and URLs that the run reads or writes; what is none, such as
    None, is passed over. A file that is there already is no error.
    """
    for other in others:
        name = fspath(other) if isinstance(other, (str, PathLike)) else "-"
        if name != "-" and is_same_file(place, name):
            same = "" if name == place else f" ({masked(name)})"
            reason = f"is an input or an output of this run{same}"
            raise SinkError(masked(place), reason)
    if is_url(place):
        from harpia_formats.files.io.remote.sink import check_remote_output  # noqa: PLC0415 - for remote files only

        check_remote_output(place, overwrite=True)
        return
    folder = Path(place).absolute().parent
    if Path(place).is_dir():
        raise SinkError(place, "is a folder")
    if not folder.is_dir():
        raise SinkError(place, "its folder does not exist")
    if not Path(place).exists() and not os.access(folder, os.W_OK):
        raise SinkError(place, "permission denied")
