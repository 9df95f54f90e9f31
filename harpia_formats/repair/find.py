"""Find the repairs of one file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.io.source import ReadProgress
from harpia_formats.model.format import Format
from harpia_formats.repair.consumer import Follow, RepairConsumer
from harpia_formats.repair.edits import Edit
from harpia_formats.repair.job import Job
from harpia_formats.repair.reread import MARK_BYTES, has_mark
from harpia_formats.repair.rows import PlacedChange, PlacedRepair
from harpia_formats.repair.store import RepairStore
from harpia_formats.repair.table import BYTE_ORDER_MARK
from harpia_formats.validation.companion_names import names_beside
from harpia_formats.validation.one_file import FileSettings, OpenFile, validate_open
from harpia_formats.validation.plan.units import Demand
from harpia_formats.validation.unit.validators import SharedValidators

if TYPE_CHECKING:  # only for several processes
    from harpia_formats.workers.pool import WorkerPool


class Means(msgspec.Struct, frozen=True):
    """With what the repairs of a file are found."""

    shared: SharedValidators
    progress: Callable[[ReadProgress], None] | None
    #: None if this process does all the work.
    pool: "WorkerPool | None"
    #: See `RepairConsumer`.
    follow_of: Callable[[str], Follow | None]


class Found(msgspec.Struct, frozen=True):
    """What was learned of a file."""

    #: None if it is not known.
    format: Format | None
    #: The names of files that it may have digests of, None if they are not known.
    names: tuple[str, ...] | None


def find_repairs(file: OpenFile, job: Job, store: RepairStore, means: Means) -> Found:
    """Store the repairs of a file; raises `SinkError` and `SourceError`."""
    consumer = RepairConsumer(job.settings, store, means.follow_of)
    in_workers = None
    if means.pool is not None:
        from harpia_formats.repair.large_file import RepairWork  # noqa: PLC0415 - only for several processes

        in_workers = RepairWork(means.pool, consumer).rows
    # Nothing is described: what is found is reported when it is validated again.
    known = Demand(satisfied_rest=frozenset(job.plan.rules))
    settings = FileSettings(
        lambda: known,
        consumer,
        in_workers=in_workers,
        progress=means.progress,
        # The bytes of a stream are kept, to be read again when it is written.
        has_companion=True,
        shared=means.shared,
    )
    flow = validate_open(file, job.plan, settings)
    while True:
        try:
            next(flow)
        except StopIteration as stop:
            local = stop.value
            break
    consumer.finish(local.validators)
    if BYTE_ORDER_MARK in job.settings.codes and has_mark(file):
        what = "dropped the byte order mark"
        change = PlacedChange(BYTE_ORDER_MARK, 1, 1, 0, "", what)
        store.add(PlacedRepair((Edit(0, MARK_BYTES, b""),), (change,)))
    return Found(consumer.format, names_beside(local, file.source.name))
