"""The errors of the judge, whose texts tell users what to fix."""

from harpia_formats.model.errors import HarpiaFormatsError


class JudgeError(HarpiaFormatsError):
    """A condition under which the judge cannot run."""


class DefinitionError(JudgeError, ValueError):
    """A definition from which no judge can be built."""


class InputError(JudgeError, ValueError):
    """Inputs that do not match those that the definition declares."""


class RowError(JudgeError, ValueError):
    """A row without a verdict, in a run that stops at such rows."""


class CacheError(JudgeError):
    """A cache file that cannot be used."""
