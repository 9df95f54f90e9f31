"""The errors of the judge, whose texts tell users what to fix."""

from collections.abc import Collection, Iterable
from typing import Any, Literal

from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.spelling import hint_on

#: What makes a run fail again at a row: the row, the reply in the cache, or nothing.
RepeatedBy = Literal["", "row", "reply"]


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

    def __init__(self, message: str, repeats: RepeatedBy = "") -> None:
        super().__init__(message)
        self.repeats = repeats


class CacheError(JudgeError):
    """A cache file that cannot be used."""


def require(holds: object, message: str) -> None:
    """Raise `DefinitionError` with a message unless something holds."""
    if not holds:
        raise DefinitionError(message)


def check_keys(given: Iterable[Any], known: Collection[str], what: str) -> None:
    """Raise `DefinitionError` if an object, which `what` names, has an unknown key."""
    for key in given:
        if key not in known:
            raise DefinitionError(f"{what} has no {key!r}{hint_on(str(key), known)}")
