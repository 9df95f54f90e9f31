"""Find required keys, conditions and branches that no object can fulfil."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from harpia_formats.formats.schema.check.checked_schema import (
    ALWAYS,
    SOMETIMES,
    SchemaContext,
    SchemaGroup,
    SchemaPart,
    group_of,
    inner_groups,
    required_keys,
)
from harpia_formats.formats.schema.check.keyword_values import (
    allows_type,
    identity,
    types_of,
)
from harpia_formats.formats.schema.keywords import DRAFTS
from harpia_formats.formats.schema.user_schema import is_linear_pattern
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.model.spelling import nearest

VACUOUS, WITHOUT_KEY, NEVER = "S412", "S413", "S433"


def condition_remarks(
    part: SchemaPart, path: Path, group: SchemaGroup, context: SchemaContext
) -> Iterator[Remark]:
    """Yield the keys that an `if` tests, but holds without, or that never hold."""
    condition = part.node.get("if")
    if not isinstance(condition, dict) or "if" not in context.draft.keywords:
        return
    if not part.node.keys() & {"then", "else"}:
        return
    own = context.own(condition)
    tests = own.get("properties", {})
    needed = _needed_by(own, context)
    known = {key for one in part.conditions for key in _needed_by(one, context)}
    binding = [*(one.node for one in group if one.is_always), *part.around, part.node]
    required = {key for other in binding for key in required_keys(other)}
    yield from _never_holding(part, path, needed, binding, context)
    for key, test in tests.items():
        # Without the key, `false` and schemas of nothing hold on purpose.
        if key in needed | known or test in (True, False) or test == {}:
            continue
        here, shown = (*path, "if", "properties", key), short_json(key)
        help_ = f'add "required": [{shown}] to the if'
        if key in required:
            message = (
                f"the if also holds without {shown}, so an object without it gets "
                f"the errors of {_branch(part)}, too"
            )
            yield Remark(WITHOUT_KEY, here, message, help_, at_key=True)
        else:
            message = (
                f"the if also holds for objects without {shown}, so {_branch(part)} "
                f"{'applies' if 'then' in part.node else 'does not apply'} to them"
            )
            yield Remark(VACUOUS, here, message, help_, at_key=True)


def _needed_by(condition: dict[str, Any], context: SchemaContext) -> set[str]:
    """Return the keys without which a condition does not hold."""
    parts = [condition, *map(context.own, condition.get("allOf", ()))]
    return {key for part in parts for key in required_keys(part)}


def _branch(part: SchemaPart) -> str:
    """Return the keyword of the branch that a condition decides on."""
    return "then" if "then" in part.node else "else"


def _never_holding(
    part: SchemaPart,
    path: Path,
    needed: set[str],
    binding: list[dict[str, Any]],
    context: SchemaContext,
) -> Iterator[Remark]:
    """Yield the keys that an `if` needs with values that the schemas around it refuse.

    `binding` are the schemas that apply whenever the condition is tested.
    """
    tests = context.own(part.node["if"]).get("properties", {})
    for key in [key for key in tests if key in needed]:
        described = [node.get("properties", {}).get(key) for node in binding]
        schemas = [node for node in described if isinstance(node, dict)]
        if any(_excludes(tests[key], schema, context) for schema in schemas):
            message = (
                f"the if never holds: no value of {short_json(key)} that the schema "
                f"allows is one that it tests for, so "
                f"{'then never applies' if 'then' in part.node else 'else always does'}"
            )
            here = (*path, "if", "properties", key)
            help_ = "correct the value in the if, or allow it in properties"
            yield Remark(NEVER, here, message, help_, at_key=True)


def _excludes(test: Any, schema: dict[str, Any], context: SchemaContext) -> bool:
    """Return whether no value matches both schemas, by their values and types."""
    if not isinstance(test, dict):
        return test is False
    test, schema = context.own(test), context.own(schema)
    tested, allowed = _values_of(test), _values_of(schema)
    types, other_types = types_of(test), types_of(schema)
    if tested is not None and allowed is not None:
        texts = {identity(value) for value in allowed}
        return not any(identity(value) in texts for value in tested)
    if tested is not None:
        return not any(allows_type(other_types, value) for value in tested)
    if allowed is not None:
        return not any(allows_type(types, value) for value in allowed)
    return types is not None and other_types is not None and not types & other_types


def _values_of(schema: dict[str, Any]) -> list[Any] | None:
    """Return the values that a schema lists, None if it lists none."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else None


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
    """Return whether a schema refuses any object with a key, which it does not name."""
    if key in node.get("properties", {}):
        return False
    if node.get("additionalProperties") is not False:
        return False
    return not any(may_match(each, key) for each in node.get("patternProperties", ()))


def _has_no_value(node: dict[str, Any], key: str) -> bool:
    """Return whether the schema `false` of a schema is for the values of a key."""
    if node.get("properties", {}).get(key) is False:
        return True
    return any(
        schema is False and may_match(pattern, key, unsure=False)
        for pattern, schema in node.get("patternProperties", {}).items()
    )


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
        if any(_has_no_value(node, key) for node in binding):
            message = (
                f"{shown} is required, and its schema is false: no object is allowed"
            )
            help_ = "correct its schema, or do not require it"
            yield Remark(IMPOSSIBLE, here, message, help_)
            continue
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
            is_reference = keyword != "$ref" and context.reference_of(node) is not None
            if node is None or (is_reference and context.target(node) is None):
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
    references = [
        unquote(context.named_by(node)[1])
        for _, node in context.nodes
        if context.reference_of(node) is not None
    ]
    for path, node in context.nodes:
        yield from _root_properties(node, path, references)


def _root_properties(
    node: dict[str, Any], path: Path, references: list[str]
) -> Iterator[Remark]:
    """Yield the keys of a schema that are no keywords, and hold a schema themselves.

    Those that one of the `references`, as JSON pointers, leads into are definitions.
    """
    if not node.keys() & _KEYWORDS:
        return
    for key, value in node.items():
        is_known = key in _KEYWORDS or key in _ANNOTATING or key.startswith("x-")
        if is_known or not isinstance(value, dict) or not value.keys() & _TELLING:
            continue
        pointer = pointer_of((*path, key))
        if any(f"{each}/".startswith(f"{pointer}/") for each in references):
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
            yield from _covered_branches(branches, (*path, "oneOf"), context)
        if isinstance(own.get("anyOf"), list):
            yield from _empty_branches(own["anyOf"], (*path, "anyOf"))
        if isinstance(own.get("allOf"), list):
            yield from _exclusive_types(own, path, context)
        yield from _pattern_types(own, path)


def _covered_branches(
    branches: list[Any], path: Path, context: SchemaContext
) -> Iterator[Remark]:
    """Yield the branches of a oneOf whose values all match another branch as well."""
    allowed = [_only_types(branch) for branch in branches]
    for number, covered in enumerate(branches):
        types = types_of(context.own(covered)) or _ALL_TYPES
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
        is_reference = context.reference_of(branch) is not None
        types = types_of(context.target(branch) if is_reference else branch)
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
