"""The error of a recipe that cannot be used."""

from harpia_formats.model.errors import TomlLineError


class RecipeError(TomlLineError):
    """A recipe that cannot be used: its line, the key there, and the reason."""
