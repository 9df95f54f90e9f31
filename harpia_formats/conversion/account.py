"""Keep account of the files of a conversion, and of what became of their fields."""

from collections import Counter
from pathlib import Path

from harpia_formats.conversion.losses.counts import Losses
from harpia_formats.conversion.report import FileLosses
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.model.report import FileCount


class StopConversion(Exception):  # noqa: N818 - not an error
    """No more of the input is wanted."""


class ConversionTotals:
    """What was read so far, file by file; the last file is the present one."""

    def __init__(self, *, loss_fails: bool) -> None:
        self._loss_fails = loss_fails
        #: Whether something was lost where that is a failure.
        self.failed_by_loss = False
        self.files: list[FileLosses] = []
        self.counts: list[FileCount] = []
        self.variants: list[FormatVariant] = []
        #: Records that were converted, and those that were left out.
        self.records = self.skipped = 0
        #: What stands in front of ids of the present file where they get its name.
        self.prefix = ""
        #: How often files were called alike.
        self._stems: Counter[str] = Counter()

    def begin(self, variant: FormatVariant, count: FileCount) -> None:
        """Go on to the next file."""
        self.files.append(FileLosses(count.path, variant.format))
        self.counts.append(count)
        self.variants.append(variant)
        stem = Path(count.path).name.split(".")[0]
        self._stems[stem] += 1
        number = self._stems[stem]
        self.prefix = f"{stem}/" if number == 1 else f"{stem}-{number}/"

    @property
    def losses(self) -> Losses:
        """What became of the fields of the present file."""
        return self.files[-1].losses

    @property
    def present(self) -> int:
        """The number of the present file."""
        return len(self.files) - 1

    def fails_by_loss(self) -> bool:
        """Tell whether something was lost where that is a failure."""
        if self._loss_fails and any(each.has_loss for each in self.files):
            self.failed_by_loss = True
        return self.failed_by_loss

    def stop_at_loss(self) -> None:
        """Raise `StopConversion` if something was lost where that is a failure."""
        if self.fails_by_loss():
            raise StopConversion
