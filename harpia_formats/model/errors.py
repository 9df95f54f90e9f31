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
