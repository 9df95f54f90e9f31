"""From every error of the schema engine to the root causes of one record.

The engine lists each keyword that failed. Several of them often have one cause: a
condition that holds only because the key it asks for is missing, two keywords that
say the same of one value, several demands of one condition, a misspelt key that is
both missing and unknown. Here they become one each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harpia_formats.format import Advice
from harpia_formats.near import nearest
from harpia_formats.problem import Path, pointer_of

#: Keywords whose value in a path is followed by a name or a number.
_named = frozenset({"properties", "patternProperties"})
_listed = frozenset({"allOf", "anyOf", "oneOf", "dependencies"})
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
    """A `then` or `else` that applied, and to which part of the record."""

    #: Evaluation path to the keyword.
    path: Path
    #: How many steps of a violation's path lead to the object it is about.
    depth: int


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
    violations = [violation_of(each) for each in errors]
    violations = list(_chosen_alternatives(violations, record))
    violations = _without_vacuous(violations, record, schema)
    violations = _without_twins(violations)
    causes: list[Cause] = []
    for group in _by_branch(violations, schema):
        causes += _causes_of(group, record, schema, advise)
    return _without_misspelt_twice(causes)


def violation_of(error: Any) -> Violation:
    """Return an error of jsonschema-rs as plain data."""
    kind = error.kind
    name = type(kind).__name__
    path = tuple(error.instance_path)
    schema_path = tuple(error.schema_path)
    keyword, detail = kind.name, kind.value
    if name in {"BacktrackLimitExceeded", "RegexEngineFailure"}:
        keyword, detail = "undetermined", None
    elif name == "OneOfMultipleValid":
        keyword, detail = "severalOf", None
    elif keyword in {"anyOf", "oneOf"}:
        detail = [[violation_of(each) for each in option] for option in kind.context]
        if any(each.keyword == "undetermined" for option in detail for each in option):
            keyword = "undetermined"
    elif keyword == "propertyNames":
        detail = str(error.instance)
    branch = branch_of(error.evaluation_path)
    return Violation(keyword, detail, path, schema_path, branch)


def branch_of(evaluation_path: Iterable[Any]) -> Branch | None:
    """Return the innermost `then` or `else` on the way to a keyword."""
    path = tuple(evaluation_path)
    if "then" not in path and "else" not in path:
        return None
    found, index, depth = None, 0, 0
    while index < len(path):
        word = path[index]
        if word in {"then", "else"}:
            found = Branch(path[: index + 1], depth)
        if word in _named or word in {"items", "additionalProperties"}:
            depth += 1
        index += 1
        numbered = word == "items" and index < len(path) and type(path[index]) is int
        if word in _named or word in _listed or numbered:
            index += 1
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
        elif len(meant) == 1:
            inner = (replace(one, branch=one.branch or each.branch) for one in meant[0])
            yield from _chosen_alternatives(inner, record)
        else:
            yield each


def _is_only_type(option: list[Violation], path: Path) -> bool:
    return len(option) == 1 and option[0].keyword == "type" and option[0].path == path


def value_at(record: Any, path: Path) -> Any:
    """Return the value at `path`; raises `LookupError` if there is none."""
    for each in path:
        if not isinstance(record, (dict, list)):
            raise LookupError(path)
        record = record[each]
    return record


def schema_at(schema: Any, path: Path) -> Any:
    """Return what stands at `path` of the schema, following references."""
    from harpia_formats.schema import resolve  # noqa: PLC0415 - failing rows only

    node = schema
    for each in path:
        if each == "$ref":
            node = resolve(schema, node["$ref"])
        else:
            node = node[each]
    return node


def asked_keys(branch: Branch, schema: Any) -> list[str]:
    """Return the keys whose values the condition of `branch` looks at."""
    asked = schema_at(schema, (*branch.path[:-1], "if"))
    if not isinstance(asked, dict):
        return []
    return list(
        dict.fromkeys([*asked.get("properties", ()), *asked.get("required", ())])
    )


def _without_vacuous(
    violations: list[Violation], record: Any, schema: Any
) -> list[Violation]:
    """Drop what a condition demands only because the key it asks for is missing.

    Such a condition holds without meaning it; that the key is missing is said by
    itself, so nothing is lost.
    """
    missing = {
        (each.path, each.detail)
        for each in violations
        if each.keyword == "required" and each.branch is None
    }
    if not missing:
        return violations
    return [
        each
        for each in violations
        if each.branch is None
        or not any(
            (each.path[: each.branch.depth], key) in missing
            for key in asked_keys(each.branch, schema)
        )
    ]


def _without_twins(violations: list[Violation]) -> list[Violation]:
    """Drop what says again of one value what another keyword says of its type.

    The type that remains is what all of them allow together.
    """
    types = [each for each in violations if each.keyword == "type"]
    if not types:
        return violations
    kept: list[Violation] = []
    leading: dict[Path, int] = {}
    plain = {each.path for each in types if each.branch is None}
    typed = {each.path for each in types}
    for each in violations:
        if each.keyword == "not" and each.path in typed and _refuses_type(each):
            continue
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
    return [
        each
        for each in kept
        if each.keyword == "type" or each.branch is None or each.path not in plain
    ]


def _refuses_type(violation: Violation) -> bool:
    refused = violation.detail
    return isinstance(refused, dict) and refused.keys() == {"type"}


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
    return violation.keyword in {"type", "not"} and steps == 1


def _key_demanded(violation: Violation) -> Any:
    return violation.detail if violation.keyword == "required" else violation.path[-1]


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
            return [Cause("S103", path, group, at_key=True, intended=first.detail)]
    code = _codes.get(first.keyword, "V111")
    if first.branch is None:
        return [Cause(code, first.path, group)]
    return [_conditional(code, group, first.branch, record, schema, advise)]


def _conditional(  # noqa: PLR0913 - everything a condition is made of
    code: str,
    group: tuple[Violation, ...],
    branch: Branch,
    record: Any,
    schema: Any,
    advise: Advise,
) -> Cause:
    first = group[0]
    base = first.path[: branch.depth]
    owner = value_at(record, base)
    because = tuple(
        (*base, key)
        for key in asked_keys(branch, schema)
        if isinstance(owner, dict) and key in owner
    )
    advice = advise(pointer_of(branch.path), first.path, record)
    if advice is not None:
        code = advice.code
    elif _is_demand(first, branch):
        code = "C101"
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
        places.append(violation.branch.path[:-1])
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
    misspelt = {each.path for each in causes if each.code == "S103"}
    return [each for each in causes if each.code != "S104" or each.path not in misspelt]
