"""The error about a companion file that cannot be used."""

from harpia_formats.files.io.file_kinds import OtherKindError
from harpia_formats.files.io.reader import SourceError
from harpia_formats.model.errors import HarpiaFormatsError


class CompanionError(HarpiaFormatsError):
    """A file cannot be used to check other files against it: which one, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    @classmethod
    def of(cls, error: SourceError) -> "CompanionError":
        """Return the error for a companion file that cannot be read.

        No table and no archive is one, also not of a kind that is read otherwise.
        """
        if isinstance(error, OtherKindError):
            return cls(error.path, f"is {error.kind.name}, with which no rows are read")
        return cls(error.path, error.reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
