"""Find branches and keys that exclude each other, and schemas that are none."""

import json
from collections.abc import Iterator
from typing import Any

from harpia_formats.formats.schema.check.context import SchemaContext
from harpia_formats.formats.schema.check.requirements import may_match
from harpia_formats.formats.schema.check.values import types_of
from harpia_formats.formats.schema.drafts import DRAFTS
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import short_json

NO_KEYWORD, EQUAL_BRANCHES, EXCLUSIVE_TYPES = "S428", "S429", "S430"
ROOT_PROPERTY, COVERED_BRANCH, EMPTY_BRANCH = "S431", "S432", "S434"
PATTERN_TYPES = "S435"
#: The keywords of all drafts, and those that only describe.
_KEYWORDS = frozenset().union(*(one.keywords for one in DRAFTS))
_ANNOTATING = frozenset().union(*(one.annotating for one in DRAFTS))
#: Keywords by which an object is known to be a schema.
_TELLING = frozenset({"type", "enum", "const", "$ref", "properties", "items", "anyOf"})
#: The types of JSON; integers are numbers.
_ALL_TYPES = frozenset("array boolean integer null number object string".split())
#: The same as a tuple, in which values that are no texts are looked up.
_TYPE_NAMES = tuple(_ALL_TYPES)


def keyword_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield a remark on a document that has keys, and no keyword of any draft."""
    schema = context.schema
    if not isinstance(schema, dict) or not schema:
        return
    is_named = any(schema.keys() & (one.keywords | one.annotating) for one in DRAFTS)
    if not is_named and all(map(_is_typed, schema.values())):
        for key in schema:
            yield _root_property(key, ())
    elif not is_named:
        message = "no key of the document is a keyword of JSON Schema: is it data?"
        help_ = "validate checks data; a schema without keywords allows any value"
        yield Remark(NO_KEYWORD, (), message, help_)
    references = {context.reference_of(node) or "" for _, node in context.nodes}
    for path, node in context.nodes:
        yield from _root_properties(node, path, references)


def _root_properties(
    node: dict[str, Any], path: Path, references: set[str]
) -> Iterator[Remark]:
    """Yield the keys of a schema that are no keywords, and hold a schema themselves.

    Those that a reference leads into are definitions.
    """
    if not node.keys() & _KEYWORDS:
        return
    for key, value in node.items():
        is_known = key in _KEYWORDS or key in _ANNOTATING or key.startswith("x-")
        if is_known or not isinstance(value, dict) or not value.keys() & _TELLING:
            continue
        pointer = "#" + "".join(f"/{step}" for step in (*path, key))
        if any(each.startswith(pointer) for each in references):
            continue
        yield _root_property(key, path)


def _root_property(key: str, path: Path) -> Remark:
    """Return the remark on a key that holds a schema and is no keyword."""
    message = (
        f"{short_json(key)} is no keyword of JSON Schema, so what it holds checks "
        "nothing"
    )
    help_ = "move it into properties, if it describes a key of the data"
    return Remark(ROOT_PROPERTY, (*path, key), message, help_, at_key=True)


def _is_typed(value: Any) -> bool:
    """Tell whether a value is a schema that names types of JSON."""
    types = value.get("type") if isinstance(value, dict) else None
    named = types if isinstance(types, list) else [types]
    return bool(named) and all(each in _TYPE_NAMES for each in named)


def branch_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield the branches and the patterns that leave no value, or check nothing."""
    for path, node in context.nodes:
        own = context.own(node)
        branches = own.get("oneOf")
        if isinstance(branches, list):
            yield from _equal_branches(branches, (*path, "oneOf"))
            yield from _covered_branches(branches, (*path, "oneOf"))
        if isinstance(own.get("anyOf"), list):
            yield from _empty_branches(own["anyOf"], (*path, "anyOf"))
        if isinstance(own.get("allOf"), list):
            yield from _exclusive_types(own, path, context)
        yield from _pattern_types(own, path)


def _covered_branches(branches: list[Any], path: Path) -> Iterator[Remark]:
    """Yield the branches of a oneOf whose values all match another branch as well."""
    allowed = [_only_types(branch) for branch in branches]
    for number, covered in enumerate(branches):
        types = types_of(covered) or _ALL_TYPES
        for other, covering in enumerate(allowed):
            if covered in (branches[other], False) or not types <= (covering or set()):
                continue
            message = (
                f"every value that matches branch {number} of the oneOf matches branch "
                f"{other}, too, and is refused"
            )
            help_ = "write anyOf, or remove one of the branches"
            yield Remark(COVERED_BRANCH, (*path, number), message, help_)
            break


def _only_types(branch: Any) -> frozenset[str] | None:
    """Return the types that a schema allows that says nothing else, else None."""
    if branch is True:
        return _ALL_TYPES
    if not isinstance(branch, dict) or branch.keys() & (_KEYWORDS - {"type"}):
        return None
    return types_of(branch) or _ALL_TYPES


def _empty_branches(branches: list[Any], path: Path) -> Iterator[Remark]:
    """Yield the branches of an anyOf that any value matches."""
    for number, branch in enumerate(branches):
        if len(branches) > 1 and _only_types(branch) == _ALL_TYPES:
            message = (
                f"branch {number} of the anyOf allows any value, so the other branches "
                "check nothing"
            )
            yield Remark(EMPTY_BRANCH, (*path, number), message, "remove or fill it")


def _pattern_types(node: dict[str, Any], path: Path) -> Iterator[Remark]:
    """Yield the properties whose types a pattern that matches their name excludes."""
    named, patterns = node.get("properties"), node.get("patternProperties")
    if not isinstance(named, dict) or not isinstance(patterns, dict):
        return
    for key, schema in named.items():
        types = types_of(schema)
        for pattern, other in patterns.items():
            others = types_of(other)
            if types is None or others is None or types & others:
                continue
            if may_match(pattern, key, unsure=False):
                message = (
                    f"the types of {short_json(key)} and of the pattern "
                    f"{short_json(pattern)}, which matches it, exclude each other, so "
                    "that no value is left"
                )
                here = (*path, "properties", key)
                yield Remark(PATTERN_TYPES, here, message, "correct one of the types")


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
