"""Find the repairs of one file."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harpia_formats.files.framing.chunk import BOM
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import FileState, ReadProgress, reason_of_change
from harpia_formats.files.parsing.csv_delimiter import WIDE_DELIMITERS, named
from harpia_formats.files.parsing.full_width import delimiter_edits
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.formats.detection.unexpected_format import OTHER_DELIMITER
from harpia_formats.formats.registry import all_formats, formats_named, rules_for
from harpia_formats.formats.rules import Rule, selected_rules
from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Severity
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.one_file import (
    FileSettings,
    OpenFile,
    ValidateInWorkers,
    names_of_files,
    validate_open,
)
from harpia_formats.validation.options import Options
from harpia_formats.validation.plan.file_plan import RunPlan, run_plan_of
from harpia_formats.validation.plan.units import Demand
from harpia_formats.validation.repair.found_repairs import (
    Follow,
    RepairConsumer,
    RepairStore,
)
from harpia_formats.validation.repair.proposals import BYTE_ORDER_MARK, RepairSettings
from harpia_formats.validation.repair.row_repairs import PlacedChange, PlacedRepair
from harpia_formats.validation.repair.text_edits import Edit
from harpia_formats.validation.unit.findings import Findings
from harpia_formats.validation.unit.validators import SharedValidators

if TYPE_CHECKING:  # only for several processes
    from harpia_formats.files.workers.pool import WorkerPool


#: Rules across records, of which nothing is repaired.
_across = "X"


class Job(msgspec.Struct, frozen=True):
    """By what files of equal options are repaired."""

    plan: RunPlan
    settings: RepairSettings
    #: All rules by code.
    rules: Mapping[str, Rule]
    #: The codes of the rules by which a document follows the repairs of other files.
    following: frozenset[str]
    #: Whether files in no known format are passed over, and so left as they are.
    skips_unrecognised: bool


def job_for(
    options: Options, schema: tuple[str, Schema] | None, *, unsafe: bool
) -> Job:
    """Return by what files with these options are repaired.

    Raises `UnknownRule`, `NoRuleLeft` and `UnknownFormat`.
    """
    formats = _formats_of(options.format)
    rules = rules_for(formats, [*options.select, *options.ignore])
    selected = selected_rules(
        rules, list(options.select), list(options.ignore), lint=unsafe
    )
    # All rules on single rows are active, whichever may be repaired: what is wrong
    # with a row decides whether it can be.
    active = {
        code: rule
        for code, rule in rules.items()
        if not (rule.lint or code.startswith(_across))
    }
    plain = replace(options, select=(), ignore=(), lint=False, examples=1)
    plan = run_plan_of(plain, active, schema, formats, for_reading=True)
    errors = [code for code, rule in active.items() if rule.severity is Severity.ERROR]
    settings = RepairSettings(selected, unsafe, frozenset(errors))
    skips_unrecognised = options.skip_unrecognised and schema is None
    return Job(plan, settings, rules, selected, skips_unrecognised)


def name_and_schema(given: Any) -> tuple[str, Schema] | None:
    """Return the name and content of the user's schema, None without one."""
    if given is None:
        return None
    from harpia_formats.validation.unit.given_schema import given_schema  # noqa: PLC0415 - only with a schema of the user

    checked = given_schema(given)
    return Path(checked.name).name, checked.schema


def _formats_of(name: str | None) -> tuple[Format, ...]:
    """Return the formats called `name`, all without a name. Raises `UnknownFormat`."""
    return tuple(all_formats().values()) if name is None else formats_named(name)


#: Bytes of a byte order mark.
MARK_BYTES = len(BOM)


def blocks_again(file: OpenFile, state: FileState | None) -> Iterator[bytes]:
    """Yield the bytes of a file once more.

    Raises `SourceError` at their end if they are not those that were read before.
    """
    size = 0
    for block in file.again.blocks():
        size += len(block)
        yield block
    origin = file.source.origin
    reason = reason_of_change(origin, state) if isinstance(origin, Path) else ""
    if not reason and size != file.count.bytes:
        end = f" ({file.again.failure})" if file.again.failure else ""
        reason = f"cannot be read to its end a second time{end}"
    if reason:
        raise SourceError(file.source.name, f"{reason}; nothing was written")


def has_mark(file: OpenFile) -> bool:
    """Return whether a file begins with a byte order mark."""
    with closing(file.again.blocks()) as blocks:
        return next(blocks, b"").startswith(BOM)


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
    in_workers: ValidateInWorkers | None = None
    if means.pool is not None:
        from harpia_formats.validation.parallel.ranges import map_ranges  # noqa: PLC0415 - only for several processes
        from harpia_formats.validation.repair.repair_ranges import RangeRepair  # noqa: PLC0415 - only for several processes

        pool, progress = means.pool, means.progress

        def in_workers(
            local: LocalValidation, frames: Iterator[Frame], file: OpenFile
        ) -> Generator[Findings, None, None]:
            work = RangeRepair(local, consumer)
            return map_ranges(pool, work, local, frames, file, progress)

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
    if local.merge.gap:
        raise SourceError(file.source.name, local.merge.gap)
    consumer.finish(local.validators)
    # Validation may end early, but what is written is the file as a whole: its bytes
    # are counted, and kept if it cannot be read again. Workers that read ranges of a
    # file to its end have counted them.
    reader = file.blocks.reader
    if getattr(reader, "file", None) is None or file.count.bytes != reader.total:
        for _ in file.blocks:
            pass
    # Spreadsheets take a table without it for one in the encoding of the machine.
    is_json = local.merge.plan.cut in {Framing.VALUES, Framing.MEMBERS}
    is_wanted = BYTE_ORDER_MARK in job.settings.codes and (
        is_json or job.settings.unsafe
    )
    if is_wanted and has_mark(file):
        what = "dropped the byte order mark"
        change = PlacedChange(BYTE_ORDER_MARK, 1, 1, 0, "", what)
        store.add(PlacedRepair((Edit(0, MARK_BYTES, b""),), (change,)))
    if job.settings.unsafe and OTHER_DELIMITER in job.settings.codes:
        _add_delimiters(file, local, store)
    return Found(consumer.format, names_of_files(local, file.source.name))


def _add_delimiters(file: OpenFile, local: LocalValidation, store: RepairStore) -> None:
    """Store what writes the delimiter of a table in place of one of full width.

    Nothing is stored unless it cuts all lines into equally many fields.
    """
    sample, limit = local.sample, local.validators.options.max_row_bytes
    if sample is None or sample.other_delimiter not in WIDE_DELIMITERS:
        return
    wide, plain = sample.other_delimiter, sample.delimiter
    lines = 0
    for edits in delimiter_edits(file.again.blocks(), wide, plain, limit):
        if edits is None:
            return
        lines += 1
    what = f"wrote a {named(plain)} for each {named(wide)} between fields"
    change = PlacedChange(OTHER_DELIMITER, 1, 1, 0, "", f"{what} ({lines} lines)")
    is_counted = False
    for edits in delimiter_edits(file.again.blocks(), wide, plain, limit):
        if edits is not None:
            placed = tuple([Edit(*edit) for edit in edits])
            # The change is one of the file, so it stands with the edits of one line.
            store.add(PlacedRepair(placed, () if is_counted else (change,)))
            is_counted = True
