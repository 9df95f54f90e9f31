"""Small files that are read by several processes, in ranges, as large ones are."""

import pytest

from harpia_formats.validation.parallel import ranges
from worker_units import short_first_block


def share_small_files(patch: pytest.MonkeyPatch, size: int | None = None) -> None:
    """Let workers read small files, in ranges of `size` bytes if it is given."""
    patch.setattr(ranges, "WORTH_SECONDS", 0)
    for name in ("MIN_RANGE", "MAX_RANGE", "BUNDLE") if size else ():
        patch.setattr(ranges, name, size)
    short_first_block(patch)
