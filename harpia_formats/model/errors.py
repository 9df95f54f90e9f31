"""The base of all exceptions that a user of harpia-formats can meet."""


class HarpiaFormatsError(Exception):
    """Something that the user can mend; its text is the whole message."""

    #: Whether its text certainly holds no value of a record: it is about options, files
    #: and what is installed.
    hides_values = False

    def without_values(self) -> "HarpiaFormatsError | None":
        """Return the error with a text without values of records, None if unknown."""
        return self if self.hides_values else None


#: How the reason begins why a file that is not there cannot be read.
MISSING = "does not exist"


class OptionError(HarpiaFormatsError, TypeError, ValueError):
    """An option of a Python function that does not exist, or has a wrong value."""

    hides_values = True


class ConversionError(HarpiaFormatsError):
    """A conversion that is not possible; the message says why. Nothing is written."""


class ConversionOptionsError(ConversionError):
    """A conversion that is not possible between such formats, or with such options.

    Its message names files, formats, fields and options, and no value of a record.
    """

    hides_values = True


class TomlError(HarpiaFormatsError):
    """A TOML file that cannot be used: its path, the place in it, and the reason."""

    hides_values = True

    def __init__(self, path: str, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.path = path
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.path, self.place, self.reason)))


class TomlLineError(TomlError):
    """A TOML file that cannot be used, with the line of the place, 0 for none."""

    def __init__(self, path: str, line: int, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.args = (path, line, place, reason)
        self.line = line

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return ": ".join(filter(None, (where, self.place, self.reason)))


class EngineError(HarpiaFormatsError):
    """An engine cannot be used: its name, and the reason."""

    hides_values = True

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(engine, reason)
        self.engine = engine
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.engine}: {self.reason}"
