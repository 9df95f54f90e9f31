"""The drafts of JSON Schema: which keywords each has, and what stands beside `$ref`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    # From 2019-09 on they are no longer described, but still understood.
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
    #: Whether keywords beside `$ref` are ignored.
    ignores_beside_ref: bool

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
        ignores_beside_ref=place <= _NAMES.index("draft-07"),
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
