"""Remember the root causes of schema errors that many records of a file share."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from jsonschema_rs import ValidationErrorKind as Kind

from harpia_formats.formats.schema.bundled_schemas import schema_validator_of
from harpia_formats.formats.schema.references import resolve
from harpia_formats.model.format import Advise
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.engine_errors import SchemaPaths, value_at
from harpia_formats.validation.diagnosis.root_causes import (
    Cause,
    SharedCauses,
    shared_causes,
)

#: Errors of a record for which a schema is built at most.
MOST_ERRORS = 32
#: Keywords that fail or hold whatever stands next to them. `pattern` is not among
#: them: where the engine gives up on a pattern, its opposite would hold.
_independent = frozenset(
    "const contains enum exclusiveMaximum exclusiveMinimum format maxItems maxLength "
    "maxProperties maximum minItems minLength minProperties minimum multipleOf not "
    "type uniqueItems".split()
)
#: An object of a JSON schema.
Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FailedKeyword:
    """A keyword of the schema that a record fails, with the engine's paths."""

    #: The evaluation path, which the keyword ends.
    path: Path
    #: Where in the record.
    instance_path: Path
    #: The key that is missing, or the keys that are unknown; None otherwise.
    detail: Any


class _NotExpressible(Exception):  # noqa: N818 - an answer, not an error
    """No schema is known that holds for exactly the records with these errors."""


def pattern_matcher(
    schema: Any, failed: Sequence[FailedKeyword], *, formats: bool
) -> Callable[[Any], bool] | None:
    """Return a function that tells whether a record fails `failed` and nothing else.

    None if they are more than `MOST_ERRORS`, or if no schema is known that expresses
    them. `formats` is whether the schema's `format` refuses values.
    """
    if len(failed) > MOST_ERRORS or not all(map(_is_definition, _references(schema))):
        return None
    opposite = deepcopy(schema)
    try:
        for keyword in failed:
            _negate(_opened(opposite, schema, keyword), keyword)
    except _NotExpressible:
        return None
    return schema_validator_of(opposite, formats=formats).is_valid


def _references(node: Any, *, is_root: bool = True) -> Iterator[Any]:
    """Yield the references in a schema, and the ids of the schemas inside of it."""
    inner: Iterable[Any] = node if isinstance(node, list) else ()
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        if "$id" in node and not is_root:
            yield node["$id"]
        inner = node.values()
    for part in inner:
        yield from _references(part, is_root=False)


def _is_definition(reference: Any) -> bool:
    """Return whether a reference leads to the definitions, which are not changed."""
    return isinstance(reference, str) and reference.startswith("#/definitions/")


def _opened(root: Node, schema: Any, failed: FailedKeyword) -> Node:
    """Return the node of `root` that has the keyword.

    All objects and conditions on the way to it are made to be present and to hold.
    Raises `_NotExpressible` if a step of the way is not supported.
    """
    node: Any = root
    steps, keys = iter(failed.path[:-1]), iter(failed.instance_path)
    for step in steps:
        if step in {"properties", "additionalProperties"}:
            key = next(keys)
            node = _member(node, key, is_known=step == "properties")
            if step == "properties":
                next(steps)  # the key again
        elif step in {"allOf", "anyOf"}:
            if step == "anyOf":  # all alternatives are made to fail
                _demand(node, {"allOf": node[step]})
            node = node[step][next(steps)]
        elif step in {"then", "else"}:
            _decide_condition(node, holds=step == "then")
            node = node[step]
        elif step == "$ref":
            _inline_reference(node, schema)
        else:
            raise _NotExpressible
    return node  # type: ignore[no-any-return]  # one of the objects of the schema


def _member(node: Node, key: Any, *, is_known: bool) -> Any:
    """Return the schema of the member `key`, which is made to be required."""
    _demand(node, {"type": "object", "required": [key]})
    known = node.get("properties", {})
    if not is_known and key not in known:
        node["properties"] = {**known, key: deepcopy(node["additionalProperties"])}
    return node["properties"][key]


def _inline_reference(node: Node, schema: Any) -> None:
    """Replace `node` by a copy of the schema that it refers to, if it does."""
    if "$ref" in node:
        target = deepcopy(resolve(schema, node["$ref"]))
        # Keywords next to a reference have no effect, but other references lead here.
        kept = {key: node[key] for key in ("definitions",) if key in node}
        node.clear()
        node.update(target | kept)


def _decide_condition(node: Node, *, holds: bool) -> None:
    """Demand that the condition of `node` holds, or that it does not."""
    condition = node["if"]
    if condition is not holds:
        _demand(node, condition if holds else {"not": condition})
        node["if"] = holds


def _negate(node: Node, failed: FailedKeyword) -> None:
    """Turn the failed keyword of `node` into its opposite.

    Raises `_NotExpressible` if the opposite is not known.
    """
    keyword = failed.path[-1]
    if keyword == "required":
        node[keyword] = [key for key in node[keyword] if key != failed.detail]
        _demand(node, {"not": {keyword: [failed.detail]}})
    elif keyword == "additionalProperties" and node[keyword] is False:
        if len(failed.detail) != 1:
            raise _NotExpressible
        (unknown,) = failed.detail
        node["properties"] = {**node.get("properties", {}), unknown: True}
        _demand(node, {"type": "object", "required": [unknown]})
    elif keyword in _independent and keyword in node:
        _demand(node, {"not": {keyword: node.pop(keyword)}})
    else:
        raise _NotExpressible


def _demand(node: Node, demand: Mapping[str, Any]) -> None:
    """Add a schema that must hold too, after those that `node` has in its `allOf`."""
    node["allOf"] = [*node.get("allOf", ()), demand]


#: Sets of causes that are remembered, and characters of the longest key of one.
REMEMBERED, LONGEST = 256, 10_000
#: Errors of a record, or keys of an object, with which causes are remembered at most.
MOST = 100
#: Records with the same errors after which a pattern of these errors is built.
ENOUGH = 8
#: Patterns that a record is compared with.
COMPARED = 16
#: Patterns that are built for one file, and combinations of errors that are counted.
BUILT, COUNTED = 64, 1024
#: Records that match no pattern after which no record is compared any more.
MISSED = 64

#: Kinds of errors whose causes do not depend on the value that is refused.
_value_independent = frozenset(
    {
        Kind.AdditionalItems,
        Kind.Constant,
        Kind.Contains,
        Kind.ContentEncoding,
        Kind.ContentMediaType,
        Kind.Enum,
        Kind.ExclusiveMaximum,
        Kind.ExclusiveMinimum,
        Kind.Format,
        Kind.MaxItems,
        Kind.MaxLength,
        Kind.MaxProperties,
        Kind.Maximum,
        Kind.MinItems,
        Kind.MinLength,
        Kind.MinProperties,
        Kind.Minimum,
        Kind.MultipleOf,
        Kind.Not,
        Kind.Pattern,
        Kind.Type,
        Kind.UniqueItems,
    }
)
_choices = frozenset({Kind.AnyOf, Kind.OneOfNotValid})
#: Keys that the engine reports differently in a path.
_odd_key = re.compile(r"(\+?\d+)?")


class _NotCacheable(Exception):  # noqa: N818 - an answer, not an error
    """The causes of a record depend on more than can be made a key of."""


@dataclass(slots=True, eq=False)
class _ErrorPattern:
    """A combination of schema errors that many records have."""

    #: Returns whether a record has these errors and no others.
    matches: Callable[[Any], bool]
    #: The paths of the objects that lack a key; one of their other keys may be it,
    #: misspelt.
    lacking: tuple[Path, ...]
    #: The causes by the keys of these objects.
    causes: dict[Hashable, SharedCauses] = field(default_factory=dict)

    def keys_of(self, record: Any) -> Hashable:
        """Return the keys of the objects in `record` that lack a key."""
        return tuple([frozenset(value_at(record, path)) for path in self.lacking])


class CachedCauses:
    """Finds the root causes of the records that one schema refuses.

    Records with the same errors at the same paths have the same causes if the objects
    that lack a key have the same other keys; only what conditions test may differ.
    """

    def __init__(self, schema: Any, advise: Advise, *, formats: bool = False) -> None:
        """Take a schema, its format's advice and whether `format` refuses values."""
        self._paths = SchemaPaths(schema)
        self._advise = advise
        self._formats = formats
        self._known: dict[Hashable, SharedCauses] = {}
        #: The patterns that records are compared with, the last one that matched first.
        self._patterns: list[_ErrorPattern] = []
        #: All patterns built, by their errors; None if there is no schema for them.
        self._by_errors: dict[Hashable, _ErrorPattern | None] = {}
        #: How many records had a combination of errors.
        self._times: Counter[Hashable] = Counter()
        #: How many records in a row matched no pattern.
        self._missed = 0
        #: Whether each path that the engine reports can mean one path only.
        self._is_exact = not any(map(_odd_key.fullmatch, _keys_in(schema)))

    def causes_of(self, record: Any, errors: Iterable[Any]) -> tuple[Cause, ...]:
        """Return the root causes behind the errors of jsonschema-rs on `record`."""
        errors = list(errors)
        key = self._cache_key(errors, record)
        shared = None if key is None else self._known.get(key)
        if shared is None:
            shared = shared_causes(record, errors, self._paths)
            if key is not None and len(repr(key)) <= LONGEST:
                self._remember(key, shared)
        if key is not None:
            self._learn_pattern(errors, record, shared)
        return shared.causes(record, self._advise)

    def causes_by_pattern(self, record: Any) -> tuple[Cause, ...] | None:
        """Return the root causes of `record`, None if it matches no known pattern."""
        for number, pattern in enumerate(self._patterns):
            if pattern.matches(record):
                self._missed = 0
                if number:
                    self._patterns.insert(0, self._patterns.pop(number))
                shared = pattern.causes.get(pattern.keys_of(record))
                return None if shared is None else shared.causes(record, self._advise)
        self._missed += 1
        if self._missed > MISSED:
            self._patterns.clear()
        return None

    def _learn_pattern(
        self, errors: list[Any], record: Any, shared: SharedCauses
    ) -> None:
        """Count the errors of a record, and build a pattern of them if they are common.

        The causes of `record` are added to the pattern of its errors.
        """
        failed = _failed_keywords(errors)
        is_new = failed not in self._times
        if not failed or (is_new and len(self._times) > COUNTED):
            return
        self._times[failed] += 1
        if self._times[failed] < ENOUGH:
            return
        if failed not in self._by_errors:
            self._by_errors[failed] = self._built_pattern(failed)
        pattern = self._by_errors[failed]
        if pattern is None:
            return
        if pattern not in self._patterns:
            self._patterns = [pattern, *self._patterns[: COMPARED - 1]]
            self._missed = 0
        if len(pattern.causes) < REMEMBERED:
            pattern.causes[pattern.keys_of(record)] = shared

    def _built_pattern(self, failed: tuple[FailedKeyword, ...]) -> _ErrorPattern | None:
        """Return the pattern of a record's errors, None if it cannot be built."""
        if len(self._by_errors) >= BUILT:
            return None
        matches = pattern_matcher(self._paths.schema, failed, formats=self._formats)
        if matches is None:
            return None
        lacking = [one.instance_path for one in failed if one.path[-1] == "required"]
        return _ErrorPattern(matches, tuple(dict.fromkeys(lacking)))

    def _cache_key(self, errors: list[Any], record: Any) -> Hashable | None:
        """Return a key that is equal for records with the same causes.

        None if the causes are not to be remembered.
        """
        if not self._is_exact or len(errors) > MOST:
            return None
        try:
            return tuple([_key_of_error(error, record) for error in errors])
        except _NotCacheable:
            return None

    def _remember(self, key: Hashable, shared: SharedCauses) -> None:
        """Add causes to the cache, which is emptied first if it is full."""
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[key] = shared


def _keys_in(schema: Any) -> Iterator[str]:
    """Yield every key of every object in a schema."""
    if isinstance(schema, dict):
        yield from schema
        for part in schema.values():
            yield from _keys_in(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _keys_in(part)


def _failed_keywords(errors: list[Any]) -> tuple[FailedKeyword, ...]:
    """Return the keywords that failed, () if no pattern can be built of them.

    For an `anyOf` they are those of its alternatives.
    """
    failed: list[FailedKeyword] = []
    for error in errors:
        kind, kind_type = error.kind, type(error.kind)
        detail: Any = None
        if kind_type is Kind.Required:
            detail = kind.value
        elif kind_type is Kind.AdditionalProperties:
            detail = tuple(kind.value)
        elif kind_type is Kind.AnyOf:
            inner = [_failed_keywords(alternative) for alternative in kind.context]
            if not all(inner):
                return ()
            failed += chain.from_iterable(inner)
            continue
        elif kind_type not in _value_independent:
            return ()
        path, instance_path = tuple(error.evaluation_path), tuple(error.instance_path)
        failed.append(FailedKeyword(path, instance_path, detail))
    return tuple(failed)


def _key_of_error(error: Any, record: Any) -> Hashable:
    """Return all that the causes of an error of jsonschema-rs depend on.

    Raises `_NotCacheable` if it is too much, or depends on the values of `record`.
    """
    kind = error.kind
    kind_type = type(kind)
    path = tuple(error.instance_path)
    value = _value_at(record, path)
    schema_path = tuple(error.schema_path)
    detail: Hashable = None
    if kind_type is Kind.Required:
        # Which dependency failed depends on the other keys.
        if "dependencies" in schema_path:
            raise _NotCacheable
        detail = kind.value, frozenset(_at_most(value))
    elif kind_type is Kind.AdditionalProperties:
        detail = tuple(_at_most(kind.value))
    elif kind_type in _choices:
        # There are steps in it for each choice that this one is in.
        _at_most(error.evaluation_path)
        alternatives = _at_most(kind.context)
        detail = tuple(
            [
                tuple([_key_of_error(inner, record) for inner in _at_most(alternative)])
                for alternative in alternatives
            ]
        )
    elif kind_type is Kind.OneOfMultipleValid:
        detail = tuple([not errors for errors in _at_most(kind.context)])
    elif kind_type is Kind.FalseSchema:
        detail = tuple(_at_most(value)) if isinstance(value, dict) else None
    elif kind_type not in _value_independent:
        raise _NotCacheable
    return kind_type, path, schema_path, tuple(error.evaluation_path), detail


def _at_most(items: Any) -> Any:
    """Return `items`. Raises `_NotCacheable` if they are more than `MOST`."""
    if len(items) > MOST:
        raise _NotCacheable
    return items


def _value_at(record: Any, path: Path) -> Any:
    """Return the value at the engine's `path` of `record`.

    Raises `_NotCacheable` if the path can mean another one.
    """
    node = record
    for step in path:
        if isinstance(node, dict) and (type(step) is int or "" in node):
            raise _NotCacheable
        node = node[step]
    if isinstance(node, dict) and "" in node:
        raise _NotCacheable
    return node
