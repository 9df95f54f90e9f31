"""What the schema engine says of a record, as plain data with exact paths."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.problem import Path
from harpia_formats.schema.references import resolve

#: Paths of a schema that are remembered.
REMEMBERED = 1024
#: Keywords that a name or a number follows in a path, and those of them that lead
#: into the data.
_named = frozenset(
    "properties patternProperties definitions dependencies allOf anyOf oneOf".split()
)


_inward = frozenset(
    "properties patternProperties items additionalProperties additionalItems".split()
)


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


class SchemaPaths:
    """The exact paths in a schema behind those that the engine tells.

    They are found once, since many errors come from the same keyword.
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._locations: dict[Path, Path] = {}
        self._evaluated: dict[Path, Path] = {}
        self._branches: dict[Path, Branch | None] = {}

    def location(self, told: Path) -> Path:
        """Return the exact path to a keyword, references not among its steps."""
        known = self._locations.get(told)
        if known is None:
            known = next(_paths(self.schema, told), told)
            _remember(self._locations, told, known)
        return known

    def evaluated(self, told: Path) -> Path:
        """Return the exact path on which the engine came to a keyword."""
        known = self._evaluated.get(told)
        if known is None:
            known = next(_paths(self.schema, told, self.schema), told)
            _remember(self._evaluated, told, known)
        return known

    def branch(self, evaluation_path: Path) -> Branch | None:
        """Return the innermost condition on the way to a keyword."""
        if evaluation_path not in self._branches:
            branch = branch_of(evaluation_path)
            _remember(self._branches, evaluation_path, branch)
        return self._branches[evaluation_path]


def _remember(known: dict[Path, Any], key: Path, value: Any) -> None:
    if len(known) >= REMEMBERED:
        known.clear()
    known[key] = value


def violation_of(error: Any, record: Any, paths: SchemaPaths) -> Violation:
    """Return an error of jsonschema-rs on `record` as plain data."""
    schema = paths.schema
    kind = error.kind
    name = type(kind).__name__
    keyword, detail = kind.name, kind.value
    path = _path_of(error, record)
    schema_path = paths.location(tuple(error.schema_path))
    evaluated = paths.evaluated(tuple(error.evaluation_path))
    if name in {"BacktrackLimitExceeded", "RegexEngineFailure"}:
        keyword, detail = "undetermined", None
    elif name == "OneOfMultipleValid":
        keyword, detail = "severalOf", None
    elif keyword in {"anyOf", "oneOf"}:
        detail = [
            [violation_of(each, record, paths) for each in option]
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
    return Violation(keyword, detail, path, schema_path, paths.branch(evaluated))


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
    value = record
    for each in path:
        if isinstance(each, str):
            if not isinstance(value, dict) or each not in value:
                return False
        elif not isinstance(value, list) or each >= len(value):
            return False
        value = value[each]
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
