"""Find required keys that no object can have, or that no schema describes.

All schemas that apply to the same value are looked at together: what `allOf`, `$ref`
and the branches of conditions add to a schema counts for its properties, too.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs

from harpia_formats.formats.schema.bounded import is_linear_pattern
from harpia_formats.formats.schema.check.conditions import condition_remarks
from harpia_formats.formats.schema.check.context import ALWAYS, SOMETIMES, SchemaContext
from harpia_formats.formats.schema.check.groups import (
    SchemaGroup,
    SchemaPart,
    group_of,
    inner_groups,
    required_keys,
)
from harpia_formats.formats.schema.check.values import types_of
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import short_json
from harpia_formats.model.text.spelling import nearest

IMPOSSIBLE, UNDESCRIBED, UNREACHABLE = "S409", "S410", "S411"
#: Groups of schemas that are looked at; further ones are not.
_GROUPS = 20_000
#: Keys among which a similar name is looked for, and for how many keys of a group.
_COMPARED, _SUGGESTIONS = 200, 10
#: Characters of a key that patterns are tried with.
_KEY_LENGTH = 1_000


def requirement_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield what is wrong with the required keys and the conditions of a schema."""
    pending = [group_of([(context.schema, True)], context)]
    pending += [
        group_of([(node, True)], context)
        for path, node in context.nodes
        if len(path) == 2 and path[0] in {"definitions", "$defs"}  # noqa: PLR2004 - keyword and name
    ]
    pending.reverse()
    seen: set[frozenset[int]] = set()
    #: Findings, each once though its schema applies to several values.
    found: dict[tuple[str, Path, str], Remark] = {}
    while pending and len(seen) < _GROUPS:
        group = pending.pop()
        identity = frozenset(id(part.node) for part in group)
        if not group or identity in seen:
            continue
        seen.add(identity)
        for remark in _group_remarks(group, context):
            found.setdefault((remark.code, remark.path, remark.message), remark)
        pending += [inner for _, inner in reversed([*inner_groups(group, context)])]
    yield from _without_less_certain(found.values())


def _without_less_certain(remarks: Iterable[Remark]) -> Iterator[Remark]:
    """Yield remarks, without those on a path about which a more certain one speaks."""
    remarks = list(remarks)
    certain = {remark.path for remark in remarks if remark.code != UNDESCRIBED}
    for remark in remarks:
        if remark.code != UNDESCRIBED or remark.path not in certain:
            yield remark


def _group_remarks(group: SchemaGroup, context: SchemaContext) -> Iterator[Remark]:
    """Yield the remarks on schemas that apply to the same object."""
    described = _Described(group)
    for part in group:
        path = context.paths.get(id(part.node))
        if path is None:
            continue
        yield from _required_remarks(part, path, described, context)
        yield from _unreachable_remarks(part, path, described, context)
        yield from condition_remarks(part, path, group, context)


class _Described:
    """Which keys the schemas of a group describe."""

    def __init__(self, group: SchemaGroup) -> None:
        self.group = group
        #: Keys that any of them describes, and those described without a condition.
        self.anywhere = _keys(part.node for part in group)
        self.always = _keys(part.node for part in group if part.is_always)
        self.required = {key for part in group for key in required_keys(part.node)}
        patterns = [
            pattern
            for part in group
            for pattern in part.node.get("patternProperties", ())
        ]
        self._patterns = patterns
        rest = [part.node.get("additionalProperties") for part in group]
        names = any("propertyNames" in part.node for part in group)
        self._suggestions = _SUGGESTIONS
        #: Whether other keys have a schema, too.
        self.has_rest = names or any(isinstance(one, dict) and one for one in rest)

    def suggestion(self, key: str) -> str:
        """Return the help that names a similar key, "" without one or after many."""
        self._suggestions -= 1
        if self._suggestions < 0:
            return ""
        near = nearest(key, islice(self.anywhere, _COMPARED))
        return f"write {near}, if that is meant" if near else ""

    def matches_pattern(self, key: str) -> bool:
        """Return whether a pattern may describe a key."""
        return any(may_match(pattern, key) for pattern in self._patterns)


def _keys(nodes: Iterable[dict[str, Any]]) -> set[str]:
    """Return the keys that schemas describe and do not forbid."""
    return {
        key
        for node in nodes
        for key, part in node.get("properties", {}).items()
        if part is not False
    }


def may_match(pattern: str, key: str, *, unsure: bool = True) -> bool:
    """Return whether a pattern matches a key, `unsure` where that is not certain."""
    matches = _matcher(pattern)
    return unsure if matches is None or len(key) > _KEY_LENGTH else matches(key)


@lru_cache(1_000)
def _matcher(pattern: str) -> Callable[[str], bool] | None:
    """Return what tells whether a pattern matches, None if it may take forever."""
    if not is_linear_pattern(pattern):
        return None
    try:
        validator = jsonschema_rs.Draft7Validator(
            {"pattern": pattern},
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except (jsonschema_rs.ValidationError, ValueError):
        return None
    return validator.is_valid


def _forbids(node: dict[str, Any], key: str) -> bool:
    """Return whether a schema refuses any object with a key."""
    named = node.get("properties", {})
    if key in named:
        return named[key] is False
    if node.get("additionalProperties") is not False:
        return False
    return not any(may_match(each, key) for each in node.get("patternProperties", ()))


def _required_remarks(
    part: SchemaPart, path: Path, described: _Described, context: SchemaContext
) -> Iterator[Remark]:
    """Yield the required keys that are forbidden, or described by no schema."""
    types = types_of(part.node)
    if types is not None and "object" not in types:
        return  # the keyword has no effect, which is another finding
    always = [other.node for other in described.group if other.is_always]
    binding = [*always, *part.around, part.node]
    for number, key in enumerate(part.node.get("required", ())):
        if not isinstance(key, str):
            continue
        here, shown = (*path, "required", number), short_json(key)
        if any(_forbids(node, key) for node in binding):
            help_ = described.suggestion(key)
            message = (
                f"{shown} is required, but no property is called so and others are "
                "forbidden: no object is allowed"
            )
            help_ = help_ or "describe it in properties, or do not require it"
            yield Remark(IMPOSSIBLE, here, message, help_)
            continue
        is_known = key in described.anywhere or described.matches_pattern(key)
        # Where nothing is described, naming what is required is all that is meant.
        if is_known or described.has_rest or not described.anywhere:
            continue
        if not context.schema or _refers_out(described.group, context):
            continue
        message = f"{shown} is required, but properties does not describe it"
        help_ = (
            described.suggestion(key)
            or "describe it in properties, so that its value is checked"
        )
        yield Remark(UNDESCRIBED, here, message, help_)


def _refers_out(group: SchemaGroup, context: SchemaContext) -> bool:
    """Return whether a schema of a group has a reference that is not in this file."""
    for part in group:
        inner = context.same_place(part.node, (*ALWAYS, *SOMETIMES))
        for keyword, node in inner:
            reference = context.reference_of(node) if keyword != "$ref" else None
            if (keyword == "$ref" and node is None) or (
                reference is not None and context.target(reference) is None
            ):
                return True
    return False


def _unreachable_remarks(
    part: SchemaPart, path: Path, described: _Described, context: SchemaContext
) -> Iterator[Remark]:
    """Yield what a branch requires of a member that no object has."""
    if part.is_always or not described.always:
        return
    for name, node in part.node.get("properties", {}).items():
        is_known = name in described.always or name in described.required
        if is_known or described.matches_pattern(name) or not isinstance(node, dict):
            continue
        if described.has_rest or _refers_out(described.group, context):
            continue
        missing = [key for key in required_keys(node) if key not in _keys([node])]
        if not missing or _is_described(name, missing, described.group):
            continue
        numbers = [node["required"].index(key) for key in missing]
        yield _unreachable(
            name, missing[0], (*path, "properties", name), numbers[0], described
        )


def _is_described(name: str, keys: list[str], group: SchemaGroup) -> bool:
    """Return whether the schemas of a group describe one of the keys of a member."""
    inner = [part.node.get("properties", {}).get(name) for part in group]
    return bool(_keys(node for node in inner if isinstance(node, dict)) & set(keys))


def _unreachable(
    name: str, key: str, path: Path, number: int, described: _Described
) -> Remark:
    """Return the remark that `key` is required of a member that no object has."""
    message = (
        f"{short_json(key)} is required inside {short_json(name)}, which no schema "
        f"describes or requires: without {short_json(name)}, nothing is required"
    )
    homes = [
        other
        for part in described.group
        for other, node in part.node.get("properties", {}).items()
        if isinstance(node, dict) and key in node.get("properties", {})
    ]
    help_ = f"describe {name}, or remove the requirement"
    if homes:
        help_ = f"{key} is described in {homes[0]}: write {homes[0]} in place of {name}"
    return Remark(UNREACHABLE, (*path, "required", number), message, help_)
