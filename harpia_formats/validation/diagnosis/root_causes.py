"""Find the root causes behind the schema errors of one record, and its findings."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from harpia_formats.files.parsing.json_fault import Fault, FaultKind
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import repeated_paths
from harpia_formats.model.format import Advice, Advise, Remark
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.model.spelling import nearest
from harpia_formats.validation.diagnosis.engine_errors import (
    AppliedCondition,
    EngineError,
    SchemaPaths,
    engine_error_of,
    has_value,
    known_keys,
    schema_at,
    tested_paths,
    value_at,
    without_redundant,
)

#: Unknown keys of one object among which a misspelt one is looked for.
MANY_KEYS = 100
#: Causes with the same errors that are remembered.
_REMEMBERED = 64

_rule_of_keyword = {
    "required": "S101",
    "type": "S102",
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
        group = groups.setdefault(key, [])
        # Dependencies of several keys on one are found as the first of them each time.
        if condition is None or condition.key is None or error not in group:
            group.append(error)
    for group in groups.values():
        condition = group[0].condition
        if condition is not None:
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
    if first.keyword == "additionalProperties":
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


#: The rules on a record of another format, and on one with very many schema errors.
OTHER_FORMAT, MORE_ERRORS = "S203", "S106"
#: What differs between faults of one kind: places, bytes and characters.
_particular = re.compile(
    r"(?<=found )(?:the byte )?\S+(?= instead of )"
    r"|(?<=backslash before )(?:the byte )?\S+|0x\w+|U\+\w+|\d+"
)
_rule_of_fault = {
    FaultKind.SYNTAX: "J101",
    FaultKind.TRUNCATED: "J102",
    FaultKind.UTF8: "J103",
    FaultKind.SURROGATE: "J104",
    FaultKind.CONSTANT: "J106",
    FaultKind.NUMBER: "J107",
    FaultKind.NESTING: "J108",
    FaultKind.CONTROL: "J109",
}


class RepeatedKey(msgspec.Struct, frozen=True):
    """A key that an object of a row has again; its place is found if it is worded."""

    path: Path
    #: How many repeated keys are before it in the row.
    before: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with one row of a chunk."""

    code: str
    #: Index of the row in its chunk.
    row: int
    #: The JSON syntax error, the repeated key, the root cause of schema errors, or
    #: the remark of the format.
    about: Fault | RepeatedKey | Cause | Remark
    #: The decoded row, where it parses.
    value: Any = None

    @property
    def path(self) -> Path:
        """The path of the value in the row that it is about."""
        return () if isinstance(self.about, Fault) else self.about.path

    @property
    def missing_key(self) -> str:
        """The key that is missing at the path, "" if none is."""
        if not isinstance(self.about, Cause) or self.about.intended:
            return ""
        first = self.about.errors[0]
        return str(first.detail) if first.keyword == "required" else ""

    @property
    def cause(self) -> str:
        """What equal findings share apart from the code and the path."""
        about = self.about
        if isinstance(about, Cause):
            is_null = about.errors[0].keyword == "type" and (
                value_at(self.value, about.errors[0].path) is None
            )
            # What may not be null may mostly be left out.
            return f"{about.identity} null" if is_null else about.identity
        if isinstance(about, Fault):
            return _particular.sub("…", about.message)
        if self.code == OTHER_FORMAT:
            return about.message  # type: ignore[union-attr]  # a remark
        milder = getattr(about, "severity", None)
        return "" if milder is None else str(milder.value)

    @property
    def is_fault(self) -> bool:
        """Whether the row is no JSON, so that nothing else of it can be validated."""
        return isinstance(self.about, Fault)

    @property
    def is_refusal(self) -> bool:
        """Whether the schema refuses the row, which may be one of another format."""
        return isinstance(self.about, Cause) or self.code in {OTHER_FORMAT, MORE_ERRORS}


class SharedFindings(msgspec.Struct, frozen=True):
    """All findings on one row, which many rows share: made only if they are worded."""

    #: Index of the row in its chunk.
    row: int
    #: The root causes of its schema errors, the same object for all of the rows.
    causes: tuple[Cause, ...]
    #: The decoded row.
    value: Any

    def findings(self) -> list[Finding]:
        """Return the finding of each cause."""
        row, value = self.row, self.value
        return [Finding(cause.code, row, cause, value) for cause in self.causes]

    def typed_paths(self) -> tuple[Path, ...]:
        """Return the paths of the values that have a wrong type."""
        firsts = (cause.errors[0] for cause in self.causes)
        return tuple(first.path for first in firsts if first.keyword == "type")

    def nulls_at(self, paths: tuple[Path, ...]) -> tuple[bool, ...]:
        """Return which of the values at `paths` are null."""
        return tuple([value_at(self.value, path) is None for path in paths])


def find_json_fault(row: int, text: bytes) -> Finding | None:
    """Return the JSON syntax error in the `text` of a row, None if it has none."""
    fault = find_fault(text)
    return Finding(_rule_of_fault[fault.kind], row, fault) if fault else None


def find_repeated_keys(row: int, text: bytes, value: Any) -> Iterator[Finding]:
    """Yield a finding for each repeated key of an object in the `text` of a row.

    `value` is the decoded row.
    """
    for before, path in enumerate(repeated_paths(text)):
        yield Finding("J105", row, RepeatedKey(path, before), value)
