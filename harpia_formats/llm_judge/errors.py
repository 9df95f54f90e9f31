"""What stops a judge; each is a sentence for whoever must mend it."""


class JudgeError(Exception):
    """Something without which nothing can be judged, and why."""


class DefinitionError(JudgeError, ValueError):
    """A definition that no judge can be made from."""


class InputError(JudgeError, ValueError):
    """Inputs that are not what the definition declares."""


class RowError(JudgeError, ValueError):
    """A row that has no verdict, where that stops the run."""


class CacheError(JudgeError):
    """A cache that cannot be used."""
