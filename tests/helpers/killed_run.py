"""Run a validation whose processes are killed at rows that hold the word "deadly".

Its arguments are `once` or `always`, with `files` behind that where files are validated
whole; a file that is made before the first kill; and the files to validate.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harpia_formats
from harpia_formats.validation import run as validation
from harpia_formats.validation.parallel import range_worker, ranges, small_files


def bytes_of(job: Any, unit: Any = None, _: Any = None) -> bytes:
    """Return the rows that a worker is given."""
    if unit is None:
        read: bytes = job.origin.read_bytes()
        return read
    return b"".join(range_worker.RangeFrames(job.plan, unit).reader)


def deadly(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return what does the work of `run`, unless its rows kill it."""

    def validate(*given: Any) -> Any:
        mark = Path(sys.argv[2])
        if b"deadly" in bytes_of(*given) and not (
            sys.argv[1].startswith("once") and mark.exists()
        ):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return run(*given)

    return validate


def found_in(*inputs: str) -> Iterator[tuple[object, ...]]:
    """Yield the problems that two processes find, and then the counts of each file."""
    report = harpia_formats.validate(*inputs, jobs=2, examples=0)
    for one in report.problems:
        yield one.place.line, one.code, one.message
    for each in report.files:
        counts = each.records, each.valid, each.invalid, each.undetermined
        yield *counts, each.complete


if __name__ in {"__main__", "__mp_main__"}:
    ranges.WORTH_SECONDS = small_files.WORTH = validation.LITTLE = 0
    ranges.BUNDLE, ranges.MIN_RANGE = 1, 20_000
    if sys.argv[1].endswith("files"):
        small_files.BATCH = 300_000
    else:
        small_files.SMALL = 0
    range_worker._run = deadly(range_worker._run)  # noqa: SLF001 - the work of a worker
    small_files._whole = deadly(small_files._whole)  # noqa: SLF001 - the work of a worker
if __name__ == "__main__":
    for words in found_in(*sys.argv[3:]):
        sys.stdout.write(" ".join(map(str, words)) + "\n")
