"""Build schemas that hold for exactly the records with the same schema errors.

Asking the engine for every error of a record copies the values that it refuses, which
takes several times as long as asking whether the record is valid. So once many records
have the same errors, a schema is built of theirs: each keyword that failed is turned
into its opposite, and all others stay. A record for which it holds has these errors and
no others, because the keywords of a schema are checked independently of each other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from harpia_formats.formats.schema.references import resolve
from harpia_formats.formats.schema.validator import schema_validator_of
from harpia_formats.model.problem import Path

#: Errors of a record for which a schema is built at most.
MOST_ERRORS = 32
#: Keywords that fail or hold whatever stands beside them. `pattern` is not among
#: them: where the engine gives up on a pattern, its opposite would hold.
_independent = frozenset(
    "const contains enum exclusiveMaximum exclusiveMinimum format maxItems maxLength "
    "maxProperties maximum minItems minLength minProperties minimum multipleOf not "
    "type uniqueItems".split()
)
#: An object of a JSON schema.
Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FailedKeyword:
    """A keyword of the schema that a record fails, with the engine's paths."""

    #: The evaluation path, which the keyword ends.
    path: Path
    #: Where in the record.
    instance_path: Path
    #: The key that is missing, or the keys that are unknown; None otherwise.
    detail: Any


class _NotExpressible(Exception):  # noqa: N818 - an answer, not an error
    """No schema is known that holds for exactly the records with these errors."""


def pattern_matcher(
    schema: Any, failed: Sequence[FailedKeyword], *, formats: bool
) -> Callable[[Any], bool] | None:
    """Return a function that tells whether a record fails `failed` and nothing else.

    None if they are more than `MOST_ERRORS`, or if no schema is known that expresses
    them. `formats` is whether the schema's `format` refuses values.
    """
    if len(failed) > MOST_ERRORS or not all(map(_is_definition, _references(schema))):
        return None
    opposite = deepcopy(schema)
    try:
        for keyword in failed:
            _negate(_opened(opposite, schema, keyword), keyword)
    except _NotExpressible:
        return None
    return schema_validator_of(opposite, formats=formats).is_valid


def _references(node: Any, *, is_root: bool = True) -> Iterator[Any]:
    """Yield the references in a schema, and the ids of the schemas inside of it."""
    inner: Iterable[Any] = node if isinstance(node, list) else ()
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        if "$id" in node and not is_root:
            yield node["$id"]
        inner = node.values()
    for part in inner:
        yield from _references(part, is_root=False)


def _is_definition(reference: Any) -> bool:
    """Return whether a reference leads to the definitions, which are not changed."""
    return isinstance(reference, str) and reference.startswith("#/definitions/")


def _opened(root: Node, schema: Any, failed: FailedKeyword) -> Node:
    """Return the node of `root` that has the keyword.

    All objects and conditions on the way to it are made to be present and to hold.
    Raises `_NotExpressible` if a step of the way is not supported.
    """
    node: Any = root
    steps, keys = iter(failed.path[:-1]), iter(failed.instance_path)
    for step in steps:
        if step in {"properties", "additionalProperties"}:
            key = next(keys)
            node = _member(node, key, is_known=step == "properties")
            if step == "properties" and next(steps) != key:
                raise _NotExpressible
        elif step == "allOf":
            node = node[step][next(steps)]
        elif step in {"then", "else"}:
            _decide_condition(node, holds=step == "then")
            node = node[step]
        elif step == "$ref":
            _inline_reference(node, schema)
        else:
            raise _NotExpressible
    if not isinstance(node, dict):
        raise _NotExpressible
    return node


def _member(node: Node, key: Any, *, is_known: bool) -> Any:
    """Return the schema of the member `key`, which is made to be required.

    Raises `_NotExpressible` if it is the item of an array.
    """
    if not isinstance(key, str):
        raise _NotExpressible
    _demand(node, {"type": "object", "required": [key]})
    known = node.get("properties", {})
    if not is_known and key not in known:
        node["properties"] = {**known, key: deepcopy(node["additionalProperties"])}
    return node["properties"][key]


def _inline_reference(node: Node, schema: Any) -> None:
    """Replace `node` by a copy of the schema that it refers to, if it does."""
    if "$ref" in node:
        target = deepcopy(resolve(schema, node["$ref"]))
        # Keywords beside a reference have no effect, but other references lead here.
        kept = {key: node[key] for key in ("definitions",) if key in node}
        node.clear()
        node.update(target | kept)


def _decide_condition(node: Node, *, holds: bool) -> None:
    """Demand that the condition of `node` holds, or that it does not."""
    condition = node["if"]
    if condition is not holds:
        _demand(node, condition if holds else {"not": condition})
        node["if"] = holds


def _negate(node: Node, failed: FailedKeyword) -> None:
    """Turn the failed keyword of `node` into its opposite.

    Raises `_NotExpressible` if the opposite is not known.
    """
    keyword = failed.path[-1]
    if keyword == "required":
        node[keyword] = [key for key in node[keyword] if key != failed.detail]
        _demand(node, {"not": {keyword: [failed.detail]}})
    elif keyword == "additionalProperties" and node[keyword] is False:
        if len(failed.detail) != 1:
            raise _NotExpressible
        (unknown,) = failed.detail
        node["properties"] = {**node.get("properties", {}), unknown: True}
        _demand(node, {"type": "object", "required": [unknown]})
    elif keyword in _independent and keyword in node:
        _demand(node, {"not": {keyword: node.pop(keyword)}})
    else:
        raise _NotExpressible


def _demand(node: Node, demand: Mapping[str, Any]) -> None:
    """Add a schema that must hold too, after those that `node` has in its `allOf`."""
    node["allOf"] = [*node.get("allOf", ()), demand]
