"""Find examples and defaults that their own schema refuses."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.schema.bounded import is_bounded
from harpia_formats.schema.check.context import SchemaContext
from harpia_formats.schema.check.shape import validator_class
from harpia_formats.text.describe import short_json

REFUSED_SAMPLE = "S424"
#: Schemas with references whose samples are checked: each takes the whole schema.
_WITH_REFERENCES = 200
#: Samples of one schema that are checked.
_SAMPLES = 100


def sample_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield a remark on each `default` and example that its schema refuses.

    Schemas that may take forever are not asked.
    """
    budget = _WITH_REFERENCES
    for path, node in context.nodes:
        samples = list(_samples(node))
        if not samples:
            continue
        schema: Any = node
        if _has_references(node):
            budget -= 1
            if budget < 0:
                return
            schema = _around(path, context)
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


def _around(path: Path, context: SchemaContext) -> Any:
    """Return a schema that demands what the one at `path` does, with all others."""
    if not path:
        return context.schema
    # Beside the reference, nothing of the root applies.
    return {
        "$ref": f"#/definitions/root{_fragment(path)}",
        "definitions": {"root": _moved(context.schema)},
    }


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
    if not is_bounded(schema):
        return None
    try:
        return validator_class(context.draft)(schema, offline=True).is_valid
    except (jsonschema_rs.ValidationError, ValueError):
        return None
