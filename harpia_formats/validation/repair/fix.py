"""Repair files, and validate what is there then: one call for programs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harpia_formats.files.io.inputs import Input, close_copies, rewind_inputs
from harpia_formats.model.errors import OptionError
from harpia_formats.model.report import Report
from harpia_formats.validation.options import Options
from harpia_formats.validation.repair.options import FixOptions
from harpia_formats.validation.repair.result import Change
from harpia_formats.validation.repair.run import Fixing
from harpia_formats.validation.repair.target import inputs_to_repair
from harpia_formats.validation.run import Validation


@dataclass(frozen=True, slots=True)
class FixReport:
    """What a repair changed, and what is still wrong."""

    #: Every change, in order of the places in each file. Documents that follow the
    #: repairs of others come after these.
    changes: tuple[Change, ...]
    #: The files that were written.
    written: tuple[str, ...]
    #: The files that could not be repaired, each with the reason.
    failures: tuple[tuple[str, str], ...]
    #: The changes as a unified diff, if that was asked for.
    diff: bytes = b""
    #: The report of the validation after the repair; None with a diff, or without an
    #: output.
    report: Report | None = None
    #: Repaired files of which a digest in another file, such as an aggregate, is out of
    #: date: it is beside them, or was named, and no document among the inputs could
    #: follow. With an output it is the input, which such a digest is still of.
    unfollowed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every file could be repaired, and no error is left."""
        return not self.failures and (self.report is None or self.report.ok)


def fixed(inputs: Sequence[Input], options: Options, fix: FixOptions) -> FixReport:
    """Repair inputs, and return the report; the changes are held in memory.

    Raises what `Fixing` and `Validation` raise, and `OptionError` for options of the
    report with a diff, which has none.
    """
    for name in ("min_records", "write_baseline"):
        if fix.diff and getattr(options, name):
            raise OptionError(f"{name} and diff cannot be combined: nothing is counted")
    kept = inputs_to_repair(inputs, fix)
    try:
        return _fixed(kept, options, fix)
    finally:
        close_copies(inputs, kept)


def _fixed(inputs: list[Input], options: Options, fix: FixOptions) -> FixReport:
    """Repair inputs that can be read twice if they are to be validated then."""
    changes: list[Change] = []
    written: list[str] = []
    failures: list[tuple[str, str]] = []
    diff = b""
    fixing = Fixing(inputs, options, fix)
    for file in fixing:
        changes += file.changes()
        if file.reason:
            failures.append((file.path, file.reason))
        if file.written:
            written.append(file.written)
        if fix.diff:
            diff += b"".join(file.diff())
    unfollowed = tuple(one.path for one in fixing.unfollowed())
    found = FixReport(
        tuple(changes), tuple(written), tuple(failures), diff, unfollowed=unfollowed
    )
    left: Sequence[Input] = written if fixing.output else inputs
    if fix.diff or not left:
        return found
    rewind_inputs(left)
    run = Validation(left, options)
    problems = tuple(run)
    return replace(found, report=replace(run.report(), problems=problems))
