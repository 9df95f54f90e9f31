"""Regular expressions that are compiled when they are first used."""

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    """Has the methods of a compiled expression."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)  # from now on it is found without this function
        return found


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled when one of its methods is used.

    Most are for rows with faults; to compile them all takes a third of the time in
    which lints start.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
