"""Find the repairs of a unit of rows, in a worker process."""

import threading

import msgspec

from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.files.workers.same_file import difference_from
from harpia_formats.validation.parallel.unit_bytes import unit_frames, unit_reader
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import RowRange
from harpia_formats.validation.repair.proposals import Proposals, RepairSettings
from harpia_formats.validation.repair.rows import PlacedRepair, RowsRepairer
from harpia_formats.validation.unit.record_numbers import RecordNumbers
from harpia_formats.validation.unit.validators import FileValidators


class FoundRepairs(msgspec.Struct, frozen=True):
    """The repairs of a unit, and how many records and lines it has."""

    repairs: tuple[PlacedRepair, ...]
    records: int
    lines: int


class FileRepairer:
    """Repairs the rows of one file, whatever part of it they are in."""

    def __init__(self, validators: FileValidators, settings: RepairSettings) -> None:
        """Take the validators of the file, and which repairs are wanted."""
        self.validators = validators
        variant = validators.variant
        format_ = variant.format if variant is not None else None
        self.proposals = Proposals(settings, format_)

    def of_rows(self, path: tuple[str | int, ...] = ()) -> RowsRepairer:
        """Return what repairs the rows at `path`, as `FileValidators.part` has them."""
        return RowsRepairer(self.proposals, self.validators.part(path))


class _Cache(threading.local):
    """What repairs the file that this thread worked on last."""

    repairer: FileRepairer | None = None


#: It changes speed only: validators that learned give the verdicts of new ones.
_cache = _Cache()


def prepare(validators: FileValidators, settings: RepairSettings) -> None:
    """Let processes that are forked from this one use its trained decoder."""
    copied = FileValidators(validators.plan)
    copied.part().validator.learn_from(validators.part().validator)
    _cache.repairer = FileRepairer(copied, settings)


def repair_range(
    plan: FilePlan, unit: RowRange, settings: RepairSettings
) -> FoundRepairs | None:
    """Return the repairs of whole rows; None if the main process has to find them."""
    try:
        return _range(plan, unit, settings)
    except Exception:  # noqa: BLE001 - the main process does it again, and reports the error
        _cache.repairer = None
        return None


def _range(
    plan: FilePlan, unit: RowRange, settings: RepairSettings
) -> FoundRepairs | None:
    repairer = _repairer_for(plan, settings)
    if repairer is None:
        return None
    rows = repairer.of_rows()
    validator = repairer.validators.part().validator
    reader = unit_reader(plan.name, unit)
    found: list[PlacedRepair] = []
    records = 0
    limit = repairer.validators.options.max_row_bytes
    for frame in unit_frames(unit, reader, limit):
        if isinstance(frame, Chunk):
            verdict = validator.validate(frame, shares=True)
            numbers = RecordNumbers(records, verdict.blank)
            found += rows.repairs(frame, verdict, numbers)
            records += verdict.records
        else:
            records += frame.record
    if reader.consumed != reader.total:
        return None
    return FoundRepairs(tuple(found), records, reader.lines)


def _repairer_for(plan: FilePlan, settings: RepairSettings) -> FileRepairer | None:
    """Return what repairs the file of a plan, None if it is another one here."""
    found = _cache.repairer
    if found is None or found.validators.plan.key != plan.key:
        if plan.fingerprint is not None and difference_from(plan.fingerprint):
            return None
        found = _cache.repairer = FileRepairer(FileValidators(plan), settings)
    return found
