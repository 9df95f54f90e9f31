"""Tell records that look like those of known formats from files that are not read."""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.formats.registry import unread_files


def find_unread(rows: Sequence[Any]) -> tuple[str, str] | None:
    """Return what the files are that a row has a sign of, and the sign; None if none.

    They are in no known format.
    """
    for row in rows:
        for files in unread_files() if isinstance(row, Mapping) else ():
            sign = files.sign(row)
            if sign:
                return files.title, sign
    return None
