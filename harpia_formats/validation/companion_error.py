"""The error of a companion file that cannot be used."""


class CompanionError(Exception):
    """A file that others should be checked against, and why they cannot be."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
