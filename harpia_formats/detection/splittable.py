"""Tell files of lines that can be read in ranges: plain ones, on a disk or remote."""

from itertools import chain
from pathlib import Path
from typing import Any

from harpia_formats.detection.file_name import plain_name
from harpia_formats.detection.recognize import HEAD_BYTES
from harpia_formats.framing.container import Layout, opening_of
from harpia_formats.framing.split import pieces_of
from harpia_formats.io.compression import LONGEST_MAGIC, codec_of
from harpia_formats.io.reader import SourceError
from harpia_formats.io.remote.file import Remote
from harpia_formats.io.source import Source


def size_in_ranges(origin: Any) -> int | None:
    """Return the bytes of what can be read in ranges, None of all else."""
    if isinstance(origin, Remote):
        return origin.size if origin.ranged else None
    try:
        is_file = isinstance(origin, Path) and origin.is_file()
        return origin.stat().st_size if is_file else None
    except OSError:
        return None


def is_plain_lines(source: Source) -> bool:
    """Tell whether a source that can be read in ranges is a plain file of lines."""
    origin = source.origin
    if not isinstance(origin, (Path, Remote)):
        return False
    if plain_name(source.name).endswith(".csv"):
        return False
    try:
        pieces = pieces_of(origin, 0, HEAD_BYTES)
        first = next(pieces, b"")
        if codec_of(source.name, first[:LONGEST_MAGIC]) is not None:
            return False
        return opening_of(chain([first], pieces)).layout is Layout.LINES
    except (OSError, SourceError):
        return False
