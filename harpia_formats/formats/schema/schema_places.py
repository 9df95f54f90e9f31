"""Find every object of a JSON value that stands where a schema stands."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.formats.schema.drafts import DRAFT_07, Draft
from harpia_formats.formats.schema.load import Schema
from harpia_formats.formats.schema.references import path_of, resolve
from harpia_formats.formats.schema.subschemas import subschemas
from harpia_formats.model.problem import Path

#: Keywords of newer drafts whose members are schemas.
_BY_NAME = ("$defs", "dependentSchemas")
#: Keywords of newer drafts that hold a schema or a list of schemas.
_SCHEMA_OR_LIST = (
    "contentSchema",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
)


def schemas_in(
    schema: Schema, draft: Draft = DRAFT_07
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield each object in `schema` that stands where a schema stands, with its path.

    Also those below `$defs`, and those that references lead to. Values that no draft
    allows are passed over.
    """
    pending: list[tuple[Path, Any]] = [((), schema)]
    seen: set[int] = set()
    while pending:
        path, node = pending.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        yield path, node
        inner = [((*path, *steps), part) for steps, part in parts_of(node, draft)]
        target = node.get("$ref")
        if isinstance(target, str) and target.startswith("#/"):
            found = path_of(schema, target)
            inner += [] if found is None else [(found, resolve(schema, target))]
        pending += reversed(inner)


def parts_of(node: dict[str, Any], draft: Draft) -> Iterator[tuple[Path, Any]]:
    """Yield what stands directly in `node` where schemas stand, each with its path."""
    beside_ref = not draft.ignores_beside_ref
    yield from subschemas(node, beside_ref=beside_ref)
    for keyword in _BY_NAME:
        named = node.get(keyword)
        # References lead to `$defs` in all drafts.
        if isinstance(named, dict) and (
            keyword in draft.keywords or keyword == "$defs"
        ):
            for key, part in named.items():
                yield (keyword, key), part
    if not beside_ref:
        return
    for keyword in _SCHEMA_OR_LIST:
        if keyword not in draft.keywords or keyword not in node:
            continue
        value = node[keyword]
        if isinstance(value, list):
            for number, part in enumerate(value):
                yield (keyword, number), part
        else:
            yield (keyword,), value
