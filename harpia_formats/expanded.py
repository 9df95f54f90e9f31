"""Ids of the rows that one record becomes, and the id that they came from.

A row gets `#` and its number behind the id. An id that ends like that already gets a
number as well even if its record is one row, so that taking off the last number always
gives the id back.
"""

import re

_number = re.compile(r"(?s)(.*)#([1-9]\d*)")


def expanded_id(given: object) -> str | None:
    """Return the id that `given` was made from, None if it looks like none of ours."""
    found = _number.fullmatch(given) if isinstance(given, str) else None
    return found[1] if found else None
