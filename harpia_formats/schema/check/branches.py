"""Find branches that exclude each other, and files that hold no schema."""

import json
from collections.abc import Iterator
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.schema.check.context import SchemaContext
from harpia_formats.schema.check.values import types_of
from harpia_formats.schema.drafts import DRAFTS

NO_KEYWORD, EQUAL_BRANCHES, EXCLUSIVE_TYPES = "S428", "S429", "S430"


def keyword_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield a remark on a document that has keys, and no keyword of any draft."""
    schema = context.schema
    if not isinstance(schema, dict) or not schema:
        return
    if not any(schema.keys() & (one.keywords | one.annotating) for one in DRAFTS):
        message = "no key of the document is a keyword of JSON Schema: is it data?"
        help_ = "validate checks data; a schema without keywords allows any value"
        yield Remark(NO_KEYWORD, (), message, help_)


def branch_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield the branches of `oneOf` that are equal, and of `allOf` without a type."""
    for path, node in context.nodes:
        own = context.own(node)
        branches = own.get("oneOf")
        if isinstance(branches, list):
            yield from _equal_branches(branches, (*path, "oneOf"))
        if isinstance(own.get("allOf"), list):
            yield from _exclusive_types(own, path, context)


def _equal_branches(branches: list[Any], path: Path) -> Iterator[Remark]:
    first: dict[str, int] = {}
    for number, branch in enumerate(branches):
        text = json.dumps(branch, sort_keys=True)
        other = first.setdefault(text, number)
        if other != number:
            message = (
                f"branches {other} and {number} of the oneOf are equal: a value that "
                "matches one matches both, and is refused"
            )
            yield Remark(EQUAL_BRANCHES, (*path, number), message, "remove one")


def _exclusive_types(
    node: dict[str, Any], path: Path, context: SchemaContext
) -> Iterator[Remark]:
    """Yield a remark on the first branch that leaves no type of the ones before it."""
    left = types_of(node)
    for number, branch in enumerate(node["allOf"]):
        reference = context.reference_of(branch)
        types = types_of(branch if reference is None else context.target(reference))
        if types is None:
            continue
        if left is not None and not left & types:
            message = (
                f"the types of branch {number} of the allOf exclude those that the "
                "schemas before it allow, so that no value is left"
            )
            here = (*path, "allOf", number)
            yield Remark(EXCLUSIVE_TYPES, here, message, "correct one of the types")
            return
        left = types if left is None else left & types
