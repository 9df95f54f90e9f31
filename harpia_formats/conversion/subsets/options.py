"""The options of the commands that copy rows, and their error."""

from collections.abc import Callable
from dataclasses import dataclass

from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.parsing.csv_delimiter import check_delimiter
from harpia_formats.model.errors import HarpiaFormatsError, OptionError


class SubsetError(HarpiaFormatsError):
    """Rows cannot be copied as the options ask; its text is the message."""

    hides_values = True


class SubsetValueError(SubsetError):
    """Rows cannot be copied because of what is in them, which the message shows."""

    hides_values = False


@dataclass(frozen=True, slots=True)
class SubsetOptions:
    """How the rows of a file are read, and how their copies are written.

    Raises `OptionError` for values that no file can meet.
    """

    #: The format of the input; None to recognise it.
    from_: str | None = None
    delimiter: str | None = None
    max_row_bytes: int = ROW_LIMIT
    overwrite: bool = False
    #: Whether messages show no values of records.
    redact: bool = False
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        check_delimiter(self.delimiter)
        if self.max_row_bytes < 1:
            raise OptionError(f"max_row_bytes is {self.max_row_bytes}, and not above 0")
