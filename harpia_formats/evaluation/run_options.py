"""The options that scoring and statistics have in common."""

from dataclasses import dataclass

from harpia_formats.conversion.options import OnInvalid
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.model.problem import OptionError
from harpia_formats.model.report import Report
from harpia_formats.model.spelling import hint_on


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(ReadingOptions):
    """The options of a run over all valid records of some files.

    Raises `OptionError` for values outside of their range.
    """

    #: What to do with an invalid row: "fail", or "skip" to leave it out with a note.
    on_invalid: OnInvalid | str = OnInvalid.FAIL

    def __post_init__(self) -> None:
        ReadingOptions.__post_init__(self)
        known = OnInvalid.FAIL.value, OnInvalid.SKIP.value
        if self.on_invalid not in known:
            hint = hint_on(str(self.on_invalid), known, shown=repr)
            raise OptionError(f"on_invalid cannot be {self.on_invalid!r}{hint}")

    @property
    def skips_invalid(self) -> bool:
        """Whether invalid rows are left out."""
        return self.on_invalid == OnInvalid.SKIP

    def are_met_by(self, report: Report) -> bool:
        """Tell whether inputs with this report were read as the options ask."""
        is_read = report.ok or self.skips_invalid
        return is_read and not (report.failures or report.lacks_records)
