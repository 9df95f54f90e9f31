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


def subschemas(node: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield what stands directly in `node` where schemas stand, each with its path.

    Beside a reference, only definitions have an effect.
    """
    names = ("definitions",) if isinstance(node.get("$ref"), str) else _BY_NAME
    for keyword in names:
        for key, part in node.get(keyword, {}).items():
            yield (keyword, key), part
    if isinstance(node.get("$ref"), str):
        return
    for keyword in _SCHEMA_OR_LIST:
        value = node.get(keyword)
        if isinstance(value, list):
            for number, part in enumerate(value):
                yield (keyword, number), part
        elif keyword in node:
            yield (keyword,), value
