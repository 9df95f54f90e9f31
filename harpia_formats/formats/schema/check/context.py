"""A schema that is checked, with the places of its parts and what references mean."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harpia_formats.formats.schema.drafts import Draft
from harpia_formats.formats.schema.references import resolve
from harpia_formats.formats.schema.schema_places import parts_of, schemas_in
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
        """Return the keywords of a schema that have an effect: none beside `$ref`."""
        if not isinstance(node, dict):
            return {}
        is_reference = self.draft.ignores_beside_ref and self.reference_of(node)
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
