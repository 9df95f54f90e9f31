"""Have batches of decoded rows converted by workers, in order."""

from collections.abc import Iterator
from contextlib import ExitStack

from harpia_formats.conversion.parallel.shared_conversion import SharedConversion
from harpia_formats.conversion.parallel.units import ConvertedUnits
from harpia_formats.conversion.reading.column_rows import encoded_rows, joined_batches
from harpia_formats.conversion.reading.row_batch import RowBatch
from harpia_formats.files.workers.ordered import submit_in_order
from harpia_formats.files.workers.pool import Task
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.memory_files import MemoryFiles
from harpia_formats.validation.plan.units import SentBytes

#: Bytes of encoded rows for which batches are held, unless it is a single one.
HELD = 8 * 1024 * 1024
#: Bytes that a batch of rows mostly has not.
USUAL = 4 * 1024 * 1024


def share_batches(
    workers: SharedConversion, local: LocalValidation, batches: Iterator[RowBatch]
) -> Iterator[None]:
    """Have workers convert batches of rows; yield after each batch.

    Raises `EngineError`, and what a rejected row raises in this process.
    """
    pool = workers.pool
    with ExitStack() as stack:
        units = ConvertedUnits(workers, local, local.merge.plan, USUAL)
        stack.enter_context(units)
        files = None
        # A cluster or an executor may be on other machines.
        if not pool.is_far:
            files = stack.enter_context(MemoryFiles(pool.max_pending + 1, USUAL))
        joined = joined_batches(batches)
        works = (_work(units, batch, files) for batch in joined)
        for (batch, _), ticket in submit_in_order(pool, works, _size, HELD):
            units.batch_answered(batch, ticket)
            yield


def _work(
    units: ConvertedUnits, batch: RowBatch, files: MemoryFiles | None
) -> tuple[tuple[RowBatch, int], Task | None]:
    """Return a batch with the bytes of its rows, and its task."""
    data = encoded_rows(batch)
    given = None if files is None else files.put([data])
    task = units.batch_task(given or SentBytes(data), len(batch.values))
    return (batch, len(data)), task


def _size(item: tuple[RowBatch, int]) -> int:
    return item[1]
