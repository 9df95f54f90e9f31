"""The outcome of a conversion: what was written, and what became of each field."""

from dataclasses import dataclass, field

from harpia_formats.conversion.losses.counts import Losses
from harpia_formats.model.field_fates import Fate, FieldFate
from harpia_formats.model.format import Format
from harpia_formats.model.report import Report, ValidationFailed


@dataclass(slots=True)
class FileLosses:
    """What became of the fields of one file."""

    path: str
    source: Format | None = None
    losses: Losses = field(default_factory=Losses)

    @property
    def has_loss(self) -> bool:
        """Whether something was lost."""
        return any(map(is_loss, self.losses.losses))


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """The outcome of a conversion."""

    report: Report
    #: The format that was written.
    target: str
    #: Where to, and how many rows.
    outputs: tuple[str, ...]
    rows: int
    #: Records that were left out because they are not valid, or cannot be converted.
    skipped: int
    losses: tuple[FileLosses, ...]
    #: Whether what was written is there.
    written: bool
    #: Whether something was lost where that is a failure.
    failed_by_loss: bool = False
    quarantine: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all that was asked for was done."""
        return self.written and not self.report.failures

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed` unless it is `ok`."""
        self.report.raise_for_errors()
        if not self.ok:
            raise ValidationFailed(self.report)

    @property
    def lossless(self) -> bool:
        """Whether nothing was lost."""
        return not any(each.has_loss for each in self.losses)


def is_loss(note: FieldFate) -> bool:
    """Tell whether something is lost by what `note` says."""
    return note.fate in {Fate.DROPPED, Fate.CHANGED, Fate.MERGED}
