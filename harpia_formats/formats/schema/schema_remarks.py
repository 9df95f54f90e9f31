"""Find keywords of a schema that have no effect, or not the effect that is meant."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.formats.schema.drafts import DRAFT_07, Draft
from harpia_formats.formats.schema.load import Schema
from harpia_formats.formats.schema.schema_places import schemas_in
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.text.spelling import nearest

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
        is_beside = keyword != "$ref" and isinstance(node.get("$ref"), str)
        if is_beside and draft.ignores_beside_ref:
            message = f"{keyword} stands beside $ref, where {draft.name} ignores it"
            help_ = "put the $ref and the other keywords into the parts of an allOf"
            yield Remark(NO_EFFECT, here, message, help_, at_key=True)
        elif keyword == "enum" and not node[keyword]:
            message = "enum lists no value, so every value is refused"
            yield Remark(EMPTY_ENUM, here, message, "list the values, or remove it")
    elif keyword in draft.others:
        message = f"{keyword} is no keyword of {draft.name}, and is ignored"
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
    if len(keyword) >= _LONG:
        return True
    import jsonschema  # noqa: PLC0415 - a tenth of a second, for user schemas only

    meta = jsonschema.Draft7Validator(jsonschema.Draft7Validator.META_SCHEMA)
    return bool(meta.is_valid({keyword: value}))
