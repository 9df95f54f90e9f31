"""Find the root causes behind the schema errors of one record.

The engine reports each keyword that failed. Several of them often have one cause: an
`if` that holds only because the key it tests is missing, two keywords that refuse one
value, several keys that one condition requires, a misspelt key that is both missing
and unknown. Here each cause is found once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harpia_formats.model.format import Advice, Advise
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.model.text.spelling import nearest
from harpia_formats.validation.diagnosis.conditions import (
    AppliedCondition,
    tested_paths,
)
from harpia_formats.validation.diagnosis.engine_errors import (
    EngineError,
    SchemaPaths,
    engine_error_of,
    known_keys,
)
from harpia_formats.validation.diagnosis.exact_paths import (
    has_value,
    schema_at,
    value_at,
)
from harpia_formats.validation.diagnosis.redundant_errors import without_redundant

#: Unknown keys of one object among which a misspelt one is looked for.
MANY_KEYS = 100
#: Causes with the same errors that are remembered.
_REMEMBERED = 64

_rule_of_keyword = {
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
class Cause:
    """One thing to correct in a record."""

    #: The code of its rule.
    code: str
    #: Where it is: the value, or the key if `at_key`.
    path: Path
    #: The errors that it explains; the first one is described.
    errors: tuple[EngineError, ...]
    at_key: bool = False
    #: The right name of a misspelt key.
    intended: str = ""
    #: The values of the record that made the condition apply.
    because: tuple[Path, ...] = ()
    advice: Advice | None = None
    #: The failed keywords and the missing keys: equal for all records with this cause.
    identity: str = field(init=False)

    def __post_init__(self) -> None:
        identity = " ".join(map(_identity_of, self.errors)) + self.intended
        object.__setattr__(self, "identity", identity)


def _identity_of(error: EngineError) -> str:
    """Return the failed keyword of an error, with the missing key or allowed types."""
    keyword = f"{pointer_of(error.schema_path)} {error.keyword}"
    is_named = error.keyword in {"required", "type"}
    return f"{keyword} {error.detail}" if is_named else keyword


@dataclass(frozen=True, slots=True)
class ConditionalCause:
    """The errors of one condition, whose cause depends on the values it tests."""

    errors: tuple[EngineError, ...]
    #: The condition, as a JSON pointer into the schema.
    pointer: str
    #: The paths in the record of the values that it tests.
    tested: tuple[Path, ...]
    #: Whether it demands keys or types, not particular values.
    is_demand: bool
    #: The causes that were made, by what they depend on.
    _made: dict[Any, Cause] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def cause(self, record: Any, advise: Advise) -> Cause:
        """Return the cause in `record`, with the advice of its format."""
        first = self.errors[0]
        because = tuple([path for path in self.tested if has_value(record, path)])
        advice = advise(self.pointer, first.path, record)
        known = self._made.get((because, advice))
        if known is not None:
            return known
        code = "C101" if self.is_demand else _code_of(first)
        if advice is not None:
            code = advice.code
        cause = Cause(code, first.path, self.errors, because=because, advice=advice)
        if len(self._made) < _REMEMBERED:
            self._made[because, advice] = cause
        return cause


@dataclass(frozen=True, slots=True)
class SharedCauses:
    """The root causes of all records with the same errors and the same keys."""

    found: tuple[Cause | ConditionalCause, ...]
    #: The causes to report if none of those found is left.
    fallback: tuple[Cause, ...]
    #: Whether they are the same for each of the records, whatever its values.
    is_final: bool
    #: The causes that were made, by the identity of those they were made of.
    _made: dict[tuple[int, ...], tuple[list[Cause], tuple[Cause, ...]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def causes(self, record: Any, advise: Advise) -> tuple[Cause, ...]:
        """Return the causes in one of the records, for most the same object."""
        if self.is_final:
            return self.found  # type: ignore[return-value]  # no conditional ones
        causes = [
            found if isinstance(found, Cause) else found.cause(record, advise)
            for found in self.found
        ]
        key = tuple(map(id, causes))
        known = self._made.get(key)
        if known is not None:
            return known[1]
        # A record that the engine refuses is never reported without a cause.
        made = tuple(_with_misspelt_once(causes)) or self.fallback
        if len(self._made) < _REMEMBERED:
            # The causes are held, so that no others get their identity.
            self._made[key] = (causes, made)
        return made


def root_causes(
    record: Any, errors: Iterable[Any], schema: Any, advise: Advise
) -> Sequence[Cause]:
    """Return the root causes behind the errors of jsonschema-rs on `record`."""
    shared = shared_causes(record, errors, SchemaPaths(schema))
    return shared.causes(record, advise)


def shared_causes(
    record: Any, errors: Iterable[Any], paths: SchemaPaths
) -> SharedCauses:
    """Return the root causes behind the errors of jsonschema-rs on `record`.

    They depend on the errors, on the keys of the objects that lack a key, and on what
    `engine_error_of` reads of the record, but on nothing else of it.
    """
    schema = paths.schema
    # The engine reports errors in an order of its own, or in that of the record's keys.
    engine_errors = [
        engine_error_of(error, record, paths) for error in sorted(errors, key=_order_of)
    ]
    engine_errors = without_redundant(engine_errors, schema)
    found: list[Cause | ConditionalCause] = []
    for group in _by_condition(engine_errors, schema):
        found += _causes_of_group(group, record, schema)
    is_final = found != [] and all(
        isinstance(cause, Cause) and cause.code != "S103" for cause in found
    )
    fallback = tuple(_refused_record(error) for error in engine_errors[:1])
    return SharedCauses(tuple(found), fallback, is_final)


def _order_of(error: Any) -> tuple[Any, ...]:
    """Return the sort key of an error: its place in the schema, then in the record."""
    in_record = tuple([(type(step) is int, step) for step in error.instance_path])
    return tuple(map(str, error.evaluation_path)), in_record


def _refused_record(error: EngineError) -> Cause:
    """Return an error as a cause that is about the whole record."""
    return Cause("V111", (), (replace(error, keyword="not", path=()),))


def _by_condition(
    errors: list[EngineError], schema: Any
) -> Iterator[tuple[EngineError, ...]]:
    """Yield the errors in groups: the demands of one condition on one object.

    Any other error is a group of its own.
    """
    groups: dict[Any, list[EngineError]] = {}
    for number, error in enumerate(errors):
        condition = error.condition
        if condition is not None and _is_demand(error, condition):
            key: Any = (condition.path, error.path[: condition.depth])
        else:
            key = number
        groups.setdefault(key, []).append(error)
    for group in groups.values():
        condition = group[0].condition
        if condition is not None and len(group) > 1:
            node = schema_at(schema, condition.path)
            required = node.get("required", ()) if isinstance(node, dict) else ()
            group.sort(key=lambda error: _key_demanded(error) not in required)
        yield tuple(group)


def _is_demand(error: EngineError, condition: AppliedCondition) -> bool:
    """Return whether a condition demands a key, or the type of a key's value."""
    steps = len(error.path) - condition.depth
    if error.keyword == "required":
        return steps == 0
    if error.keyword == "falseSchema":
        return steps <= 1
    return error.keyword in {"type", "not"} and steps == 1


def _key_demanded(error: EngineError) -> Any:
    """Return the key that a demand of a condition is about."""
    if error.keyword == "required" or not error.path:
        return error.detail
    return error.path[-1]


def _causes_of_group(
    errors: tuple[EngineError, ...], record: Any, schema: Any
) -> list[Cause | ConditionalCause]:
    """Return the causes of a group of errors that `_by_condition` yields."""
    first = errors[0]
    if first.keyword == "additionalProperties" and isinstance(first.detail, list):
        return [
            Cause("S104", (*first.path, key), errors, at_key=True)
            for key in first.detail
        ]
    if first.keyword == "required":
        key = _misspelling(first, record, schema)
        if key:
            path = (*first.path, key)
            misspelt = Cause(
                "S103", path, errors[:1], at_key=True, intended=first.detail
            )
            rest = errors[1:]
            more = _causes_of_group(rest, record, schema) if rest else []
            return [misspelt, *more]
    if first.keyword == "propertyNames" and first.detail in value_at(
        record, first.path
    ):
        return [Cause("V114", (*first.path, first.detail), errors, at_key=True)]
    condition = first.condition
    if condition is None:
        return [Cause(_code_of(first), first.path, errors)]
    base = first.path[: condition.depth]
    tested = tuple((*base, *path) for path in tested_paths(condition, schema))
    pointer = pointer_of(condition.path)
    return [ConditionalCause(errors, pointer, tested, _is_demand(first, condition))]


def _code_of(error: EngineError) -> str:
    """Return the code of the rule on an error's keyword."""
    return _rule_of_keyword.get(error.keyword, "V111")


def _misspelling(error: EngineError, record: Any, schema: Any) -> str:
    """Return the unknown key that is nearly the missing one, "" if there is none."""
    owner = value_at(record, error.path)
    known = known_keys(schema, error)
    unknown = [key for key in owner if key not in known]
    # Among so many keys one is near by chance, and looking at all takes long.
    return nearest(error.detail, unknown) if len(unknown) <= MANY_KEYS else ""


def _with_misspelt_once(causes: list[Cause]) -> list[Cause]:
    """Leave out an unknown key that is also reported as a misspelt one."""
    if not any(cause.code == "S103" for cause in causes):
        return causes
    misspelt = Counter(cause.path for cause in causes if cause.code == "S103")
    kept = [
        cause for cause in causes if cause.code != "S104" or not misspelt[cause.path]
    ]
    return [_as_missing_if_ambiguous(cause, misspelt) for cause in kept]


def _as_missing_if_ambiguous(cause: Cause, misspelt: Mapping[Path, int]) -> Cause:
    """Return a missing key instead of a misspelt one that may mean several keys."""
    if cause.code != "S103" or misspelt[cause.path] == 1:
        return cause
    return Cause("S101", cause.path[:-1], cause.errors)
