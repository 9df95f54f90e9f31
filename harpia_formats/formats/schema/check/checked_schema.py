"""A schema that is checked: its parts, and which of them apply to the same value."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harpia_formats.formats.schema.keywords import Draft, parts_of, schemas_in
from harpia_formats.formats.schema.references import resolve
from harpia_formats.model.problem import Path

#: Keywords whose schemas apply to the same value whenever the schema does.
ALWAYS = ("allOf",)
#: Keywords whose schemas apply to the same value under a condition.
SOMETIMES = ("anyOf", "oneOf", "then", "else")


@dataclass
class SchemaContext:
    """A schema whose keywords have values that its draft allows."""

    schema: Any
    draft: Draft
    _targets: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> list[tuple[Path, dict[str, Any]]]:
        """Each object that stands where a schema stands, with its path, in order."""
        return list(schemas_in(self.schema, self.draft))

    @cached_property
    def paths(self) -> dict[int, Path]:
        """The path of each of the nodes by its `id`."""
        return {id(node): path for path, node in self.nodes}

    @cached_property
    def anchors(self) -> dict[str, Any]:
        """The nodes that an `$anchor` names, by the reference to them."""
        names = ("$anchor", "$dynamicAnchor")
        return {
            f"#{node[name]}": node
            for _, node in self.nodes
            for name in names
            if isinstance(node.get(name), str)
        }

    def target(self, reference: str) -> Any:
        """Return what a reference inside the schema leads to, None if nothing."""
        if reference not in self._targets:
            found = resolve(self.schema, reference)
            is_missing = found is None and "#" in reference
            self._targets[reference] = (
                self.anchors.get(reference[reference.index("#") :])
                if is_missing
                else found
            )
        return self._targets[reference]

    def reference_of(self, node: Any) -> str | None:
        """Return the reference of a schema, None if it has none."""
        found = node.get("$ref") if isinstance(node, dict) else None
        return found if isinstance(found, str) else None

    def parts(self, node: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
        """Yield the schemas directly in `node`, each with its path in it."""
        return parts_of(node, self.draft)

    def own(self, node: Any) -> dict[str, Any]:
        """Return the keywords of a schema that have an effect: none next to `$ref`."""
        if not isinstance(node, dict):
            return {}
        is_reference = self.draft.ignores_ref_siblings and self.reference_of(node)
        return {} if is_reference else node

    def same_place(
        self, node: Any, keywords: tuple[str, ...]
    ) -> Iterator[tuple[str, Any]]:
        """Yield the schemas in `keywords` of `node` and what its `$ref` leads to.

        Each comes with its keyword. All of them apply to the value that `node` applies
        to.
        """
        reference = self.reference_of(node)
        if reference is not None:
            yield "$ref", self.target(reference)
        own = self.own(node)
        for keyword in keywords:
            value = own.get(keyword)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, dict):
                    yield keyword, part


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
