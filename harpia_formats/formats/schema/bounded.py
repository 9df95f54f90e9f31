"""Tell whether validating by a schema takes a time that is bounded by the data.

In a schema that is a tree, each keyword is evaluated once for a value of the data, or a
few times. References can multiply that: doubled ones without end, recursive ones with
each level of the data; and a pattern with look-around or back-references is searched by
an engine that tries all ways to match.
"""

import re
from typing import Any

from harpia_formats.formats.schema.references import members, resolve

#: Values of a bounded schema with its references expanded, at most.
EXPANDED_LIMIT = 5_000
#: Levels of a bounded schema with its references expanded, at most.
DEPTH_LIMIT = 200
#: Values of an `enum` that are compared one by one, at most.
LISTED_LIMIT = 100
#: Characters of a pattern, and repetitions that it counts, at most.
PATTERN_LIMIT, REPEAT_LIMIT = 1_000, 1_000
#: What a pattern without look-around and back-references does not contain. Some that
#: it finds are harmless, such as an escaped digit in a class.
_unusual = re.compile(r"\(\?(?!:)|\\[1-9kK]")
_counted = re.compile(r"\{(\d+)(?:,(\d*))?\}")


class _Unbounded(Exception):  # noqa: N818 - an answer, not an error
    """The time of a validation may not be bounded."""


def is_bounded(schema: Any, part: Any = None) -> bool:
    """Return whether the time of validating by `schema` is bounded by the data.

    It is False for what is not certain. `schema` may be any JSON value. With `part`, an
    object in it, it is about validating by that.
    """
    try:
        _Expansion(schema).size(schema if part is None else part, 0)
    except _Unbounded:
        return False
    return True


class _Expansion:
    """Counts the values of a schema with its references expanded."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        #: The sizes of the values that were counted, and 0 for those not yet counted.
        self._sizes: dict[int, int] = {}

    def size(self, node: Any, depth: int) -> int:
        """Return the number of values in `node`. Raises `_Unbounded`."""
        if not isinstance(node, (dict, list)):
            return 1
        known = self._sizes.get(id(node))
        if known == 0 or depth > DEPTH_LIMIT:
            raise _Unbounded  # a reference leads back to itself
        if known is None:
            self._sizes[id(node)] = 0
            if isinstance(node, dict):
                _check_keywords(node, is_root=node is self._schema)
            parts = members(node)
            if isinstance(node, dict) and isinstance(node.get("$ref"), str):
                parts = [*parts, self._target(node["$ref"])]
            known = 1
            for part in parts:
                known += self.size(part, depth + 1)
                if known > EXPANDED_LIMIT:
                    raise _Unbounded
            self._sizes[id(node)] = known
        return known

    def _target(self, reference: str) -> Any:
        """Return what a reference leads to. Raises `_Unbounded` without knowing it."""
        found = resolve(self._schema, reference) if reference[:1] == "#" else None
        if found is None:
            raise _Unbounded
        return found


def _check_keywords(node: dict[str, Any], *, is_root: bool) -> None:
    """Raise `_Unbounded` for keywords whose cost is not that of their size."""
    if "$id" in node and not is_root:
        raise _Unbounded  # references inside are not relative to the root
    listed = members(node.get("enum"))
    if len(listed) > LISTED_LIMIT and not all(isinstance(text, str) for text in listed):
        raise _Unbounded
    named = node.get("patternProperties")
    patterns = [node.get("pattern"), *(named if isinstance(named, dict) else ())]
    for pattern in patterns:
        if isinstance(pattern, str) and not is_linear_pattern(pattern):
            raise _Unbounded


def is_linear_pattern(pattern: str) -> bool:
    """Return whether a short pattern is searched in linear time."""
    if len(pattern) > PATTERN_LIMIT or _unusual.search(pattern):
        return False
    product = 1
    for least, most in _counted.findall(pattern):
        digits = most or least
        if len(digits) > len(str(REPEAT_LIMIT)):
            return False
        product *= max(1, int(digits))
    return product <= REPEAT_LIMIT
