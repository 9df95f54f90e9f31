"""Recognize sources that can be read in byte ranges, on a disk or remote."""

from itertools import chain
from pathlib import Path
from typing import Any

from harpia_formats.detection.file_name import uncompressed_lower_name
from harpia_formats.detection.sample import SAMPLE_BYTES
from harpia_formats.framing.byte_ranges import range_blocks
from harpia_formats.framing.container import Layout, open_container
from harpia_formats.io.compression import LONGEST_MAGIC, codec_of
from harpia_formats.io.reader import SourceError
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import Source


def splittable_size(origin: Any) -> int | None:
    """Return the bytes of a file that can be read in ranges, None of anything else."""
    if isinstance(origin, RemoteFile):
        return origin.size if origin.ranged else None
    try:
        is_file = isinstance(origin, Path) and origin.is_file()
        return origin.stat().st_size if is_file else None
    except OSError:
        return None


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
