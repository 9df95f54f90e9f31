"""The error of a preflight file that cannot be used."""

from harpia_formats.model.problem import TomlLineError


class PreflightError(TomlLineError):
    """A preflight file that cannot be used: its line, the key there, and the reason."""
