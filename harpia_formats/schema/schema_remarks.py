"""Find keywords of a schema that have no effect, or not the effect that is meant."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.schema.load import Schema
from harpia_formats.schema.references import path_of, resolve
from harpia_formats.schema.subschemas import subschemas
from harpia_formats.text.spelling import nearest

MISSPELT, EMPTY_ENUM, NO_EFFECT = "S401", "S402", "S403"

#: Keywords of other drafts that restrict, or name what is referred to, each with what
#: draft-07 has in its place.
OTHER_DRAFTS = {
    "$anchor": 'an $id such as "#name"',
    "$dynamicAnchor": "a plain $ref",
    "$dynamicRef": "a plain $ref",
    "$recursiveAnchor": "a plain $ref",
    "$recursiveRef": 'a $ref to "#"',
    "$vocabulary": "",
    "contentSchema": "",
    "dependentRequired": "dependencies",
    "dependentSchemas": "dependencies",
    "disallow": "not",
    "divisibleBy": "multipleOf",
    "extends": "allOf",
    "maxContains": "",
    "minContains": "contains",
    "prefixItems": "a list in items",
    "unevaluatedItems": "additionalItems",
    "unevaluatedProperties": "additionalProperties",
}
#: Draft-07 keywords that do not restrict.
_ANNOTATIONS = frozenset(
    "$comment $id $schema contentEncoding contentMediaType default definitions "
    "description examples format readOnly title writeOnly".split()
)
_RESTRICTING = frozenset(
    "$ref additionalItems additionalProperties allOf anyOf const contains dependencies "
    "else enum exclusiveMaximum exclusiveMinimum if items maxItems maxLength "
    "maxProperties maximum minItems minLength minProperties minimum multipleOf not "
    "oneOf pattern patternProperties properties propertyNames required then type "
    "uniqueItems".split()
)
#: Letters of a keyword that no other word is near by chance.
_LONG = 6


def keywords_of_other_drafts(schema: Schema) -> list[Path]:
    """Return the paths of the keywords in `schema` that draft-07 does not have."""
    return [
        (*path, keyword)
        for path, node in _schemas_in(schema)
        for keyword in node
        if keyword in OTHER_DRAFTS
    ]


def schema_remarks(schema: Schema) -> Iterator[Remark]:
    """Yield a remark on each keyword in `schema` that is probably a mistake.

    Its keywords must have values that draft-07 allows.
    """
    for path, node in _schemas_in(schema):
        for keyword in node:
            yield from _remarks_on(keyword, node, path)


def _remarks_on(keyword: str, node: dict[str, Any], path: Path) -> Iterator[Remark]:
    """Yield what is doubtful about a keyword of the schema `node` at `path`."""
    here = (*path, keyword)
    if keyword in _RESTRICTING:
        if keyword != "$ref" and isinstance(node.get("$ref"), str):
            message = f"{keyword} stands beside $ref, where draft-07 ignores it"
            help_ = "put the $ref and the other keywords into the parts of an allOf"
            yield Remark(NO_EFFECT, here, message, help_, at_key=True)
        elif keyword == "enum" and not node[keyword]:
            message = "enum lists no value, so every value is refused"
            yield Remark(EMPTY_ENUM, here, message, "list the values, or remove it")
    elif keyword in OTHER_DRAFTS:
        message = f"{keyword} is no keyword of draft-07, and is ignored"
        instead = OTHER_DRAFTS[keyword]
        help_ = f"use {instead}" if instead else "remove it"
        yield Remark(NO_EFFECT, here, message, help_, at_key=True)
    elif keyword not in _ANNOTATIONS and not keyword.startswith("x-"):
        meant = nearest(keyword, _RESTRICTING)
        if meant and meant not in node and _may_mean(meant, node[keyword]):
            message = f"{keyword} is no keyword of JSON Schema, and is ignored"
            help_ = f"write {meant}, if that is meant"
            yield Remark(MISSPELT, here, message, help_, at_key=True)


def _may_mean(keyword: str, value: Any) -> bool:
    """Return whether an unknown keyword with `value` may be `keyword`, misspelt."""
    if len(keyword) >= _LONG:
        return True
    import jsonschema  # noqa: PLC0415 - a tenth of a second, for user schemas only

    meta = jsonschema.Draft7Validator(jsonschema.Draft7Validator.META_SCHEMA)
    return bool(meta.is_valid({keyword: value}))


def _schemas_in(schema: Schema) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield each object in `schema` that stands where a schema stands, with its path.

    Also those below `$defs`, and those that references lead to.
    """
    pending: list[tuple[Path, Any]] = [((), schema)]
    seen: set[int] = set()
    while pending:
        path, node = pending.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        yield path, node
        inner = [((*path, *steps), part) for steps, part in subschemas(node)]
        named = node.get("$defs")
        if isinstance(named, dict):
            inner += [((*path, "$defs", key), part) for key, part in named.items()]
        target = node.get("$ref")
        if isinstance(target, str) and target.startswith("#/"):
            found = path_of(schema, target)
            inner += [] if found is None else [(found, resolve(schema, target))]
        pending += reversed(inner)
