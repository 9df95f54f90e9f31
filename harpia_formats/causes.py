"""From every error of the schema engine to the root causes of one record.

The engine lists each keyword that failed. Several of them often have one cause: a
condition that holds only because the key it asks for is missing, two keywords that
say the same of one value, several demands of one condition, a misspelt key that is
both missing and unknown. Here they become one each.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harpia_formats.format import Advice
from harpia_formats.near import nearest
from harpia_formats.problem import Path, pointer_of
from harpia_formats.schema import resolve

#: Keywords that a name or a number follows in a path, and those of them that lead
#: into the data.
_named = frozenset({"properties", "patternProperties", "definitions", "dependencies"})
_named |= {"allOf", "anyOf", "oneOf"}
_inward = frozenset({"properties", "patternProperties", "items"})
_inward |= {"additionalProperties", "additionalItems"}
_codes = {
    "required": "S101",
    "type": "S102",
    "additionalProperties": "S104",
    "additionalItems": "S105",
    "enum": "V101",
    "const": "V101",
    "minimum": "V102",
    "maximum": "V102",
    "exclusiveMinimum": "V102",
    "exclusiveMaximum": "V102",
    "minLength": "V103",
    "maxLength": "V103",
    "pattern": "V104",
    "format": "V105",
    "minItems": "V106",
    "maxItems": "V106",
    "minProperties": "V106",
    "maxProperties": "V106",
    "uniqueItems": "V107",
    "multipleOf": "V108",
    "anyOf": "V109",
    "oneOf": "V109",
    "severalOf": "V110",
    "not": "V111",
    "falseSchema": "V111",
    "contains": "V112",
    "contentEncoding": "V113",
    "contentMediaType": "V113",
    "propertyNames": "V114",
    "undetermined": "V901",
}


@dataclass(frozen=True, slots=True)
class Branch:
    """A `then`, `else` or dependency that applied, and to which part of the record."""

    #: Evaluation path to it.
    path: Path
    #: How many steps of a violation's path lead to the object it is about.
    depth: int
    #: The key that a dependency is on, else none.
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """One keyword that failed, as the engine told it, in plain data."""

    keyword: str
    #: What the keyword speaks of: a key, a bound, a list of types, alternatives.
    detail: Any
    #: Where in the record.
    path: Path
    #: Where in the schema, references followed.
    schema_path: Path
    branch: Branch | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing to mend in a record."""

    code: str
    #: Where it is: the value, or the key if `at_key`.
    path: Path
    #: What the engine said, the leading one first.
    violations: tuple[Violation, ...]
    at_key: bool = False
    #: What the key should be called.
    intended: str = ""
    #: What the condition asked for, as paths in the record.
    because: tuple[Path, ...] = ()
    advice: Advice | None = None


Advise = Callable[[str, Path, Any], Advice | None]


def root_causes(
    record: Any, errors: Iterable[Any], schema: Any, advise: Advise
) -> list[Cause]:
    """Return the root causes behind the engine's `errors` on `record`."""
    violations = [violation_of(each, record, schema) for each in errors]
    violations = list(_chosen_alternatives(violations, record))
    violations = _without_vacuous(violations, schema)
    violations = _without_twins(_without_followers(violations))
    causes: list[Cause] = []
    for group in _by_branch(violations, schema):
        causes += _causes_of(group, record, schema, advise)
    return _without_misspelt_twice(causes)


def violation_of(error: Any, record: Any, schema: Any) -> Violation:
    """Return an error of jsonschema-rs on `record` as plain data."""
    kind = error.kind
    name = type(kind).__name__
    keyword, detail = kind.name, kind.value
    path = _path_of(error, record)
    told = tuple(error.schema_path)
    schema_path = next(_paths(schema, told), told)
    evaluated = tuple(error.evaluation_path)
    evaluated = next(_paths(schema, evaluated, schema), evaluated)
    if name in {"BacktrackLimitExceeded", "RegexEngineFailure"}:
        keyword, detail = "undetermined", None
    elif name == "OneOfMultipleValid":
        keyword, detail = "severalOf", None
    elif keyword in {"anyOf", "oneOf"}:
        detail = [
            [violation_of(each, record, schema) for each in option]
            for option in kind.context
        ]
        if any(each.keyword == "undetermined" for option in detail for each in option):
            keyword = "undetermined"
    elif keyword == "propertyNames":
        detail = str(detail.instance)
    elif keyword == "falseSchema":
        keyword, detail = _what_is_false(schema_path, value_at(record, path))
    elif keyword == "required" and _last_keyword(schema_path) == "dependencies":
        owner = value_at(record, path)
        evaluated = (*evaluated, _dependent(schema_path, schema, detail, owner))
    return Violation(keyword, detail, path, schema_path, branch_of(evaluated))


def _path_of(error: Any, record: Any) -> Path:
    """Return where in `record` an error is.

    The engine tells a key of digits as a number and leaves empty keys out, so where
    there are such keys the value tells which of the possible paths it is.
    """
    told = tuple(error.instance_path)
    if _is_exact(record, told):
        return told
    instance = error.instance
    paths = list(_paths(record, told))
    found = (each for each in paths if _same(value_at(record, each), instance))
    return next(found, paths[0])


def _is_exact(node: Any, path: Path) -> bool:
    for each in path:
        if isinstance(node, dict) and (type(each) is int or "" in node):
            return False
        node = node[each]
    return not (isinstance(node, dict) and "" in node)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _paths(node: Any, told: Path, schema: Any = None) -> Iterator[Path]:
    """Yield every path in `node` that the engine tells as `told`.

    References are followed if the `schema` is given that they are in.
    """
    if not told:
        yield ()
    else:
        for key in _steps(node, told[0]):
            inner = node[key]
            if key == "$ref" and schema is not None and isinstance(inner, str):
                inner = resolve(schema, inner)
            yield from ((key, *rest) for rest in _paths(inner, told[1:], schema))
    if isinstance(node, dict) and "" in node:
        yield from (("", *rest) for rest in _paths(node[""], told, schema))


def _steps(node: Any, told: str | int) -> Iterator[str | int]:
    """Yield the keys or the index of `node` that the engine tells as `told`."""
    if isinstance(node, list):
        if isinstance(told, int) and told < len(node):
            yield told
    elif isinstance(node, dict):
        if str(told) in node:
            yield str(told)
        if isinstance(told, int):
            written = re.compile(rf"\+?0*{told}")
            for key in node:
                if key != str(told) and written.fullmatch(key):
                    yield key


def _keywords(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the keywords on a path through a schema, with their index."""
    index = 0
    while index < len(path):
        word = str(path[index])
        yield index, word
        index += 1
        numbered = word == "items" and index < len(path) and type(path[index]) is int
        if word in _named or numbered:
            index += 1


def _last_keyword(path: Path) -> str:
    """Return the keyword that `path` ends with, empty if it ends with a name."""
    return next((word for index, word in _keywords(path) if index == len(path) - 1), "")


def _what_is_false(schema_path: Path, value: Any) -> tuple[str, Any]:
    """Return which keyword has the value false, and what it speaks of."""
    last = _last_keyword(schema_path)
    if last == "additionalProperties" and isinstance(value, dict):
        return last, list(value)
    if last == "propertyNames":
        return last, next(iter(value), "")
    return "falseSchema", None


def _dependent(schema_path: Path, schema: Any, key: Any, owner: Any) -> str:
    """Return the key of `owner` that must not be there without `key`."""
    wanted = node_at(schema, schema_path)
    found = (each for each in wanted if each in owner and key in wanted[each])
    return next(found, "")


def branch_of(evaluation_path: Iterable[Any]) -> Branch | None:
    """Return the innermost condition on the way to a keyword."""
    path = tuple(evaluation_path)
    found, depth = None, 0
    for index, word in _keywords(path):
        if word in {"then", "else"}:
            found = Branch(path[: index + 1], depth)
        elif word == "dependencies" and index + 1 < len(path):
            found = Branch(path[: index + 2], depth, str(path[index + 1]))
        depth += word in _inward
    return found


def _chosen_alternatives(
    violations: Iterable[Violation], record: Any
) -> Iterator[Violation]:
    """Replace a choice that failed by its cause, where one alternative was meant."""
    for each in violations:
        if each.keyword not in {"anyOf", "oneOf"}:
            yield each
            continue
        options: list[list[Violation]] = each.detail
        mistyped = [
            option[0].detail if _is_only_type(option, each.path) else None
            for option in options
        ]
        meant = [
            option
            for option, types in zip(options, mistyped, strict=True)
            if types is None
        ]
        if not meant:
            types = sorted({name for option in mistyped for name in option or ()})
            yield replace(each, keyword="type", detail=types)
        elif len(meant := _most_meant(meant, each.path)) == 1:
            inner = (replace(one, branch=one.branch or each.branch) for one in meant[0])
            yield from _chosen_alternatives(inner, record)
        else:
            yield each


def _most_meant(options: list[list[Violation]], path: Path) -> list[list[Violation]]:
    """Leave out the alternatives that say by a fixed value that they are others."""
    open_ = [each for each in options if not any(_tells(one, path) for one in each)]
    return open_ or options


def _tells(violation: Violation, path: Path) -> bool:
    """Tell whether a key directly in the value at `path` has another fixed value."""
    return violation.keyword in {"const", "enum"} and violation.path[:-1] == path


def _is_only_type(option: list[Violation], path: Path) -> bool:
    return len(option) == 1 and option[0].keyword == "type" and option[0].path == path


def value_at(record: Any, path: Path) -> Any:
    """Return the value at `path`; raises `LookupError` if there is none."""
    value = record
    for each in path:
        is_there = isinstance(value, dict if isinstance(each, str) else list)
        if not is_there:
            raise LookupError(path)
        value = value[each]
    return value


def has(record: Any, path: Path) -> bool:
    """Tell whether there is a value at `path`."""
    try:
        value_at(record, path)
    except LookupError:
        return False
    return True


def schema_at(schema: Any, path: Path) -> Any:
    """Return what stands at `path` of the schema, following references."""
    node = schema
    for each in path:
        if each == "$ref" and isinstance(node, dict) and isinstance(node[each], str):
            node = resolve(schema, node[each])
        else:
            node = node[next(_steps(node, each), each)]
    return node


def asked_paths(branch: Branch, schema: Any) -> list[Path]:
    """Return what the condition of `branch` looks at, seen from the object it is on."""
    if branch.key is not None:
        return [(branch.key,)]
    asked = _asked(node_at(schema, (*branch.path[:-1], "if")), schema)
    return list(dict.fromkeys(asked))


def _asked(node: Any, schema: Any) -> Iterator[Path]:
    """Yield the paths of the values that a condition looks at."""
    if not isinstance(node, dict):
        return
    if isinstance(node.get("$ref"), str):
        yield from _asked(resolve(schema, node["$ref"]), schema)
        return
    for key, each in node.get("properties", {}).items():
        inner = list(_inner(each))
        yield from ((key, *rest) for rest in inner or [()])
    inside = {key for key, each in node.get("properties", {}).items() if _inner(each)}
    yield from ((key,) for key in node.get("required", ()) if key not in inside)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for each in node.get(keyword, ()):
            yield from _asked(each, schema)
    yield from _asked(node.get("not"), schema)


def _inner(node: Any) -> list[Path]:
    """Return the paths that a condition on a member looks at inside of it."""
    members = node.get("properties", {}) if isinstance(node, dict) else {}
    return [
        (key, *rest) for key, each in members.items() for rest in _inner(each) or [()]
    ]


def _without_vacuous(violations: list[Violation], schema: Any) -> list[Violation]:
    """Drop what a condition demands only because the key it asks for is missing.

    Such a condition holds without meaning it; that the key is missing is said by
    itself, so nothing is lost.
    """
    missing = {
        (*each.path, each.detail)
        for each in violations
        if each.keyword == "required" and each.branch is None
    }
    if not missing:
        return violations
    return [
        each
        for each in violations
        if each.branch is None
        or missing.isdisjoint(
            (*each.path[: each.branch.depth], *asked[: end + 1])
            for asked in asked_paths(each.branch, schema)
            for end in range(len(asked))
        )
    ]


def _without_followers(violations: list[Violation]) -> list[Violation]:
    """Drop what is said of the inside of a value that must go."""
    doomed = {
        each.path for each in violations if each.keyword in {"type", "falseSchema"}
    }
    unknown = {
        (*each.path, key)
        for each in violations
        if each.keyword == "additionalProperties" and isinstance(each.detail, list)
        for key in each.detail
    }
    if not doomed and not unknown:
        return violations
    return [each for each in violations if not _is_inside(each, doomed, unknown)]


def _is_inside(violation: Violation, doomed: set[Path], unknown: set[Path]) -> bool:
    path = violation.path
    if violation.keyword == "required" and path in doomed:
        return True
    above = {path[:end] for end in range(len(path))}
    return path in unknown or bool(above & (doomed | unknown))


def _without_twins(violations: list[Violation]) -> list[Violation]:
    """Drop what says again of one value what another keyword says of it.

    Of several types the one that remains is what all of them allow together; a list
    of the values that are allowed says more than their type.
    """
    types = [each for each in violations if each.keyword == "type"]
    if not types:
        return violations
    plain = {each.path for each in types if each.branch is None}
    typed = {each.path for each in types}
    kept = [
        each
        for each in _with_one_type(violations)
        if each.keyword == "type"
        or (each.keyword != "not" and (each.branch is None or each.path not in plain))
        or each.path not in typed
    ]
    listed = {each.path for each in kept if each.keyword in {"enum", "const"}}
    return [each for each in kept if each.keyword != "type" or each.path not in listed]


def _with_one_type(violations: list[Violation]) -> list[Violation]:
    """Make one of the demands on the type of one value."""
    kept: list[Violation] = []
    leading: dict[Path, int] = {}
    for each in violations:
        if each.keyword != "type":
            kept.append(each)
        elif each.path in leading:
            first = kept[leading[each.path]]
            both = _types_in_both(first.detail, each.detail)
            leader = each if first.branch is not None and each.branch is None else first
            kept[leading[each.path]] = replace(leader, detail=both)
        else:
            leading[each.path] = len(kept)
            kept.append(each)
    return kept


def _types_in_both(one: list[str], other: list[str]) -> list[str]:
    both = [each for each in one if each in other]
    return both or list(one)


def _by_branch(
    violations: list[Violation], schema: Any
) -> Iterator[tuple[Violation, ...]]:
    """Group the demands of one condition on the keys of one object."""
    groups: dict[Any, list[Violation]] = {}
    for number, each in enumerate(violations):
        branch = each.branch
        if branch is not None and _is_demand(each, branch):
            key: Any = (branch.path, each.path[: branch.depth])
        else:
            key = number
        groups.setdefault(key, []).append(each)
    for group in groups.values():
        branch = group[0].branch
        if branch is not None and len(group) > 1:
            node = schema_at(schema, branch.path)
            wanted = node.get("required", ()) if isinstance(node, dict) else ()
            group.sort(key=lambda each: _key_demanded(each) not in wanted)
        yield tuple(group)


def _is_demand(violation: Violation, branch: Branch) -> bool:
    """Tell whether a condition asks for a key, or for the type of its value."""
    steps = len(violation.path) - branch.depth
    if violation.keyword == "required":
        return steps == 0
    if violation.keyword == "falseSchema":
        return steps <= 1
    return violation.keyword in {"type", "not"} and steps == 1


def _key_demanded(violation: Violation) -> Any:
    if violation.keyword == "required" or not violation.path:
        return violation.detail
    return violation.path[-1]


def _causes_of(
    group: tuple[Violation, ...], record: Any, schema: Any, advise: Advise
) -> list[Cause]:
    first = group[0]
    if first.keyword == "additionalProperties" and isinstance(first.detail, list):
        return [
            Cause("S104", (*first.path, key), group, at_key=True)
            for key in first.detail
        ]
    if first.keyword == "required":
        key = _misspelling(first, record, schema)
        if key:
            path = (*first.path, key)
            misspelt = Cause(
                "S103", path, group[:1], at_key=True, intended=first.detail
            )
            rest = group[1:]
            more = _causes_of(rest, record, schema, advise) if rest else []
            return [misspelt, *more]
    if first.keyword == "propertyNames" and first.detail in value_at(
        record, first.path
    ):
        return [Cause("V114", (*first.path, first.detail), group, at_key=True)]
    if first.branch is None:
        return [Cause(_code_of(first), first.path, group)]
    return [_conditional(group, first.branch, record, schema, advise)]


def _code_of(violation: Violation) -> str:
    return _codes.get(violation.keyword, "V111")


def _conditional(
    group: tuple[Violation, ...],
    branch: Branch,
    record: Any,
    schema: Any,
    advise: Advise,
) -> Cause:
    first = group[0]
    base = first.path[: branch.depth]
    asked = [(*base, *each) for each in asked_paths(branch, schema)]
    because = tuple(each for each in asked if has(record, each))
    advice = advise(pointer_of(branch.path), first.path, record)
    code = "C101" if _is_demand(first, branch) else _code_of(first)
    if advice is not None:
        code = advice.code
    return Cause(code, first.path, group, because=because, advice=advice)


def _misspelling(violation: Violation, record: Any, schema: Any) -> str:
    """Return the one unknown key that is nearly the missing one, if there is one."""
    owner = value_at(record, violation.path)
    known = known_keys(schema, violation)
    unknown = [each for each in owner if each not in known]
    return nearest(violation.detail, unknown)


def known_keys(schema: Any, violation: Violation) -> set[str]:
    """Return the keys that the schema names for the object of a violation."""
    places = [violation.schema_path[:-1]]
    if violation.branch is not None:
        steps = 1 if violation.branch.key is None else 2
        places.append(violation.branch.path[:-steps])
        # A condition stands in an `allOf` of the schema that names the keys.
        if len(places[-1]) > 1 and places[-1][-2] == "allOf":
            places.append(places[-1][:-2])
    known: set[str] = set()
    for each in places:
        node = node_at(schema, each)
        known |= set(node.get("properties", ())) | set(node.get("required", ()))
        for part in node.get("allOf", ()):
            then = part.get("then", {}) if isinstance(part, dict) else {}
            known |= (
                set(then.get("properties", ())) if isinstance(then, dict) else set()
            )
    return known


def node_at(schema: Any, path: Path) -> Mapping[str, Any]:
    """Return the object at `path` of the schema, empty if there is none."""
    try:
        node = schema_at(schema, path)
    except (LookupError, TypeError):
        return {}
    return node if isinstance(node, dict) else {}


def _without_misspelt_twice(causes: list[Cause]) -> list[Cause]:
    """Drop an unknown key that is already said to be a misspelt one."""
    misspelt = Counter(each.path for each in causes if each.code == "S103")
    kept = [each for each in causes if each.code != "S104" or not misspelt[each.path]]
    return [_unless_several(each, misspelt) for each in kept]


def _unless_several(cause: Cause, misspelt: Mapping[Path, int]) -> Cause:
    """Return a cause, a plain missing key if another is the same key misspelt."""
    if cause.code != "S103" or misspelt[cause.path] == 1:
        return cause
    return Cause("S101", cause.path[:-1], cause.violations)
