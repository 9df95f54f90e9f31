"""The keywords of each draft, where schemas stand, and keywords that have no effect."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.formats.schema.references import path_of, resolve, subschemas
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.spelling import nearest

#: The drafts in order; a range of keywords is a first and a last place among them.
_NAMES = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
_URIS = (
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
_ALL = (0, 4)
#: Keywords that restrict, or name what is referred to, by the drafts that have them.
_restricting: dict[tuple[int, int] | None, str] = {
    _ALL: "$ref additionalProperties allOf anyOf enum exclusiveMaximum "
    "exclusiveMinimum items maxItems maxLength maxProperties maximum minItems "
    "minLength minProperties minimum multipleOf not oneOf pattern patternProperties "
    "properties required type uniqueItems",
    (0, 3): "additionalItems",
    (0, 2): "dependencies",
    (1, 4): "const contains propertyNames",
    (2, 4): "else if then",
    (3, 4): "$anchor $vocabulary contentSchema dependentRequired dependentSchemas "
    "maxContains minContains unevaluatedItems unevaluatedProperties",
    (3, 3): "$recursiveAnchor $recursiveRef",
    (4, 4): "$dynamicAnchor $dynamicRef prefixItems",
    # Of draft-03.
    None: "disallow divisibleBy extends",
}
#: Keywords that do not restrict.
_annotating: dict[tuple[int, int] | None, str] = {
    _ALL: "$schema default definitions description format title",
    (0, 0): "id",
    (1, 4): "$id examples",
    (2, 4): "$comment contentEncoding contentMediaType readOnly writeOnly",
    (3, 4): "$defs deprecated",
}
#: What an older draft has in the place of a keyword, "" for nothing.
_before: dict[str, str] = {
    "$anchor": 'an $id such as "#name"',
    "$dynamicAnchor": "a plain $ref",
    "$dynamicRef": "a plain $ref",
    "$recursiveAnchor": "a plain $ref",
    "$recursiveRef": 'a $ref to "#"',
    "const": "an enum of one value",
    "dependentRequired": "dependencies",
    "dependentSchemas": "dependencies",
    "disallow": "not",
    "divisibleBy": "multipleOf",
    "extends": "allOf",
    "minContains": "contains",
    "prefixItems": "a list in items",
    "unevaluatedItems": "additionalItems",
    "unevaluatedProperties": "additionalProperties",
}
#: What a newer draft has in the place of a keyword.
_since: dict[str, str] = {
    "$recursiveAnchor": "$dynamicAnchor",
    "$recursiveRef": "$dynamicRef",
    "additionalItems": "prefixItems and items",
    "dependencies": "dependentRequired or dependentSchemas",
    "disallow": "not",
    "divisibleBy": "multipleOf",
    "extends": "allOf",
}
#: What validators do with keywords that newer drafts lack, if not all ignore them.
_partly_ignored = {"dependencies": "only some validators apply it"}


@dataclass(frozen=True, slots=True)
class Draft:
    """One draft of JSON Schema, and its keywords."""

    name: str
    #: The `$schema` of its schemas, without a fragment.
    uri: str
    #: Keywords that restrict, or name what is referred to.
    restricting: frozenset[str]
    #: Keywords that do not.
    annotating: frozenset[str]
    #: What it has instead of each restricting keyword of other drafts, "" for nothing.
    others: Mapping[str, str]
    #: Whether keywords next to `$ref` are ignored.
    ignores_ref_siblings: bool

    @property
    def keywords(self) -> frozenset[str]:
        """All keywords of the draft."""
        return self.restricting | self.annotating


def _words(table: dict[tuple[int, int] | None, str], place: int) -> frozenset[str]:
    """Return the keywords of `table` that the draft at `place` has."""
    return frozenset(
        word
        for drafts, words in table.items()
        if drafts and drafts[0] <= place <= drafts[1]
        for word in words.split()
    )


def _others(place: int) -> dict[str, str]:
    """Return what the draft at `place` has instead of keywords of other drafts."""
    found: dict[str, str] = {}
    for drafts, words in _restricting.items():
        if drafts and drafts[0] <= place <= drafts[1]:
            continue
        is_older = drafts is None or drafts[1] < place
        instead = _since if is_older else _before
        found |= {word: instead.get(word, "") for word in words.split()}
    return found


#: Every draft, from the oldest.
DRAFTS = tuple(
    Draft(
        name,
        _URIS[place],
        _words(_restricting, place),
        _words(_annotating, place),
        _others(place),
        ignores_ref_siblings=place <= _NAMES.index("draft-07"),
    )
    for place, name in enumerate(_NAMES)
)
#: The draft that schemas are validated by here.
DRAFT_07 = DRAFTS[_NAMES.index("draft-07")]


def draft_of(schema: Any) -> Draft | None:
    """Return the draft that a schema names, draft-07 if none; None if it is unknown."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if named is None:
        return DRAFT_07
    uri = _plain(named) if isinstance(named, str) else ""
    return next((draft for draft in DRAFTS if _plain(draft.uri) == uri), None)


def _plain(uri: str) -> str:
    """Return the `$schema` of a schema without what validators do not compare."""
    return uri.rstrip("#").replace("https:", "http:", 1)


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
    ref_siblings = not draft.ignores_ref_siblings
    yield from subschemas(node, ref_siblings=ref_siblings)
    for keyword in _BY_NAME:
        named = node.get(keyword)
        # References lead to `$defs` in all drafts.
        if isinstance(named, dict) and (
            keyword in draft.keywords or keyword == "$defs"
        ):
            for key, part in named.items():
                yield (keyword, key), part
    if not ref_siblings:
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


MISSPELT, EMPTY_ENUM, NO_EFFECT = "S401", "S402", "S403"

#: Keywords that draft-07 does not have, each with what it has in its place.
OTHER_DRAFTS = DRAFT_07.others
#: Letters of a keyword that no other word is near by chance.
_LONG = 6


def keywords_of_other_drafts(schema: Schema) -> list[Path]:
    """Return the paths of the keywords in `schema` that draft-07 does not have."""
    return [
        (*path, keyword)
        for path, node in schemas_in(schema)
        for keyword in node
        if keyword in OTHER_DRAFTS
    ]


def schema_remarks(schema: Schema, draft: Draft = DRAFT_07) -> Iterator[Remark]:
    """Yield a remark on each keyword in `schema` that is probably a mistake.

    Its keywords must have values that `draft` allows.
    """
    for path, node in schemas_in(schema, draft):
        for keyword in node:
            yield from _remarks_on(keyword, node, path, draft)


def _remarks_on(
    keyword: str, node: dict[str, Any], path: Path, draft: Draft
) -> Iterator[Remark]:
    """Yield what is doubtful about a keyword of the schema `node` at `path`."""
    here = (*path, keyword)
    if keyword in draft.restricting:
        is_sibling = keyword != "$ref" and isinstance(node.get("$ref"), str)
        if is_sibling and draft.ignores_ref_siblings:
            message = f"{keyword} stands next to $ref, where {draft.name} ignores it"
            help_ = "put the $ref and the other keywords into the parts of an allOf"
            yield Remark(NO_EFFECT, here, message, help_, at_key=True)
        elif keyword == "enum" and not node[keyword]:
            message = "enum lists no value, so every value is refused"
            yield Remark(EMPTY_ENUM, here, message, "list the values, or remove it")
    elif keyword in draft.others:
        effect = _partly_ignored.get(keyword, "is ignored")
        message = f"{keyword} is no keyword of {draft.name}, and {effect}"
        instead = draft.others[keyword]
        help_ = f"use {instead}" if instead else "remove it"
        yield Remark(NO_EFFECT, here, message, help_, at_key=True)
    elif keyword not in draft.annotating and not keyword.startswith("x-"):
        meant = nearest(keyword, draft.restricting)
        if meant and meant not in node and _may_mean(meant, node[keyword]):
            message = f"{keyword} is no keyword of JSON Schema, and is ignored"
            help_ = f"write {meant}, if that is meant"
            yield Remark(MISSPELT, here, message, help_, at_key=True)


def _may_mean(keyword: str, value: Any) -> bool:
    """Return whether an unknown keyword with `value` may be `keyword`, misspelt."""
    return len(keyword) >= _LONG or is_valid_schema({keyword: value})


def is_valid_schema(schema: Any) -> bool:
    """Return whether the meta-schema of draft-07 allows a schema."""
    import jsonschema  # noqa: PLC0415 - a tenth of a second, for user schemas only

    meta = jsonschema.Draft7Validator(jsonschema.Draft7Validator.META_SCHEMA)
    return bool(meta.is_valid(schema))
