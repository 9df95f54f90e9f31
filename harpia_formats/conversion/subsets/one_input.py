"""The one file whose rows are copied."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from harpia_formats.conversion.subsets.cut_file import CutFile
from harpia_formats.conversion.subsets.options import SubsetError
from harpia_formats.files.io.inputs import (
    Input,
    checked_inputs,
    close_copies,
    rereadable_input,
    rewind_inputs,
    sources_of_inputs,
)
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source
from harpia_formats.formats.registry import all_unpackers


def one_source(given: Input) -> Source:
    """Return the file that an input names.

    Raises `SourceError` if it cannot be found, and `SubsetError` for several files.
    """
    found = list(sources_of_inputs(checked_inputs([given]), None, all_unpackers()))
    if len(found) > 1:
        raise SubsetError(
            f"there are {len(found):,} files, and rows are copied from one; merge "
            "puts files together"
        )
    (source,) = found
    if isinstance(source, SourceError):
        raise source
    return source


class RereadInput:
    """An input that is read several times."""

    def __init__(self, kept: Input) -> None:
        """Take what `rereadable_input` returned."""
        self._kept = kept

    def again(self) -> Input:
        """Return the input, to be read from its beginning."""
        rewind_inputs([self._kept])
        return self._kept

    def source(self) -> Source:
        """Return the file, to be read from its beginning; raises `SourceError`."""
        return one_source(self.again())


@contextmanager
def reread_input(given: Any) -> Generator[RereadInput, None, None]:
    """Make an input that can be read several times; a stream is copied for that."""
    (checked,) = checked_inputs([given])
    kept = rereadable_input(checked)
    try:
        yield RereadInput(kept)
    finally:
        close_copies([checked], [kept])


def notes_on(file: CutFile, *, is_partial: bool = True) -> tuple[str, ...]:
    """Return what the user should know of copies of the rows of a file."""
    if file.is_unpacked:
        return (f"{file.name} holds no text: its rows are written as JSON Lines",)
    if file.is_wrapped and is_partial:
        note = f"the document around the rows of {file.name} is copied as it is"
        return (f"{note}; what it says of all rows may not be true of some",)
    return ()
