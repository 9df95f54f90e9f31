"""The error of a recipe that cannot be used."""

from harpia_formats.api.settings.error import LineError


class RecipeError(LineError):
    """A recipe that cannot be used: its line, the key there, and the reason."""
