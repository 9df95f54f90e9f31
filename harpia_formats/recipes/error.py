"""The error of a recipe that cannot be used."""

from harpia_formats.settings.error import SettingsError


class RecipeError(SettingsError):
    """A recipe that cannot be used: its line, the key there, and the reason."""

    hides_values = True

    def __init__(self, path: str, line: int, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.args = (path, line, place, reason)
        self.line = line

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return ": ".join(filter(None, (where, self.place, self.reason)))
