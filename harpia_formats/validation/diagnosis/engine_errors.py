"""Turn the errors of the schema engine into plain data with exact paths."""

from dataclasses import dataclass
from typing import Any

from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.conditions import (
    AppliedCondition,
    condition_of,
    last_keyword,
)
from harpia_formats.validation.diagnosis.exact_paths import (
    is_exact,
    matching_paths,
    schema_at,
    schema_object_at,
    value_at,
)

#: Paths of a schema that are remembered.
REMEMBERED = 1024


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
    schema = paths.schema
    kind = error.kind
    name = type(kind).__name__
    keyword, detail = kind.name, kind.value
    path = path_of_error(error, record)
    schema_path = paths.location(tuple(error.schema_path))
    evaluated = paths.evaluated(tuple(error.evaluation_path))
    if name in {"BacktrackLimitExceeded", "RegexEngineFailure"}:
        keyword, detail = "undetermined", None
    elif name == "OneOfMultipleValid":
        keyword, detail = "severalOf", _valid_alternatives(kind, schema, schema_path)
    elif keyword in {"anyOf", "oneOf"}:
        detail = [
            [engine_error_of(inner, record, paths) for inner in alternative]
            for alternative in kind.context
        ]
        if any(
            inner.keyword == "undetermined"
            for alternative in detail
            for inner in alternative
        ):
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
    return EngineError(keyword, detail, path, schema_path, paths.condition(evaluated))


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


def path_of_error(error: Any, record: Any) -> Path:
    """Return the exact path in `record` of an error of jsonschema-rs.

    Where the engine's path may mean several paths, the value of the error decides.
    """
    engine_path = tuple(error.instance_path)
    if is_exact(record, engine_path):
        return engine_path
    instance = error.instance
    paths = list(matching_paths(record, engine_path))
    same = (path for path in paths if _is_same(value_at(record, path), instance))
    return next(same, paths[0])


def _is_same(value: Any, other: Any) -> bool:
    """Return whether two values are equal and of one type: 1 and true are not."""
    return type(value) is type(other) and bool(value == other)


def _refused_by_false(schema_path: Path, value: Any) -> tuple[str, Any]:
    """Return the keyword whose schema is `false`, and the keys of `value` it refuses.

    A schema `false` of no such keyword is returned as `falseSchema`.
    """
    keyword = last_keyword(schema_path)
    if keyword == "additionalProperties" and isinstance(value, dict):
        return keyword, list(value)
    if keyword == "propertyNames":
        return keyword, next(iter(value), "")
    return "falseSchema", None


def _dependent_key(schema_path: Path, schema: Any, missing: Any, owner: Any) -> str:
    """Return the key of `owner` whose dependency requires the key `missing`."""
    dependencies = schema_object_at(schema, schema_path)
    found = (
        key for key in dependencies if key in owner and missing in dependencies[key]
    )
    return next(found, "")


def known_keys(schema: Any, error: EngineError) -> set[str]:
    """Return the keys that the schema names for the object that an error is in."""
    paths = [error.schema_path[:-1]]
    if error.condition is not None:
        steps = 1 if error.condition.key is None else 2
        paths.append(error.condition.path[:-steps])
        # A condition stands in an `allOf` of the schema that names the keys.
        if len(paths[-1]) > 1 and paths[-1][-2] == "allOf":
            paths.append(paths[-1][:-2])
    known: set[str] = set()
    for path in paths:
        node = schema_object_at(schema, path)
        known |= set(node.get("properties", ())) | set(node.get("required", ()))
        for part in node.get("allOf", ()):
            then = part.get("then", {}) if isinstance(part, dict) else {}
            if isinstance(then, dict):
                known |= set(then.get("properties", ()))
    return known
