"""A file whose inspection is under way, as whoever helps must know it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from harpia_formats.blocks import Blocks
from harpia_formats.detection import Variant
from harpia_formats.head import Cut
from harpia_formats.marks import Outcomes
from harpia_formats.noting import Keys
from harpia_formats.options import Options
from harpia_formats.parts import Part
from harpia_formats.problem import Problem
from harpia_formats.report import FileCount
from harpia_formats.rules import Rule
from harpia_formats.schema import Schema
from harpia_formats.slices import Slices
from harpia_formats.speaker import Speaker
from harpia_formats.tally import Tally
from harpia_formats.uniqueness import Uniqueness
from harpia_formats.work import Found, Job, new_key, plain_options


@dataclass(frozen=True, slots=True)
class Site:
    """A file whose inspection is under way, as far as whoever helps must know it."""

    options: Options
    rules: Mapping[str, Rule]
    #: The user's schema with its name, if it is judged by one.
    given: tuple[str, Schema] | None
    variant: Variant | None
    cut: Cut
    tally: Tally
    speaker: Speaker
    outcomes: Outcomes
    part: Part
    unique: Uniqueness | Keys | None
    blocks: Blocks
    #: Judges rows here.
    judge: Callable[[Slices], Iterator[Problem]]
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
