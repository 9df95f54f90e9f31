"""Find every mistake in one JSON Schema."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.formats.schema.check.branches import branch_remarks, keyword_remarks
from harpia_formats.formats.schema.check.context import SchemaContext
from harpia_formats.formats.schema.check.links import (
    reference_remarks,
    unused_definitions,
)
from harpia_formats.formats.schema.check.other_drafts import (
    draft_remarks,
    unknown_draft,
)
from harpia_formats.formats.schema.check.patterns import pattern_remarks
from harpia_formats.formats.schema.check.requirements import requirement_remarks
from harpia_formats.formats.schema.check.samples import sample_remarks
from harpia_formats.formats.schema.check.shape import invalid_keywords
from harpia_formats.formats.schema.check.values import value_remarks
from harpia_formats.formats.schema.drafts import draft_of
from harpia_formats.formats.schema.schema_remarks import schema_remarks
from harpia_formats.model.format import Remark


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
    yield from unused_definitions(context)
    yield from value_remarks(context)
    yield from requirement_remarks(context)
    yield from branch_remarks(context)
    yield from pattern_remarks(context)
    yield from sample_remarks(context)
