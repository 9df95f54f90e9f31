"""The error about a companion file that cannot be used."""

from harpia_formats.model.errors import HarpiaFormatsError


class CompanionError(HarpiaFormatsError):
    """A file cannot be used to check other files against it: which one, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
