"""The errors of the judge, whose texts tell users what to fix."""

from typing import Literal

from harpia_formats.model.problem import HarpiaFormatsError


class JudgeError(HarpiaFormatsError):
    """A condition under which the judge cannot run."""


class DefinitionError(JudgeError, ValueError):
    """A definition from which no judge can be built."""


class InputError(JudgeError, ValueError):
    """Inputs that do not match those that the definition declares."""


class RowError(JudgeError, ValueError):
    """A row without a verdict, in a run that stops at such rows.

    `repeats` is what makes the same run fail again at this row: the `row` itself, or
    the `reply` that the cache keeps. It is "" if the row is asked for again.
    """

    def __init__(self, message: str, repeats: Literal["", "row", "reply"] = "") -> None:
        super().__init__(message)
        self.repeats = repeats


class CacheError(JudgeError):
    """A cache file that cannot be used."""
