"""Find references that lead nowhere or back to themselves, and unused definitions."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from harpia_formats.formats.schema.check.checked_schema import (
    ALWAYS,
    SOMETIMES,
    SchemaContext,
    depending_schemas,
)
from harpia_formats.formats.schema.check.keyword_values import INVALID
from harpia_formats.formats.schema.keywords import DRAFTS
from harpia_formats.formats.schema.references import resolve
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.model.spelling import nearest

UNRESOLVED, LOOP, OUTSIDE, UNUSED = "S405", "S406", "S407", "S408"
_SAME_PLACE = (*ALWAYS, *SOMETIMES, "not", "if")
_DEFINITIONS = ("definitions", "$defs")
_META_SCHEMAS = frozenset(draft.uri for draft in DRAFTS)
#: Definitions among which a similar name is looked for, and for how many references.
_COMPARED, _SUGGESTIONS = 200, 10


def reference_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield what is wrong with the references of a schema."""
    suggestions = _SUGGESTIONS
    for path, node in context.nodes:
        reference = context.reference_of(node)
        if reference is None:
            continue
        here = (*path, "$ref")
        found = context.target(node)
        if isinstance(found, (dict, bool)):
            continue
        shown = short_json(reference)
        if found is not None:
            message = f"the reference {shown} leads to what is not a schema"
            yield Remark(UNRESOLVED, here, message)
        elif context.named_by(node)[0] in context.resources:
            message = f"the reference {shown} leads to nothing in this file"
            help_ = _near_definition(reference, context) if suggestions > 0 else ""
            suggestions -= 1
            yield Remark(UNRESOLVED, here, message, help_)
        elif context.named_by(node)[0] not in _META_SCHEMAS:
            message = f"the reference {shown} leads out of this file"
            help_ = "validate follows none of those: copy the schema into definitions"
            yield Remark(OUTSIDE, here, message, help_)
    yield from _loop_remarks(context)


def uri_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield the references and names of schemas that are no URIs."""
    is_uri = jsonschema_rs.Draft7Validator(
        {"format": "uri-reference"}, offline=True, validate_formats=True
    ).is_valid
    for path, node in context.nodes:
        for keyword in context.draft.keywords & {"$ref", "$id", "id"}:
            value = node.get(keyword)
            if not isinstance(value, str) or is_uri(value):
                continue
            message = f"{keyword} is {short_json(value)}, which is no URI"
            encoded = quote(value, safe="/~!$&'()*+,;=:@#?%")
            help_ = f"write {encoded}" if is_uri(encoded) else ""
            yield Remark(INVALID, (*path, keyword), message, help_)


def name_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield a remark on each name of a part that another part before it has."""
    named: dict[str, Path] = {}
    for path, node in context.nodes:
        for keyword, uri in context.names_of(path, node):
            first = named.setdefault(uri, path)
            if first != path and keyword in context.draft.keywords:
                name, owner = short_json(node[keyword]), pointer_of(first) or "the root"
                message = f"{keyword} is {name}, which names {owner}"
                yield Remark(INVALID, (*path, keyword), message, "give it another name")


def _near_definition(reference: str, context: SchemaContext) -> str:
    """Return the help for a reference to nothing."""
    known = [
        f"#{pointer_of((keyword, name))}"
        for keyword in _DEFINITIONS
        if isinstance(context.schema, dict)
        for name in list(context.schema.get(keyword, {}))[:_COMPARED]
    ]
    near = nearest(reference, known)
    return f"write {near}, if that is meant" if near else ""


def _loop_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield one reference of each loop that applies to one value without end."""
    following = {
        id(node): _references_behind(node, context)
        for _, node in context.nodes
        if context.reference_of(node) is not None
    }
    left = _without_ends(following)
    visited: set[int] = set()
    for start in left:
        walk: dict[int, None] = {}
        at = start
        while at not in visited:
            visited.add(at)
            walk[at] = None
            at = next(one for one in following[at] if one in left)
        if at in walk:
            path = context.paths[at]
            message = "the reference leads back to itself, so validating never ends"
            yield Remark(LOOP, (*path, "$ref"), message, "break the loop")


def _references_behind(node: Any, context: SchemaContext) -> list[int]:
    """Return the `id` of each reference that applies where that of `node` leads."""
    pending = [context.target(node)]
    found: list[int] = []
    seen: set[int] = set()
    while pending:
        part = pending.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        if context.reference_of(part) is not None:
            found.append(id(part))
            if context.draft.ignores_ref_siblings:
                continue
        pending += [
            inner
            for keyword, inner in context.same_place(part, _SAME_PLACE)
            if keyword != "$ref"
        ]
        pending += depending_schemas(context.own(part))
    return found


def _without_ends(following: dict[int, list[int]]) -> dict[int, None]:
    """Return the references from which a loop is reached, in order."""
    before: dict[int, list[int]] = {}
    count = {}
    for at, behind in following.items():
        known = [one for one in behind if one in following]
        count[at] = len(known)
        for one in known:
            before.setdefault(one, []).append(at)
    ends = [at for at, number in count.items() if not number]
    while ends:
        for at in before.get(ends.pop(), ()):
            count[at] -= 1
            if not count[at]:
                ends.append(at)
    return {at: None for at, number in count.items() if number}


def unused_definitions(context: SchemaContext) -> Iterator[Remark]:
    """Yield a remark on each definition that nothing refers to.

    None for a schema that holds nothing but definitions, which other files refer to.
    """
    schema = context.schema
    if not isinstance(schema, dict) or not schema.keys() & (
        context.draft.restricting - {"$anchor", "$vocabulary"}
    ):
        return
    used, missed = _used(context), _missed_names(context)
    for keyword in _DEFINITIONS:
        named = schema.get(keyword)
        for name, part in named.items() if isinstance(named, dict) else ():
            is_unused = isinstance(part, dict) and id(part) not in used
            if is_unused and name not in missed and not _has_name(part):
                message = f"nothing refers to the definition {short_json(name)}"
                path: Path = (keyword, name)
                yield Remark(UNUSED, path, message, "remove it", at_key=True)


def _missed_names(context: SchemaContext) -> set[str]:
    """Return the ends of references to nothing: they may mean such a definition."""
    return {
        node["$ref"].rpartition("/")[2]
        for _, node in context.nodes
        if context.reference_of(node) is not None and context.target(node) is None
    }


def _has_name(part: dict[str, Any]) -> bool:
    """Return whether references may name a definition by another way than its place."""
    return bool(part.keys() & {"$id", "id", "$anchor", "$dynamicAnchor"})


def _used(context: SchemaContext) -> set[int]:
    """Return the `id` of each schema that is used, and of those inside of it."""
    used: set[int] = set()
    pending = [context.schema]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict) or id(node) in used:
            continue
        used.add(id(node))
        pending += [
            part for path, part in context.parts(node) if path[0] not in _DEFINITIONS
        ]
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = node.get(keyword)
            if isinstance(reference, str):
                pending.append(context.target(node, keyword))
                pending += _on_the_way(reference, context)
    return used


def _on_the_way(reference: str, context: SchemaContext) -> list[Any]:
    """Return the definition inside of which a reference leads, if it is one."""
    parts = reference.partition("#")[2].split("/")[1:3]
    if len(parts) < 2 or parts[0] not in _DEFINITIONS:  # noqa: PLR2004 - keyword and name
        return []
    return [resolve(context.schema, f"#/{'/'.join(parts)}")]
