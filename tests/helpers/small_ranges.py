"""Small files are divided among workers as large ones are: into ranges of some rows."""

import pytest

from harpia_formats.evaluation.scoring.measures import outcomes
from harpia_formats.files.framing import byte_ranges
from harpia_formats.validation.parallel import ranges, small_files
from worker_units import short_first_block


def cut_into(
    patch: pytest.MonkeyPatch, size: int, far: int = 0, probe: int = byte_ranges.PROBE
) -> None:
    """Have files cut into ranges of `size` bytes, or `far` for a cluster.

    `probe` bytes of a remote file are read to find the end of a line. Answers are
    measured by workers from the second batch on.
    """
    patch.setattr(ranges, "WORTH_SECONDS", 0)
    short_first_block(patch)
    patch.setattr(ranges, "MIN_FAR", 1)
    patch.setattr(ranges, "MIN_RANGE", size)
    patch.setattr(ranges, "BUNDLE", size)
    patch.setattr(ranges, "FAR_RANGE", far or size)
    patch.setattr(byte_ranges, "RANGE", size)
    patch.setattr(byte_ranges, "PROBE", probe)
    patch.setattr(small_files, "SMALL_FAR", 0)
    patch.setattr(outcomes, "BATCHES_HERE", 1)
