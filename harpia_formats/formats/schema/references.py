"""Find the schemas inside a schema, and resolve its references to places in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.problem import Path

#: Digits of the place of an item in a list, at most.
_DIGITS = 9


def resolve(schema: Any, reference: str) -> Any:
    """Return what a local `reference` of `schema` refers to, None if nothing."""
    reference = without_own_name(schema, reference)
    if reference == "#":
        return schema
    if not reference.startswith("#/"):
        return _node_named(schema, reference)
    path = path_of(schema, reference)
    if path is None:
        return None
    node = schema
    for step in path:
        node = node[step]
    return node


def path_of(schema: Any, pointer: str) -> Path | None:
    """Return the path to what `pointer`, such as `#/items`, leads to in `schema`.

    None if there is nothing.
    """
    node, path = schema, []
    for part in pointer.split("/")[1:]:
        key = _unescaped(part)
        step: str | int = key
        if isinstance(node, list) and _is_place(key) and int(key) < len(node):
            step = int(key)
        elif not (isinstance(node, dict) and key in node):
            return None
        node = node[step]
        path.append(step)
    return tuple(path)


def _is_place(key: str) -> bool:
    """Return whether a step of a pointer may be the place of an item."""
    return key.isascii() and key.isdecimal() and len(key) <= _DIGITS


def without_own_name(schema: Any, reference: str) -> str:
    """Return `reference` without the `$id` of `schema` itself in front."""
    name = schema.get("$id") if isinstance(schema, dict) else None
    if not isinstance(name, str) or name.startswith("#"):
        return reference
    whole, _, fragment = reference.partition("#")
    return f"#{fragment}" if whole == name.rstrip("#") else reference


def _unescaped(part: str) -> str:
    """Return one step of a JSON pointer in a URL fragment, decoded."""
    from urllib.parse import unquote  # noqa: PLC0415 - only schemas with references

    return unquote(part).replace("~1", "/").replace("~0", "~")


def _node_named(node: Any, name: str) -> Any:
    """Return the subschema whose `$id` is the fragment `name`, or None."""
    if isinstance(node, dict) and node.get("$id") == name:
        return node
    for member in members(node):
        if (found := _node_named(member, name)) is not None:
            return found
    return None


def members(node: Any) -> list[Any]:
    """Return the values of an object or the items of an array, else an empty list."""
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


#: Keywords whose members are schemas (or, for dependencies, lists of keys).
_BY_NAME = ("definitions", "dependencies", "patternProperties", "properties")
#: Keywords that hold a schema, a list of schemas, or both ways.
_SCHEMA_OR_LIST = tuple(
    "additionalItems additionalProperties allOf anyOf contains else if items not "
    "oneOf propertyNames then".split()
)


def subschemas(
    node: Mapping[str, Any], *, ref_siblings: bool = False
) -> Iterator[tuple[Path, Any]]:
    """Yield what stands directly in `node` where schemas stand, each with its path.

    Next to a reference, only definitions have an effect, unless `ref_siblings`. Values
    that draft-07 does not allow are passed over.
    """
    is_reference = isinstance(node.get("$ref"), str) and not ref_siblings
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
