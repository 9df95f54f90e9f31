"""Faults of our own code and its workers, and a second engine that contradicts it."""

from typing import Any

import pytest

from dying_workers import end_worker
from harpia_formats.validation.parallel import range_worker, ranges
from harpia_formats.validation.repair import repair_ranges
from harpia_formats.validation.unit import cross_check
from harpia_formats.validation.unit.row_validator import RowValidator


def fails_at(patch: pytest.MonkeyPatch, text: bytes) -> None:
    """Have the validation of every row that holds `text` fail by a `KeyError`."""
    usual = RowValidator.validate

    def fail(self: RowValidator, chunk: Any) -> Any:
        if text in chunk.data:
            raise KeyError("lost")
        return usual(self, chunk)

    patch.setattr(RowValidator, "validate", fail)
    patch.setattr(RowValidator, "accepts", lambda *_: False)


def contradicted(patch: pytest.MonkeyPatch) -> None:
    """Have the second engine call every row of which it is asked invalid if it is not.

    A row that we call invalid, it calls invalid as well.
    """

    def contrary(*_: Any, **__: Any) -> Any:
        return lambda _, is_valid: not is_valid

    patch.setattr(cross_check, "second_opinion_of", contrary)


def repairs_fail(patch: pytest.MonkeyPatch) -> None:
    """Have the repair of every range fail in a worker, as where memory is short."""

    def fail(*_: object) -> None:
        raise MemoryError

    patch.setattr(repair_ranges, "FoundRepairs", fail)


def ranges_fail(patch: pytest.MonkeyPatch) -> None:
    """Have workers fail by a `KeyError` before the first record of each range."""

    def fail(*_: object) -> None:
        raise KeyError("lost")

    patch.setattr(range_worker, "line_rows", fail)


def workers_die(patch: pytest.MonkeyPatch) -> None:
    """Have each worker end as soon as it works on a range."""
    patch.setattr(ranges, "run_range", end_worker)


def sees_other_files(patch: pytest.MonkeyPatch) -> None:
    """Have workers find another file than the one that is validated."""

    def fail(*_: object) -> None:
        raise range_worker.NotSeenError("it is another file there")

    patch.setattr(range_worker, "RangeFrames", fail)
