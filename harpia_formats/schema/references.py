"""Resolve the references of a schema to places in the same schema."""

from typing import Any


def resolve(schema: Any, reference: str) -> Any:
    """Return what a local `reference` of `schema` refers to, None if nothing."""
    reference = without_own_name(schema, reference)
    if reference == "#":
        return schema
    if not reference.startswith("#/"):
        return _node_named(schema, reference)
    node = schema
    for part in reference[2:].split("/"):
        key = _unescaped(part)
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


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
