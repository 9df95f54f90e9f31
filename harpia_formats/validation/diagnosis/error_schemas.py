"""Ways to be wrong, as schemas that hold for the records that are wrong in them.

Asking the engine for every error of a record copies what it refuses, which takes
several times as long as asking whether the record is valid. So once many records have
the same errors, a schema is made that says just that: each keyword that failed is
turned into its opposite, and all others stay. What it holds for has these errors and
no others, because the keywords of a schema are asked independently of each other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.problem import Path
from harpia_formats.schema.references import resolve
from harpia_formats.schema.validator import schema_validator_of

#: Errors of a record that is worth a schema of its own.
MOST_ERRORS = 8
#: Keywords that fail or hold whatever stands beside them. A pattern is not among
#: them: where the engine gives up on one, its opposite would hold.
_independent = frozenset(
    "const contains enum exclusiveMaximum exclusiveMinimum format maxItems maxLength "
    "maxProperties maximum minItems minLength minProperties minimum multipleOf not "
    "type uniqueItems".split()
)
Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """A keyword that failed, as the engine tells it."""

    #: How the engine came to the keyword, which is the last step.
    path: Path
    #: Where in the record.
    place: Path
    #: The key that is missing, or the keys that are unknown.
    detail: Any


class _Unsayable(Exception):  # noqa: N818 - an answer, not an error
    """No schema is known that says which records fail in this way."""


def way_of(
    schema: Any, failures: Sequence[Failure], *, formats: bool
) -> Callable[[Any], bool] | None:
    """Return what tells whether a record has these `failures` and no others.

    None if there are too many, or if no schema says it.
    """
    if len(failures) > MOST_ERRORS or not all(map(_is_definition, _references(schema))):
        return None
    opposite = deepcopy(schema)
    try:
        for each in failures:
            _turn(_opened(opposite, schema, each), each)
    except _Unsayable:
        return None
    return schema_validator_of(opposite, formats=formats).is_valid


def _references(node: Any, *, is_root: bool = True) -> Iterator[Any]:
    """Yield what a schema refers to, and where parts of it say that they start anew."""
    inner: Iterable[Any] = node if isinstance(node, list) else ()
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        if "$id" in node and not is_root:
            yield node["$id"]
        inner = node.values()
    for each in inner:
        yield from _references(each, is_root=False)


def _is_definition(reference: Any) -> bool:
    """Tell whether a reference leads to where no keyword is turned."""
    return isinstance(reference, str) and reference.startswith("#/definitions/")


def _opened(root: Node, schema: Any, failure: Failure) -> Node:
    """Return the node of the keyword, with every condition on the way made to hold."""
    node: Any = root
    steps, keys = iter(failure.path[:-1]), iter(failure.place)
    for step in steps:
        if step in {"properties", "additionalProperties"}:
            key = next(keys)
            node = _member(node, key, is_known=step == "properties")
            if step == "properties" and next(steps) != key:
                raise _Unsayable
        elif step == "allOf":
            node = node[step][next(steps)]
        elif step in {"then", "else"}:
            _settle(node, holds=step == "then")
            node = node[step]
        elif step == "$ref":
            _follow(node, schema)
        else:
            raise _Unsayable
    if not isinstance(node, dict):
        raise _Unsayable
    return node


def _member(node: Node, key: Any, *, is_known: bool) -> Any:
    """Return the node of a member, which must be there."""
    if not isinstance(key, str):
        raise _Unsayable
    _demand(node, {"type": "object", "required": [key]})
    known = node.get("properties", {})
    if not is_known and key not in known:
        node["properties"] = {**known, key: deepcopy(node["additionalProperties"])}
    return node["properties"][key]


def _follow(node: Node, schema: Any) -> None:
    """Put what `node` refers to in its place, unless that was done before."""
    if "$ref" in node:
        target = deepcopy(resolve(schema, node["$ref"]))
        # What stands beside a reference counts for nothing, but others refer to it.
        kept = {key: node[key] for key in ("definitions",) if key in node}
        node.clear()
        node.update(target | kept)


def _settle(node: Node, *, holds: bool) -> None:
    """Demand that the condition of `node` holds, or that it does not."""
    condition = node["if"]
    if condition is not holds:
        _demand(node, condition if holds else {"not": condition})
        node["if"] = holds


def _turn(node: Node, failure: Failure) -> None:
    """Turn the keyword of `node` that failed into its opposite."""
    keyword = failure.path[-1]
    if keyword == "required":
        node[keyword] = [each for each in node[keyword] if each != failure.detail]
        _demand(node, {"not": {keyword: [failure.detail]}})
    elif keyword == "additionalProperties" and node[keyword] is False:
        if len(failure.detail) != 1:
            raise _Unsayable
        (unknown,) = failure.detail
        node["properties"] = {**node.get("properties", {}), unknown: True}
        _demand(node, {"type": "object", "required": [unknown]})
    elif keyword in _independent and keyword in node:
        _demand(node, {"not": {keyword: node.pop(keyword)}})
    else:
        raise _Unsayable


def _demand(node: Node, demand: Mapping[str, Any]) -> None:
    """Add what a node is to hold for too, behind what it has."""
    node["allOf"] = [*node.get("allOf", ()), demand]
