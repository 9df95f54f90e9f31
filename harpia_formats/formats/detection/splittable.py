"""Recognize sources that can be read in byte ranges, on a disk or remote."""

import stat
from itertools import chain
from pathlib import Path
from typing import Any

from harpia_formats.files.framing.byte_ranges import range_blocks
from harpia_formats.files.framing.container import Layout, open_container
from harpia_formats.files.io.encodings import LONGEST_MAGIC, codec_of
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.source import Source
from harpia_formats.formats.detection.sample import (
    SAMPLE_BYTES,
    uncompressed_lower_name,
)


def splittable_size(origin: Any) -> int | None:
    """Return the bytes of a file that can be read in ranges, None of anything else."""
    if isinstance(origin, RemoteFile):
        return origin.size if origin.ranged else None
    try:
        status = origin.stat() if isinstance(origin, Path) else None
    except (OSError, ValueError):
        return None
    is_file = status is not None and stat.S_ISREG(status.st_mode)
    return status.st_size if status is not None and is_file else None


def is_plain_lines(source: Source) -> bool:
    """Tell whether a source that can be read in ranges is an uncompressed JSON Lines.

    False if it cannot be read.
    """
    origin = source.origin
    if not isinstance(origin, (Path, RemoteFile)):
        return False
    if uncompressed_lower_name(source.name).endswith(".csv"):
        return False
    try:
        blocks = range_blocks(origin, 0, SAMPLE_BYTES)
        first = next(blocks, b"")
        if codec_of(source.name, first[:LONGEST_MAGIC]) is not None:
            return False
        return open_container(chain([first], blocks)).layout is Layout.LINES
    except (OSError, SourceError):
        return False
