"""A file that was judged, as far as checking it against another needs it."""

from collections.abc import Callable
from dataclasses import dataclass

from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.columns import DocumentFrames
from harpia_formats.io.source import Source
from harpia_formats.model.format import Companion
from harpia_formats.validation.file.emit import Speaker
from harpia_formats.validation.file.outcomes import Outcomes


@dataclass(frozen=True, slots=True)
class Judged:
    """A file that was judged, and may be checked against its companion."""

    source: Source
    variant: FormatVariant
    speaker: Speaker
    outcomes: Outcomes
    #: Returns its frames once more.
    frames: Callable[[], DocumentFrames]
    #: The number of the last record that was judged.
    until: int
    #: Whether all of them were.
    whole: bool

    @property
    def companion(self) -> Companion | None:
        """How its format is checked against another file."""
        return self.variant.format.companion
