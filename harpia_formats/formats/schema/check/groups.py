"""The schemas that apply to the same value of a record, as groups.

What `allOf`, `$ref` and the branches of conditions add to a schema is in its group.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harpia_formats.formats.schema.check.context import ALWAYS, SOMETIMES, SchemaContext

#: Schemas that apply to one value and are looked at.
_TOGETHER = 500


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """A schema that applies to a value, maybe under a condition."""

    node: dict[str, Any]
    #: Whether it applies wherever the value is.
    is_always: bool
    #: The schemas that apply whenever it does.
    around: tuple[dict[str, Any], ...]


#: Schemas that apply to the same value.
SchemaGroup = tuple[SchemaPart, ...]


def group_of(roots: list[tuple[Any, bool]], context: SchemaContext) -> SchemaGroup:
    """Return all schemas that apply where the `roots` apply.

    Each root comes with whether it always does.
    """
    parts: list[SchemaPart] = []
    seen: set[int] = set()
    pending: list[tuple[Any, bool, tuple[dict[str, Any], ...]]] = [
        (node, is_always, ()) for node, is_always in reversed(roots)
    ]
    while pending and len(parts) < _TOGETHER:
        node, is_always, around = pending.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        own = context.own(node)
        if own:
            parts.append(SchemaPart(own, is_always, around))
        with_own = (*around, own)
        inner = [
            (part, is_always and keyword not in SOMETIMES, with_own)
            for keyword, part in context.same_place(node, (*ALWAYS, *SOMETIMES))
        ]
        depending = own.get("dependencies", own.get("dependentSchemas"))
        if isinstance(depending, dict):
            inner += [(part, False, with_own) for part in depending.values()]
        pending += reversed(inner)
    return tuple(parts)


def inner_groups(
    group: SchemaGroup, context: SchemaContext
) -> Iterator[tuple[str, SchemaGroup]]:
    """Yield the schemas of each member and of the items of a value, as groups."""
    members: dict[str, list[tuple[Any, bool]]] = {}
    for part in group:
        for key, node in _members(part.node):
            members.setdefault(key, []).append((node, part.is_always))
    for key, roots in members.items():
        yield key, group_of(roots, context)


def _members(node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the schemas of the members and items of a value, by what they are for."""
    for keyword in ("properties", "patternProperties"):
        named = node.get(keyword)
        if isinstance(named, dict):
            prefix = "" if keyword == "properties" else "~"
            yield from ((prefix + key, part) for key, part in named.items())
    for keyword in ("items", "prefixItems", "contains", "additionalProperties"):
        value = node.get(keyword)
        if isinstance(value, list):
            yield from ((f"~{number}", part) for number, part in enumerate(value))
        elif isinstance(value, dict):
            yield f"~{keyword}", value


def required_keys(node: dict[str, Any]) -> list[str]:
    """Return the keys that a schema requires; an older draft may have other values."""
    found = node.get("required")
    return (
        [key for key in found if isinstance(key, str)]
        if isinstance(found, list)
        else []
    )
