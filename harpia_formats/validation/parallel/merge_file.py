"""A file that was judged elsewhere as a whole, as if it had been judged here."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.detection.sampled_file import Framing, reread_frames
from harpia_formats.framing.chunk import Cursor
from harpia_formats.io.reread import RereadableSource
from harpia_formats.io.source import Source
from harpia_formats.model.problem import Problem
from harpia_formats.registry import format_of
from harpia_formats.validation.file.emit import Speaker
from harpia_formats.validation.file.outcomes import Outcomes
from harpia_formats.validation.file.tally import Tally
from harpia_formats.validation.options import Options
from harpia_formats.validation.parallel.merge import merged
from harpia_formats.validation.parallel.messages import FoundFile

if TYPE_CHECKING:  # only for pairs
    from harpia_formats.validation.file.result import Judged


@dataclass(frozen=True, slots=True)
class TakenFile:
    """Takes over what was found in a file."""

    source: Source
    tally: Tally
    speaker: Speaker
    outcomes: Outcomes
    options: Options

    def problems(self, found: FoundFile) -> Iterator[Problem]:
        """Yield the problems that are kept; all of them are counted."""
        count = self.outcomes.count
        count.format, count.dialect = found.format, found.dialect
        count.records, count.bytes = found.found.records, found.bytes
        yield from merged(found.found, self.tally, self.outcomes)
        count.folded = found.folded
        count.complete, count.reason = found.complete, found.reason

    def missed(self) -> Iterator[Problem]:
        """Count a file that nobody can judge as one record, and say so."""
        count = self.outcomes.count
        count.records = 1
        self.outcomes.note_open(1)
        yield from self.speaker.say(
            "V901",
            "the file could not be judged: twice the process died that was at work "
            "on it",
            "see that there is memory enough, or look for what is special about it",
            self.speaker.place(Cursor()),
        )

    def judged(self, found: FoundFile) -> "Judged | None":
        """Return what is known of the file, if its records can be checked further."""
        variant = variant_of(found)
        if variant is None or found.variant is None or found.folded:
            return None
        from harpia_formats.validation.file.result import Judged  # noqa: PLC0415 - only for pairs

        cut, limit = Framing[found.variant[2]], self.options.max_row_bytes
        blocks = RereadableSource(self.source).blocks
        return Judged(
            self.source,
            variant,
            self.speaker,
            self.outcomes,
            partial(reread_frames, blocks, cut, variant, limit),
            until=found.until,
            whole=found.whole,
        )


def variant_of(found: FoundFile) -> FormatVariant | None:
    """Return what a file was taken for."""
    if found.variant is None:
        return None
    name, dialect, _ = found.variant
    format_ = format_of(name)
    return FormatVariant(format_, format_.dialects[dialect])
