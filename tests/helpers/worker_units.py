"""Work in small units: little data is cut as much is, and workers begin at once.

What several processes do is tested on files of some kilobytes by these.
"""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any

import pytest

from harpia_formats.conversion.reading import reader
from harpia_formats.files.framing import array, byte_ranges, container, unfinished_json
from harpia_formats.files.io import inputs
from harpia_formats.files.io.source import open_source
from harpia_formats.files.workers import engine
from harpia_formats.files.workers.worker_checks import difference_from
from harpia_formats.formats.detection import sampled_file
from harpia_formats.validation import local, one_file
from harpia_formats.validation import run as validation_run
from harpia_formats.validation.parallel import ranges, small_files
from harpia_formats.validation.plan import file_plan
from harpia_formats.validation.plan.units import Demand
from harpia_formats.validation.unit import collector


def small_units(
    patch: pytest.MonkeyPatch, size: int = 20_000, *, whole_files: int = 0
) -> None:
    """Have ranges, bundles and batches of `size` bytes, however little there is.

    A worker validates a whole file only if it is shorter than `whole_files`.
    """
    names = "MIN_RANGE", "MAX_RANGE", "FAR_RANGE", "BUNDLE", "TIMED"
    patch.setattr(ranges, "WORTH_SECONDS", 0)
    for name in names:
        patch.setattr(ranges, name, size)
    patch.setattr(small_files, "WORTH", 0)
    patch.setattr(validation_run, "LITTLE", 0)
    patch.setattr(small_files, "BATCH", size)
    for name in ("SMALL", "SMALL_FAR"):
        patch.setattr(small_files, name, whole_files)
    patch.setattr(byte_ranges, "BLOCK", 700)
    short_first_block(patch)


def short_first_block(patch: pytest.MonkeyPatch) -> None:
    """Have files read in blocks of 64 KiB: this process does the first one."""
    patch.setattr(file_plan, "BLOCK", 64 * 1024)
    patch.setattr(reader, "opened", partial(one_file.opened, size=64 * 1024))


def short_rows_only(patch: pytest.MonkeyPatch, size: int) -> None:
    """Have rows of more than `size` bytes done here, and not sent to a worker."""
    patch.setattr(ranges, "LONGEST_SENT", size)


def read_there(patch: pytest.MonkeyPatch) -> None:
    """Have ranges of files of any size read by who works on them, not sent as bytes."""
    patch.setattr(ranges, "MIN_FAR", 0)


def few_findings(patch: pytest.MonkeyPatch, count: int) -> None:
    """Have units with more than `count` findings done here, not sent by a worker."""
    patch.setattr(collector, "DESCRIBED_LIMIT", count)


def few_groups(patch: pytest.MonkeyPatch, count: int) -> None:
    """Have units with more than `count` groups of findings done here."""
    patch.setattr(collector, "GROUP_LIMIT", count)


def small_blocks(patch: pytest.MonkeyPatch) -> None:
    """Have blocks and windows of some hundred bytes, which rows are longer than."""
    patch.setattr(one_file, "open_source", lambda each, _: open_source(each, 500))
    for module in (array, sampled_file, container):
        patch.setattr(module, "WINDOW", 2500)
    patch.setattr(unfinished_json, "BLOCK", 700)


def read_again_in_pieces(patch: pytest.MonkeyPatch, size: int = 200) -> None:
    """Have files read again in blocks of `size` bytes, and findings counted singly."""
    patch.setattr(inputs, "open_source", lambda each: open_source(each, size))
    patch.setattr(container, "WINDOW", 100)
    patch.setattr(local, "REPORTED", 1)


def forked_workers(patch: pytest.MonkeyPatch) -> None:
    """Have workers forked, so that they have what a test has changed here."""
    patch.setattr(engine, "is_fork_safe", lambda: True)


class Here(Executor):
    """Does the work at once in this process, with copies as another would have."""

    def __init__(self, *, copies: bool = True) -> None:
        """Take whether the work and its results are copied, as between processes."""
        self._copies = copies
        #: The units that were validated, and what their problems were needed for.
        self.works: list[Any] = []
        self.demands: list[Demand] = []

    def submit(
        self, run: Callable[..., Any], /, *arguments: Any, **given: Any
    ) -> "Future[Any]":
        """Do some work."""
        assert not given, "others have keywords of their own"
        run, arguments = self._copy((run, arguments))
        if run is not difference_from:
            self.works.append(arguments[:2][-1])
        self.demands += [each for each in arguments if isinstance(each, Demand)]
        future: Future[Any] = Future()
        future.set_result(self._copy(run(*arguments)))
        return future

    def _copy(self, value: Any) -> Any:
        return pickle.loads(pickle.dumps(value)) if self._copies else value  # noqa: S301 - our own


class Elsewhere(Here):
    """Does the work where the files have changed since they were looked at."""

    def __init__(self, change: Callable[[], Any], restore: Callable[[], Any]) -> None:
        """Take what changes the files before each work, and what undoes that."""
        super().__init__()
        self._change, self._restore = change, restore

    def submit(
        self, run: Callable[..., Any], /, *arguments: Any, **given: Any
    ) -> "Future[Any]":
        """Do some work on other files."""
        if run is difference_from:
            return super().submit(run, *arguments, **given)
        self._change()
        try:
            return super().submit(run, *arguments, **given)
        finally:
            self._restore()
