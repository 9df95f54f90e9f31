"""The error of a preflight file that cannot be used."""

from harpia_formats.api.settings.error import LineError


class PreflightError(LineError):
    """A preflight file that cannot be used: its line, the key there, and the reason."""
