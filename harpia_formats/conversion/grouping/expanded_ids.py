"""Ids of the rows that one record becomes, and the id that they came from.

Each of several rows gets `#` and its number behind the id. Whether an id was made so
cannot be told by looking at it alone: rows belong together only if they ask the same.
"""

import re

_number = re.compile(r"(?s)(.*)#([1-9]\d*)")


def expanded_id(given: object) -> str | None:
    """Return the id that `given` may be made from, None if it does not look so."""
    found = _number.fullmatch(given) if isinstance(given, str) else None
    return found[1] if found else None
