"""The number of the input files and their size, for the progress of a long run."""

import time
from collections.abc import Sequence
from pathlib import Path

from harpia_formats.files.io.exclude import Exclusion
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.source import Source
from harpia_formats.formats.registry import all_unpackers

#: Seconds that the search for files may take.
_PATIENCE = 0.3


def count_and_bytes(inputs: Sequence[str], exclude: Sequence[str]) -> tuple[int, int]:
    """Return the number of files that `inputs` name and the sum of their bytes.

    It is (0, 0) if that is not known: of standard input, remote files and files that
    cannot be read, or if looking for them takes too long.
    """
    if any(name == "-" or "://" in name for name in inputs):
        return 0, 0
    end = time.monotonic() + _PATIENCE
    files = size = 0
    try:
        for source in sources_of_inputs(inputs, Exclusion(exclude), all_unpackers()):
            origin = source.origin if isinstance(source, Source) else None
            if not isinstance(origin, Path) or time.monotonic() > end:
                return 0, 0
            size += origin.stat().st_size
            files += 1
    except (OSError, ValueError):
        return 0, 0
    return files, size
