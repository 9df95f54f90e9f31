"""Turn the errors of the schema engine into plain data with exact paths.

Errors that another error of the record explains are left out.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from harpia_formats.formats.schema.error_paths import (
    keys_matching,
    keywords_on,
    matching_paths,
    path_of_error,
)
from harpia_formats.formats.schema.references import resolve
from harpia_formats.model.problem import Path


def value_at(record: Any, path: Path) -> Any:
    """Return the value at `path` of `record`. Raises `LookupError` if there is none."""
    value = record
    for step in path:
        is_there = isinstance(value, dict if isinstance(step, str) else list)
        if not is_there:
            raise LookupError(path)
        value = value[step]
    return value


def has_value(record: Any, path: Path) -> bool:
    """Return whether `record` has a value at `path`."""
    value = record
    for step in path:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return False
        elif not isinstance(value, list) or step >= len(value):
            return False
        value = value[step]
    return True


def schema_at(schema: Any, path: Path) -> Any:
    """Return the part of `schema` at `path`, following references.

    Raises `LookupError` or `TypeError` if the schema has no such path.
    """
    node = schema
    for step in path:
        if step == "$ref" and isinstance(node, dict) and isinstance(node[step], str):
            node = resolve(schema, node[step])
        else:
            node = node[next(keys_matching(node, step), step)]
    return node


def schema_object_at(schema: Any, path: Path) -> Mapping[str, Any]:
    """Return the object at `path` of `schema`, an empty one if there is none."""
    try:
        node = schema_at(schema, path)
    except (LookupError, TypeError):
        return {}
    return node if isinstance(node, dict) else {}


@dataclass(frozen=True, slots=True)
class AppliedCondition:
    """A `then`, `else` or dependency of a schema that applied to an object."""

    #: The evaluation path to it.
    path: Path
    #: How many steps of an error's path lead to the object that it applied to.
    depth: int
    #: The key whose presence a dependency depends on; None for `then` and `else`.
    key: str | None = None


def condition_of(evaluation_path: Iterable[Any]) -> AppliedCondition | None:
    """Return the innermost condition on an evaluation path, None if it has none."""
    path = tuple(evaluation_path)
    found, depth = None, 0
    for index, keyword, is_inward in keywords_on(path):
        if keyword in {"then", "else"}:
            found = AppliedCondition(path[: index + 1], depth)
        elif keyword == "dependencies" and index + 1 < len(path):
            found = AppliedCondition(path[: index + 2], depth, str(path[index + 1]))
        depth += is_inward
    return found


def last_keyword(path: Path) -> str:
    """Return the keyword that a path of a schema ends with, "" if a name ends it."""
    return next(
        (word for index, word, _ in keywords_on(path) if index == len(path) - 1), ""
    )


def tested_paths(condition: AppliedCondition, schema: Any) -> list[Path]:
    """Return the paths of the values that a condition tests.

    They begin at the object that the condition applies to.
    """
    if condition.key is not None:
        return [(condition.key,)]
    test = schema_object_at(schema, (*condition.path[:-1], "if"))
    return list(dict.fromkeys(_tested_by(test, schema)))


def _tested_by(test: Any, schema: Any) -> Iterator[Path]:
    """Yield the paths of the values that the schema `test` looks at."""
    if not isinstance(test, dict):
        return
    if isinstance(test.get("$ref"), str):
        yield from _tested_by(resolve(schema, test["$ref"]), schema)
        return
    members = test.get("properties", {})
    for key, member in members.items():
        inner_paths = _tested_inside(member)
        yield from ((key, *rest) for rest in inner_paths or [()])
    with_inner = {key for key, member in members.items() if _tested_inside(member)}
    yield from ((key,) for key in test.get("required", ()) if key not in with_inner)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for alternative in test.get(keyword, ()):
            yield from _tested_by(alternative, schema)
    yield from _tested_by(test.get("not"), schema)


def _tested_inside(test: Any) -> list[Path]:
    """Return the paths of the members that the test of an object looks at."""
    members = test.get("properties", {}) if isinstance(test, dict) else {}
    return [
        (key, *rest)
        for key, member in members.items()
        for rest in _tested_inside(member) or [()]
    ]


#: Paths of a schema that are remembered.
REMEMBERED = 1024
#: Keywords of which one alternative must hold.
CHOICES = frozenset({"anyOf", "oneOf"})


@dataclass(frozen=True, slots=True)
class EngineError:
    """A keyword of the schema that a record fails, as plain data."""

    #: The keyword as it stands in the schema, or one of these names: `severalOf` for
    #: a `oneOf` with several valid alternatives, `falseSchema` for a schema `false`,
    #: `undetermined` for a pattern that the engine gave up on.
    keyword: str
    #: The key, bound, types, values or schema that the keyword names; or the errors of
    #: each alternative of `anyOf` and `oneOf`; or each valid alternative of a `oneOf`
    #: that has several, with its number from 0.
    detail: Any
    #: Where in the record.
    path: Path
    #: Where in the schema, with references followed.
    schema_path: Path
    #: The innermost condition of the schema that made the keyword apply.
    condition: AppliedCondition | None = None
    #: The path through the schema by which the keyword applied, references as steps.
    evaluation_path: Path = ()


class SchemaPaths:
    """Finds the exact path in a schema for each path that the engine reports.

    Found paths are remembered, since many errors come from the same keyword.
    """

    def __init__(self, schema: Any) -> None:
        """Take the schema that the engine validates by."""
        self.schema = schema
        self._locations: dict[Path, Path] = {}
        self._evaluated: dict[Path, Path] = {}
        self._conditions: dict[Path, AppliedCondition | None] = {}

    def location(self, engine_path: Path) -> Path:
        """Return the exact path to a keyword, without references among its steps."""
        known = self._locations.get(engine_path)
        if known is None:
            known = next(matching_paths(self.schema, engine_path), engine_path)
            _remember(self._locations, engine_path, known)
        return known

    def evaluated(self, engine_path: Path) -> Path:
        """Return the exact evaluation path of a keyword, with references as steps."""
        known = self._evaluated.get(engine_path)
        if known is None:
            paths = matching_paths(self.schema, engine_path, self.schema)
            known = next(paths, engine_path)
            _remember(self._evaluated, engine_path, known)
        return known

    def condition(self, evaluation_path: Path) -> AppliedCondition | None:
        """Return the innermost condition on an evaluation path, None without one."""
        if evaluation_path not in self._conditions:
            condition = condition_of(evaluation_path)
            _remember(self._conditions, evaluation_path, condition)
        return self._conditions[evaluation_path]


def _remember(known: dict[Path, Any], key: Path, value: Any) -> None:
    """Add an entry to a cache, which is emptied first if it is full."""
    if len(known) >= REMEMBERED:
        known.clear()
    known[key] = value


def engine_error_of(error: Any, record: Any, paths: SchemaPaths) -> EngineError:
    """Return an error of jsonschema-rs on `record` as plain data."""
    own = _alternatives_of(error)
    if not own:
        return _as_plain_data(error, record, paths, [])
    # Not by recursion: there may be several nested alternatives for each level of data.
    nested = [(error, own)]
    for _, alternatives in nested:
        nested += [(each, _alternatives_of(each)) for each in chain(*alternatives)]
    made: dict[int, EngineError] = {}
    for each, alternatives in reversed(nested):
        detail = [[made[id(inner)] for inner in errors] for errors in alternatives]
        made[id(each)] = _as_plain_data(each, record, paths, detail)
    return made[id(error)]


def _alternatives_of(error: Any) -> list[list[Any]]:
    """Return the errors of each alternative of `anyOf` and `oneOf`, [] of others."""
    kind = error.kind
    return kind.context if kind.name in CHOICES else []


def _as_plain_data(
    error: Any, record: Any, paths: SchemaPaths, alternatives: list[list[EngineError]]
) -> EngineError:
    """Return an error as plain data; the errors of its alternatives are."""
    schema = paths.schema
    kind = error.kind
    name = type(kind).__name__
    keyword, detail = kind.name, kind.value
    schema_path = paths.location(tuple(error.schema_path))
    evaluated = paths.evaluated(tuple(error.evaluation_path))
    path = path_of_error(error, record, evaluated)
    if name in {"BacktrackLimitExceeded", "RegexEngineFailure"}:
        keyword, detail = "undetermined", None
    elif name == "OneOfMultipleValid":
        keyword, detail = "severalOf", _valid_alternatives(kind, schema, schema_path)
    elif keyword in CHOICES:
        detail = alternatives
        if any(inner.keyword == "undetermined" for inner in chain(*detail)):
            keyword = "undetermined"
    elif keyword == "propertyNames":
        detail = str(detail.instance)
    elif keyword == "contains":
        detail = schema_at(schema, schema_path)
    elif keyword == "falseSchema":
        keyword, detail = _refused_by_false(schema_path, value_at(record, path))
    elif keyword == "required" and last_keyword(schema_path) == "dependencies":
        owner = value_at(record, path)
        evaluated = (*evaluated, _dependent_key(schema_path, schema, detail, owner))
    condition = paths.condition(evaluated)
    return EngineError(keyword, detail, path, schema_path, condition, evaluated)


def _valid_alternatives(
    kind: Any, schema: Any, schema_path: Path
) -> list[tuple[int, Any]]:
    """Return the number and schema of each valid alternative of a `oneOf`."""
    alternatives = schema_at(schema, schema_path)
    return [
        (number, alternatives[number])
        for number, errors in enumerate(kind.context)
        if not errors
    ]


def _refused_by_false(schema_path: Path, value: Any) -> tuple[str, Any]:
    """Return the keyword whose schema is `false`, and the keys of `value` it refuses.

    A schema `false` of no such keyword is returned as `falseSchema`.
    """
    keyword = last_keyword(schema_path)
    if keyword == "additionalProperties" and isinstance(value, dict):
        return keyword, list(value)
    if keyword == "propertyNames":
        return keyword, next(iter(value))
    return "falseSchema", None


def _dependent_key(schema_path: Path, schema: Any, missing: Any, owner: Any) -> str:
    """Return the key of `owner` whose dependency requires the key `missing`."""
    dependencies = schema_object_at(schema, schema_path)
    found = (
        key
        for key, needed in dependencies.items()
        if key in owner and isinstance(needed, list) and missing in needed
    )
    return next(found, "")


def known_keys(schema: Any, error: EngineError) -> set[str]:
    """Return the keys that the schema names for the object that an error is in."""
    known: set[str] = set()
    for node in applied_schemas(schema, error.path):
        known |= {*node.get("properties", ()), *node.get("dependencies", ())}
        known |= _demanded_keys(node)
    return known


def required_keys(schema: Any, error: EngineError) -> set[str]:
    """Return the keys that the object around an error's value may have to have."""
    applied = applied_schemas(schema, error.path[:-1], error.evaluation_path)
    return {key for node in applied for key in _demanded_keys(node)}


def _demanded_keys(node: Mapping[str, Any]) -> set[str]:
    """Return the keys that a schema requires, always or with another key."""
    needed = (
        keys for keys in node.get("dependencies", {}).values() if type(keys) is list
    )
    return {*node.get("required", ()), *chain.from_iterable(needed)}


#: The steps into alternatives, by how deep in the record the value is that these apply
#: to, since a recursive schema has others for each, and by the identity of their list,
#: or of the schema with an `if`.
Taken = dict[tuple[int, int], set[Any]]


def applied_schemas(
    schema: Any, path: Path, evaluation_path: Path | None = None
) -> list[Mapping[str, Any]]:
    """Return the schema objects that may apply to the value at `path` of a record.

    With the evaluation path of an error these are without the tests of conditions and
    the alternatives that the path does not take.
    """
    taken = None if evaluation_path is None else _taken(schema, evaluation_path)
    found = _applied_together([schema], schema, taken, 0)
    for depth, step in enumerate(path, 1):
        inner = [each for node in found for each in _inner_schemas(node, step)]
        found = _applied_together(inner, schema, taken, depth)
    return found


def _taken(schema: Any, evaluation_path: Path) -> Taken:
    """Return the steps that a path takes into each of the alternatives on it."""
    taken: Taken = {}
    depth = 0
    for index, keyword, is_inward in keywords_on(evaluation_path):
        node = schema_object_at(schema, evaluation_path[:index])
        if keyword in CHOICES and keyword in node:
            steps = evaluation_path[index + 1 : index + 2]
            taken.setdefault((depth, id(node[keyword])), set()).update(steps)
        elif keyword in _conditional and keyword in node:
            taken.setdefault((depth, id(node)), set()).add(keyword)
        depth += is_inward
    return taken


_listed = frozenset({"allOf", "anyOf", "oneOf"})
_conditional = frozenset({"then", "else"})


def _applied_together(
    nodes: list[Any], schema: Any, taken: Taken | None, depth: int
) -> list[Mapping[str, Any]]:
    """Return the schema objects of `nodes`, and what they apply to the same value.

    Of alternatives that are `taken` in part, the others are left out.
    """
    found: dict[int, Mapping[str, Any]] = {}
    while nodes:
        node = nodes.pop()
        if not isinstance(node, dict) or id(node) in found:
            continue
        found[id(node)] = node
        if isinstance(node.get("$ref"), str):
            nodes.append(resolve(schema, node["$ref"]))
            continue
        for keyword, inner in node.items():
            if keyword in _listed:
                chosen = taken.get((depth, id(inner))) if taken else None
                nodes += [
                    each
                    for number, each in enumerate(inner)
                    if not chosen or number in chosen
                ]
            elif keyword in _conditional:
                chosen = taken.get((depth, id(node))) if taken else None
                nodes += [inner] if not chosen or keyword in chosen else []
            elif keyword == "dependencies":
                nodes += inner.values()
            elif keyword == "if" and taken is None:
                nodes.append(inner)
    return [*found.values()]


def _inner_schemas(node: Mapping[str, Any], step: str | int) -> list[Any]:
    """Return what a schema object may apply to the value at `step` of its own."""
    if isinstance(step, str):
        named = node.get("properties", {})
        inner = named[step] if step in named else node.get("additionalProperties")
        return [inner, *node.get("patternProperties", {}).values()]
    items = node.get("items")
    if not isinstance(items, list):
        return [items]
    return [items[step] if step < len(items) else node.get("additionalItems")]


def without_redundant(errors: Iterable[EngineError], schema: Any) -> list[EngineError]:
    """Return the errors of a record that are left without the redundant ones.

    An error of `anyOf` or `oneOf` is replaced by the errors of one alternative where
    the record was meant as that one.
    """
    found = list(_of_meant_alternatives(errors))
    found = _without_untested_conditions(found, schema)
    return _without_same_value(_without_inner(found))


def _of_meant_alternatives(errors: Iterable[EngineError]) -> Iterator[EngineError]:
    """Yield errors, those of `anyOf` and `oneOf` by the alternative that was meant."""
    pending = [*errors][::-1]
    while pending:
        error = pending.pop()
        if error.keyword not in CHOICES:
            yield error
            continue
        alternatives: list[list[EngineError]] = error.detail
        # The types that an alternative allows, if the type is all that it refuses.
        allowed_types = [
            alternative[0].detail if _is_only_type(alternative, error.path) else None
            for alternative in alternatives
        ]
        meant = [
            alternative
            for alternative, types in zip(alternatives, allowed_types, strict=True)
            if types is None
        ]
        if not meant:
            types = sorted({name for names in allowed_types for name in names or ()})
            yield replace(error, keyword="type", detail=types)
        elif len(meant := _without_other_kinds(meant, error.path)) == 1:
            pending += reversed(meant[0])
        else:
            # What is said of the alternatives does not tell those of alternatives.
            plain = [[*map(_without_alternatives, each)] for each in alternatives]
            yield replace(error, detail=plain)


def _without_alternatives(error: EngineError) -> EngineError:
    """Return an error without the errors of its alternatives."""
    return replace(error, detail=[]) if error.keyword in CHOICES else error


def _without_other_kinds(
    alternatives: list[list[EngineError]], path: Path
) -> list[list[EngineError]]:
    """Return the alternatives whose fixed values the value at `path` has.

    If it has those of none, all alternatives are returned.
    """
    fitting = [
        alternative
        for alternative in alternatives
        if not any(_refuses_fixed_value(error, path) for error in alternative)
    ]
    return fitting or alternatives


def _refuses_fixed_value(error: EngineError, path: Path) -> bool:
    """Return whether a member of the value at `path` must have another fixed value."""
    is_member = len(error.path) == len(path) + 1
    return error.keyword in {"const", "enum"} and is_member


def _is_only_type(errors: list[EngineError], path: Path) -> bool:
    """Return whether the only error is the type of the value at `path`."""
    return len(errors) == 1 and errors[0].keyword == "type" and errors[0].path == path


def _without_untested_conditions(
    errors: list[EngineError], schema: Any
) -> list[EngineError]:
    """Leave out errors of conditions that hold only because a key is missing.

    An `if` that tests the value of a key holds for an object without the key. That the
    key is missing is an error of its own.
    """
    missing = {
        (*error.path, error.detail)
        for error in errors
        if error.keyword == "required" and error.condition is None
    }
    if not missing:
        return errors
    return [
        error
        for error in errors
        if error.condition is None
        or missing.isdisjoint(
            (*error.path[: error.condition.depth], *tested[: end + 1])
            for tested in tested_paths(error.condition, schema)
            for end in range(len(tested))
        )
    ]


def _without_inner(errors: list[EngineError]) -> list[EngineError]:
    """Leave out errors inside of a value that must be removed or has a wrong type."""
    replaced = {
        error.path for error in errors if error.keyword in {"type", "falseSchema"}
    }
    unknown = {
        (*error.path, key)
        for error in errors
        if error.keyword == "additionalProperties"
        for key in error.detail
    }
    if not replaced and not unknown:
        return errors
    outer = replaced | unknown
    return [
        error for error in errors if not _is_inside(error, replaced, unknown, outer)
    ]


def _is_inside(
    error: EngineError, replaced: set[Path], unknown: set[Path], outer: set[Path]
) -> bool:
    """Return whether an error is inside of a value at one of the `outer` paths.

    They are the paths of values to replace and of unknown keys. A missing key is
    inside of the object that lacks it.
    """
    path = error.path
    if error.keyword == "required" and path in replaced:
        return True
    above = {path[:end] for end in range(len(path))}
    return path in unknown or not above.isdisjoint(outer)


def _without_same_value(errors: list[EngineError]) -> list[EngineError]:
    """Leave out errors on a value that a type error or a list of values explains.

    Of several type errors on one value, one remains, with the types that all of them
    allow. A list of the allowed values says more than their type.
    """
    type_errors = [error for error in errors if error.keyword == "type"]
    if not type_errors:
        return errors
    unconditional = {error.path for error in type_errors if error.condition is None}
    typed = {error.path for error in type_errors}
    kept = [
        error
        for error in _with_one_type(errors)
        if error.keyword == "type"
        or (
            error.keyword != "not"
            and (error.condition is None or error.path not in unconditional)
        )
        or error.path not in typed
    ]
    listed = {error.path for error in kept if error.keyword in {"enum", "const"}}
    return [
        error for error in kept if error.keyword != "type" or error.path not in listed
    ]


def _with_one_type(errors: list[EngineError]) -> list[EngineError]:
    """Return errors with the type errors on one value merged into one."""
    kept: list[EngineError] = []
    index_of: dict[Path, int] = {}
    for error in errors:
        if error.keyword != "type":
            kept.append(error)
        elif error.path in index_of:
            index = index_of[error.path]
            first = kept[index]
            is_plainer = first.condition is not None and error.condition is None
            plain = error if is_plainer else first
            types = [name for name in first.detail if name in error.detail]
            kept[index] = replace(plain, detail=types or plain.detail)
        else:
            index_of[error.path] = len(kept)
            kept.append(error)
    return kept
