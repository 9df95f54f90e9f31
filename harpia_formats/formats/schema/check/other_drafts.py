"""Say which draft a schema is written in, and which of its keywords others have."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.formats.schema.check.context import SchemaContext
from harpia_formats.formats.schema.drafts import DRAFT_07, DRAFTS
from harpia_formats.model.format import Remark
from harpia_formats.model.text.describe import short_json

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
        help_ = "validate --schema takes only draft-07"
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
