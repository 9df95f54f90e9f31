"""Find every mistake in one JSON Schema."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from harpia_formats.formats.schema.check.checked_schema import SchemaContext
from harpia_formats.formats.schema.check.contradictions import (
    branch_remarks,
    keyword_remarks,
    requirement_remarks,
)
from harpia_formats.formats.schema.check.keyword_values import (
    invalid_keywords,
    validator_class,
    value_remarks,
)
from harpia_formats.formats.schema.check.links import (
    name_remarks,
    reference_remarks,
    unused_definitions,
    uri_remarks,
)
from harpia_formats.formats.schema.check.patterns import pattern_remarks
from harpia_formats.formats.schema.keywords import (
    DRAFT_07,
    DRAFTS,
    draft_of,
    schema_remarks,
)
from harpia_formats.formats.schema.user_schema import is_bounded
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path, pointer_of

NO_EFFECT = "S403"
OTHER_DRAFT, OTHER_NAME, UNKNOWN_DRAFT = "S425", "S426", "S427"
#: Keywords that describe, and what this draft calls them.
_names = {"$defs": "definitions", "definitions": "$defs", "id": "$id", "$id": "id"}


def unknown_draft(schema: Any) -> Remark:
    """Return the remark on a schema that names no draft that is known."""
    known = ", ".join(draft.name for draft in DRAFTS)
    message = (
        f"no draft is called {short_json(schema['$schema'])} (known: {known}), so "
        "nothing else is checked"
    )
    help_ = f'validate takes draft-07: "$schema": "{DRAFT_07.uri}#"'
    return Remark(UNKNOWN_DRAFT, ("$schema",), message, help_)


def draft_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield the remarks on the draft of a schema, and on keywords of other drafts."""
    draft = context.draft
    if draft is not DRAFT_07:
        message = f"the schema is written in {draft.name}, and checked as such"
        help_ = "`--schema` of validate takes only draft-07"
        yield Remark(OTHER_DRAFT, ("$schema",), message, help_)
    annotating = frozenset[str]().union(*(one.annotating for one in DRAFTS))
    for path, node in context.nodes:
        if node.get("nullable") is True:
            message = f"nullable is a keyword of OpenAPI, and {draft.name} ignores it"
            help_ = 'put "null" into the list of type'
            yield Remark(NO_EFFECT, (*path, "nullable"), message, help_, at_key=True)
        for keyword in node.keys() & (annotating - draft.keywords):
            is_name = keyword != "id" or isinstance(node["id"], str)
            if is_name:
                message = f"{keyword} is a keyword of other drafts than {draft.name}"
                name = _names.get(keyword)
                help_ = f"{draft.name} calls it {name}" if name else ""
                here = (*path, keyword)
                yield Remark(OTHER_NAME, here, message, help_, at_key=True)


REFUSED_SAMPLE = "S424"
#: Schemas that are read in all to check samples by schemas with references, each of
#: which takes the whole schema.
_BUDGET = 200_000
#: Samples of one schema that are checked.
_SAMPLES = 100


def sample_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield a remark on each `default` and example that its schema refuses.

    Schemas that may take forever are not asked.
    """
    budget, moved = _BUDGET, None
    for path, node in context.nodes:
        samples = list(_samples(node))
        if not samples:
            continue
        if not is_bounded(context.schema, node):
            continue
        schema: Any = node
        if path and _has_references(node):
            budget -= len(context.nodes)
            if budget < 0:
                continue
            moved = moved or _moved(context.schema)
            # With a name, it would not be what its references are relative to.
            moved.pop("id" if "id" in context.draft.keywords else "$id", None)
            # Next to the reference, nothing of the root applies.
            schema = {
                "$ref": f"#/definitions/root{_fragment(path)}",
                "definitions": {"root": moved},
            }
        is_valid = _validity(schema, context)
        for place, value in samples[:_SAMPLES]:
            if is_valid is not None and not is_valid(value):
                what = "the default" if place[0] == "default" else "an example"
                message = f"{what} is {short_json(value)}, which its schema refuses"
                here = (*path, *place)
                yield Remark(REFUSED_SAMPLE, here, message, "correct one of the two")


def _samples(node: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield the samples of a schema, each with its path."""
    if isinstance(node.get("$ref"), str):
        return
    if "default" in node:
        yield ("default",), node["default"]
    examples = node.get("examples")
    if isinstance(examples, list):
        yield from (
            (("examples", number), value) for number, value in enumerate(examples)
        )


def _has_references(node: Any) -> bool:
    """Return whether a schema refers to another one, or may seem to."""
    pending = [node]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if value.keys() & {"$ref", "$dynamicRef", "$recursiveRef"}:
                return True
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return False


def _fragment(path: Path) -> str:
    """Return a path as a JSON pointer in a URL."""
    from urllib.parse import quote  # noqa: PLC0415 - only schemas with references

    return quote(pointer_of(path), safe="/~!$&'()*+,;=:@")


def _moved(node: Any) -> Any:
    """Return a schema with its references as they are one definition deeper."""
    if isinstance(node, list):
        return [_moved(item) for item in node]
    if not isinstance(node, dict):
        return node
    copied = {key: _moved(value) for key, value in node.items()}
    reference = node.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        copied["$ref"] = f"#/definitions/root{reference[1:]}"
    return copied


def _validity(schema: Any, context: SchemaContext) -> Any:
    """Return what tells whether a value is valid, None if that cannot be known."""
    try:
        return validator_class(context.draft)(schema, offline=True).is_valid
    except (jsonschema_rs.ValidationError, ValueError):
        return None


def find_mistakes(schema: Any) -> list[Remark]:
    """Return what is wrong or doubtful in `schema`, a JSON value.

    It is read in the draft that it names, in draft-07 without one. The value may be
    nested no deeper than `user_schema.DEPTH_LIMIT`.
    """
    draft = draft_of(schema)
    if draft is None:
        return [unknown_draft(schema)]
    invalid, usable = invalid_keywords(schema, draft)
    context = SchemaContext(usable, draft)
    return [*invalid, *_remarks(context)]


def _remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield the remarks on a schema whose keywords have values that are allowed."""
    yield from keyword_remarks(context)
    yield from draft_remarks(context)
    yield from schema_remarks(context.schema, context.draft)
    yield from reference_remarks(context)
    yield from uri_remarks(context)
    yield from name_remarks(context)
    yield from unused_definitions(context)
    yield from value_remarks(context)
    yield from requirement_remarks(context)
    yield from branch_remarks(context)
    yield from pattern_remarks(context)
    yield from sample_remarks(context)
