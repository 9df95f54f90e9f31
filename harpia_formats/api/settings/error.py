"""The error of settings that cannot be used, and the names of their files."""

from harpia_formats.model.errors import HarpiaFormatsError

#: The names of files with settings; in one folder the first counts.
OWN_FILE, PYPROJECT = "harpia-formats.toml", "pyproject.toml"


class SettingsError(HarpiaFormatsError):
    """Settings that cannot be used: their file, the place in it, and the reason."""

    hides_values = True

    def __init__(self, path: str, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.path = path
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.path, self.place, self.reason)))


class LineError(SettingsError):
    """Settings that cannot be used, with the line of their file, 0 for none."""

    def __init__(self, path: str, line: int, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.args = (path, line, place, reason)
        self.line = line

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return ": ".join(filter(None, (where, self.place, self.reason)))
