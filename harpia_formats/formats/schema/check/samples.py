"""Find examples and defaults that their own schema refuses."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from harpia_formats.formats.schema.bounded import is_bounded
from harpia_formats.formats.schema.check.context import SchemaContext
from harpia_formats.formats.schema.check.shape import validator_class
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.model.text.describe import short_json

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
            # Beside the reference, nothing of the root applies.
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
