"""Remember the root causes of schema errors that many records of a file share."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jsonschema_rs import ValidationErrorKind as Kind

from harpia_formats.model.format import Advise
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.engine_errors import SchemaPaths
from harpia_formats.validation.diagnosis.error_patterns import (
    FailedKeyword,
    pattern_matcher,
)
from harpia_formats.validation.diagnosis.exact_paths import value_at
from harpia_formats.validation.diagnosis.root_causes import (
    Cause,
    SharedCauses,
    shared_causes,
)

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
            self._by_errors[failed] = self._built_pattern(failed, errors)
        pattern = self._by_errors[failed]
        if pattern is None:
            return
        if pattern not in self._patterns:
            self._patterns = [pattern, *self._patterns[: COMPARED - 1]]
            self._missed = 0
        if len(pattern.causes) < REMEMBERED:
            pattern.causes[pattern.keys_of(record)] = shared

    def _built_pattern(
        self, failed: tuple[FailedKeyword, ...], errors: list[Any]
    ) -> _ErrorPattern | None:
        """Return the pattern of a record's errors, None if it cannot be built."""
        if len(self._by_errors) >= BUILT:
            return None
        matches = pattern_matcher(self._paths.schema, failed, formats=self._formats)
        if matches is None:
            return None
        lacking = [error for error in errors if type(error.kind) is Kind.Required]
        paths = tuple(dict.fromkeys(tuple(error.instance_path) for error in lacking))
        return _ErrorPattern(matches, paths)

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
    """Return the keywords that failed, () if no pattern can be built of them."""
    failed = []
    for error in errors:
        kind, kind_type = error.kind, type(error.kind)
        detail: Any = None
        if kind_type is Kind.Required:
            detail = kind.value
        elif kind_type is Kind.AdditionalProperties:
            detail = tuple(kind.value)
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
