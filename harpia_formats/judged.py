"""A file that was judged, as far as checking it against another needs it."""

from collections.abc import Callable
from dataclasses import dataclass

from harpia_formats.detection import Variant
from harpia_formats.format import Companion
from harpia_formats.marks import Outcomes
from harpia_formats.slices import Slices
from harpia_formats.source import Source
from harpia_formats.speaker import Speaker


@dataclass(frozen=True, slots=True)
class Judged:
    """A file that was judged, and may be checked against its companion."""

    source: Source
    variant: Variant
    speaker: Speaker
    outcomes: Outcomes
    #: Returns its frames once more.
    frames: Callable[[], Slices]
    #: The number of the last record that was judged.
    until: int
    #: Whether all of them were.
    whole: bool

    @property
    def companion(self) -> Companion | None:
        """How its format is checked against another file."""
        return self.variant.format.companion
