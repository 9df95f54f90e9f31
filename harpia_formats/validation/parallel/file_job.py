"""A file whose inspection is under way, as whoever helps must know it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from harpia_formats.dedup.duplicate_ids import DuplicateIdFinder
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.detection.read_blocks import ReadBlocks
from harpia_formats.detection.sampled_file import Framing
from harpia_formats.framing.columns import DocumentFrames
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.rules import Rule
from harpia_formats.schema.load import Schema
from harpia_formats.validation.file.emit import Speaker
from harpia_formats.validation.file.outcomes import Outcomes
from harpia_formats.validation.file.parts import Part
from harpia_formats.validation.file.tally import Tally
from harpia_formats.validation.options import Options
from harpia_formats.validation.parallel.messages import (
    Found,
    Job,
    new_key,
    plain_options,
)
from harpia_formats.validation.parallel.worker_tally import Keys


@dataclass(frozen=True, slots=True)
class Site:
    """A file whose inspection is under way, as far as whoever helps must know it."""

    options: Options
    rules: Mapping[str, Rule]
    #: The user's schema with its name, if it is judged by one.
    given: tuple[str, Schema] | None
    variant: FormatVariant | None
    cut: Framing
    tally: Tally
    speaker: Speaker
    outcomes: Outcomes
    part: Part
    unique: DuplicateIdFinder | Keys | None
    blocks: ReadBlocks
    #: Judges rows here.
    judge: Callable[[DocumentFrames], Iterator[Problem]]
    #: Counts so many further records.
    add: Callable[[int], None]
    #: Takes note of blank lines and of the last line, by the lines before.
    note: Callable[[Found, int], None]
    #: Takes note that some rows are not judged.
    miss: Callable[[], None]

    @property
    def count(self) -> FileCount:
        """The counts of the file."""
        return self.outcomes.count

    def job(self) -> Job:
        """Return how ranges of the file are to be judged."""
        variant = self.variant
        return Job(
            new_key(),
            plain_options(self.options),
            tuple(self.rules),
            self.given,
            formats=(),
            format=variant.format.id if variant else "",
            dialect=variant.format.dialects.index(variant.dialect) if variant else 0,
            unique=self.unique is not None,
            cut=self.cut,
        )
