"""A schema that is checked: its parts, and which of them apply to the same value."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urldefrag, urljoin

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
    _targets: dict[tuple[str, str], Any] = field(default_factory=dict)
    _bases: dict[Path, str] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> list[tuple[Path, dict[str, Any]]]:
        """Each object that stands where a schema stands, with its path, in order."""
        return list(schemas_in(self.schema, self.draft))

    @cached_property
    def paths(self) -> dict[int, Path]:
        """The path of each of the nodes by its `id`."""
        return {id(node): path for path, node in self.nodes}

    @cached_property
    def resources(self) -> dict[str, Any]:
        """The root, and each node that an `$id` names, by its URI."""
        named = [((), self.schema), *self._named.items()]
        # Of several with one URI it is the first: the others have names within it.
        return {self._base_at(path): node for path, node in reversed(named)}

    @cached_property
    def anchors(self) -> dict[str, Any]:
        """The nodes that are named within a part of the schema, as `URI#name`."""
        return {
            uri: node
            for path, node in self.nodes
            for _, uri in self.names_of(path, node)
            if "#" in uri
        }

    def names_of(self, path: Path, node: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield each keyword that names the schema `node` at `path`, and the URI.

        A name within a part of the schema is `URI#name`.
        """
        around = self._base_at(path[:-1]) if path else ""
        uri, fragment = _joined(around, self._name_of(node))
        if fragment or (uri and self._name_of(node)):
            yield self._id, f"{uri}#{fragment}" if fragment else uri
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = node.get(keyword)
            if name and isinstance(name, str):
                yield keyword, f"{self._base_at(path)}#{name}"

    @property
    def _id(self) -> str:
        """The keyword by which a schema gives itself a name."""
        return "id" if "id" in self.draft.keywords else "$id"

    @cached_property
    def _named(self) -> dict[Path, dict[str, Any]]:
        """The nodes that references in them are relative to, by their paths."""
        named = ((path, node, self._name_of(node)) for path, node in self.nodes)
        return {path: node for path, node, name in named if name and name[0] != "#"}

    def _name_of(self, node: dict[str, Any]) -> str:
        """Return the URI that a schema gives itself, "" if none."""
        found = self.own(node).get(self._id)
        return found if isinstance(found, str) else ""

    def _base_at(self, path: Path) -> str:
        """Return the URI that references at a path are relative to."""
        if path not in self._bases:
            base = self._base_at(path[:-1]) if path else ""
            owner = self._named.get(path)
            named = owner and _joined(base, self._name_of(owner))[0]
            self._bases[path] = named or base
        return self._bases[path]

    def named_by(self, node: dict[str, Any], keyword: str = "$ref") -> tuple[str, str]:
        """Return the URI that a reference of a schema names, and its fragment."""
        base = self._base_at(self.paths.get(id(node), ()))
        return _joined(base, node[keyword])

    def target(self, node: dict[str, Any], keyword: str = "$ref") -> Any:
        """Return what a reference of a schema leads to, None if nothing in the file."""
        named = uri, fragment = self.named_by(node, keyword)
        if named not in self._targets:
            root = self.resources.get(uri)
            found = root
            if root is not None and fragment.startswith("/"):
                found = resolve(root, f"#{fragment}")
            elif root is not None and fragment:
                found = self.anchors.get(f"{uri}#{fragment}")
            self._targets[named] = found
        return self._targets[named]

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
        is_reference = self.reference_of(node) is not None
        return {} if is_reference and self.draft.ignores_ref_siblings else node

    def same_place(
        self, node: Any, keywords: tuple[str, ...]
    ) -> Iterator[tuple[str, Any]]:
        """Yield the schemas in `keywords` of `node` and what its `$ref` leads to.

        Each comes with its keyword. All of them apply to the value that `node` applies
        to.
        """
        reference = self.reference_of(node)
        if reference is not None:
            yield "$ref", self.target(node)
        own = self.own(node)
        for keyword in keywords:
            value = own.get(keyword)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, dict):
                    yield keyword, part


def _joined(base: str, reference: str) -> tuple[str, str]:
    """Return the URI that a reference relative to `base` names, and its fragment."""
    if reference.startswith("#"):  # not every scheme can be joined to, such as `urn`
        return base, reference[1:]
    try:
        uri, fragment = urldefrag(urljoin(base, reference))
    except ValueError:
        return reference, ""
    return uri, fragment


def depending_schemas(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas that a schema has for objects with certain keys."""
    named = node.get("dependencies", node.get("dependentSchemas"))
    parts = named.values() if isinstance(named, dict) else ()
    return [part for part in parts if isinstance(part, dict)]


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
    #: The schemas in the `if` of those in whose `then` it is.
    conditions: tuple[dict[str, Any], ...]


#: Schemas that apply to the same value.
SchemaGroup = tuple[SchemaPart, ...]


def group_of(roots: list[tuple[Any, bool]], context: SchemaContext) -> SchemaGroup:
    """Return all schemas that apply where the `roots` apply.

    Each root comes with whether it always does.
    """
    parts: list[SchemaPart] = []
    seen: set[int] = set()
    pending = [
        SchemaPart(node, is_always, (), ())
        for node, is_always in reversed(roots)
        if isinstance(node, dict)
    ]
    while pending and len(parts) < _TOGETHER:
        given = pending.pop()
        node = given.node
        if id(node) in seen:
            continue
        seen.add(id(node))
        own = context.own(node)
        if own:
            parts.append(replace(given, node=own))
        around = (*given.around, own)
        tested = (*given.conditions, context.own(own.get("if")))
        inner = [
            SchemaPart(
                part,
                given.is_always and keyword not in SOMETIMES,
                around,
                tested if keyword == "then" else given.conditions,
            )
            for keyword, part in context.same_place(node, (*ALWAYS, *SOMETIMES))
            if isinstance(part, dict)
        ]
        inner += [
            SchemaPart(part, False, around, given.conditions)  # noqa: FBT003 - a field
            for part in depending_schemas(own)
        ]
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
