"""Find the schemas inside a draft-07 schema; the values of other keywords are data."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.problem import Path

#: Keywords whose members are schemas (or, for dependencies, lists of keys).
_BY_NAME = ("definitions", "dependencies", "patternProperties", "properties")
#: Keywords that hold a schema, a list of schemas, or both ways.
_SCHEMA_OR_LIST = tuple(
    "additionalItems additionalProperties allOf anyOf contains else if items not "
    "oneOf propertyNames then".split()
)


def subschemas(
    node: Mapping[str, Any], *, beside_ref: bool = False
) -> Iterator[tuple[Path, Any]]:
    """Yield what stands directly in `node` where schemas stand, each with its path.

    Beside a reference, only definitions have an effect, unless `beside_ref`. Values
    that draft-07 does not allow are passed over.
    """
    is_reference = isinstance(node.get("$ref"), str) and not beside_ref
    for keyword in ("definitions",) if is_reference else _BY_NAME:
        named = node.get(keyword)
        if isinstance(named, dict):
            for key, part in named.items():
                yield (keyword, key), part
    if is_reference:
        return
    for keyword in _SCHEMA_OR_LIST:
        value = node.get(keyword)
        if isinstance(value, list):
            for number, part in enumerate(value):
                yield (keyword, number), part
        elif keyword in node:
            yield (keyword,), value
