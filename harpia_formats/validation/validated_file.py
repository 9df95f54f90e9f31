"""A file that was validated, as its check against a companion file needs it."""

from collections.abc import Callable

import msgspec

from harpia_formats.files.framing.columns import DocumentFrames
from harpia_formats.files.io.reread import RereadableSource
from harpia_formats.files.io.source import Source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.model.format import Companion, Format
from harpia_formats.model.report import FileCount
from harpia_formats.validation.companion_names import names_beside
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.outcomes import Outcomes
from harpia_formats.validation.merge.places import in_members
from harpia_formats.validation.one_file import OpenFile
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import Demand
from harpia_formats.validation.second_pass import rereading
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.result import (
    NO_FINDINGS,
    FileResult,
    Findings,
)


class ValidatedFile(msgspec.Struct, frozen=True):
    """A file of a known format that was validated, and its outcomes."""

    source: Source
    plan: FilePlan
    variant: FormatVariant
    outcomes: Outcomes
    #: Returns the frames of the file once more.
    frames: Callable[[], DocumentFrames]
    #: The number of the last record that was validated.
    until: int
    #: Whether all records were validated.
    whole: bool
    #: The names that files may have that are checked against it; None if not known.
    names: tuple[str, ...] | None = None
    #: What lints of the file count, and what they find if it has no companion.
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    pending: Findings = NO_FINDINGS

    @property
    def count(self) -> FileCount:
        """The counts of the file."""
        return self.outcomes.count

    @property
    def format(self) -> Format:
        """The format of the file."""
        return self.variant.format

    @property
    def companion(self) -> Companion | None:
        """How files of the format are checked against another file."""
        return self.variant.format.companion

    def collector(self, demand: Callable[[], Demand]) -> Collector:
        """Return a collector of problems of the file."""
        run = self.plan.run
        return Collector(
            run.active_rules(),
            self.plan.name,
            run.options.examples,
            demand,
            hides_values=run.options.redact,
        )


def validated_file(file: OpenFile, local: LocalValidation) -> ValidatedFile | None:
    """Return the file that was validated here, None if no check can follow."""
    merge, plan = local.merge, local.merge.plan
    failed = merge.stopped and plan.run.options.fail_fast
    if plan.variant is None or failed:
        return None
    return ValidatedFile(
        file.source,
        plan,
        plan.variant,
        merge.outcomes,
        rereading(plan, file.again),
        until=merge.records,
        whole=not (merge.stopped or merge.gap or file.blocks.error),
        names=names_beside(local, file.source.name),
        counts=merge.counts,
        pending=in_members(merge.pending, file.count.path, file.reader.places),
    )


def file_of_result(
    source: Source, result: FileResult, outcomes: Outcomes
) -> ValidatedFile | None:
    """Return the file that a worker validated, None if no check can follow."""
    plan = result.plan
    if plan.variant is None:
        return None
    return ValidatedFile(
        source,
        plan,
        plan.variant,
        outcomes,
        rereading(plan, RereadableSource(source)),
        until=result.until,
        whole=result.whole,
        names=result.names,
        counts=result.counts,
        pending=result.pending,
    )
