"""The options of the page, and the error for what it cannot show."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.model.problem import HarpiaFormatsError


class ViewError(HarpiaFormatsError):
    """What the page asks for cannot be shown; the text says why in one line."""


def whole(query: Mapping[str, str], name: str, default: int) -> int:
    """Return a value of a query as an integer of at least 0. Raises `ViewError`."""
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < len(str(2**63))):
        raise ViewError(f"{name} is a whole number")
    return int(text)


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """How files are opened, and what of them is shown.

    Raises `OptionError` for a delimiter that cannot be one.
    """

    #: The id of the format of all files, None to recognise it.
    format: str | None = None
    #: The character between the fields of a table, None for that of the file's name.
    delimiter: str | None = None
    #: Patterns of paths; files that match are left out.
    exclude: tuple[str, ...] = ()
    #: Bytes of a row, at most.
    max_row_bytes: int = ROW_LIMIT
    #: Whether no value of a record is shown.
    redact: bool = False
    #: The file of notes, None if no notes are taken.
    notes: PathLike[str] | str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            delimiter_named(self.delimiter)
