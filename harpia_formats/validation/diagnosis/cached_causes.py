"""Why many records are wrong: what they have in common is found once."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsonschema_rs import ValidationErrorKind as Kind

from harpia_formats.model.format import Advise
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.engine_errors import SchemaPaths, value_at
from harpia_formats.validation.diagnosis.error_schemas import Failure, way_of
from harpia_formats.validation.diagnosis.root_causes import Cause, Draft, draft_of

#: Ways to be wrong that are remembered, and characters of the longest one.
REMEMBERED, LONGEST = 256, 10_000
#: Errors of a record, or keys of an object, that are worth remembering.
MOST = 100
#: Records with the same errors before others are asked whether they have them too.
ENOUGH = 8
#: Ways to be wrong that are asked for at a time, those that are known and counted of
#: one file, and records for which none held before none is asked for any more.
WAYS, KNOWN, COUNTED, MISSED = 16, 64, 1024, 64

#: Kinds of which the schema knows all there is to know.
_settled = frozenset(
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
        Kind.OneOfMultipleValid,
        Kind.Pattern,
        Kind.Type,
        Kind.UniqueItems,
    }
)
_choices = frozenset({Kind.AnyOf, Kind.OneOfNotValid})
#: Keys that the engine may tell as something else.
_odd_key = re.compile(r"(\+?\d+)?")


class _Unlike(Exception):  # noqa: N818 - an answer, not an error
    """A record is wrong in a way of its own."""


@dataclass(slots=True, eq=False)
class _Way:
    """A way to be wrong that many records share."""

    holds: Callable[[Any], bool]
    #: The objects that lack a key, whose other keys may tell why.
    lacking: tuple[Path, ...]
    #: What the errors come to, by the keys of these objects.
    drafts: dict[Hashable, Draft] = field(default_factory=dict)

    def keys(self, record: Any) -> Hashable:
        """Return the keys of the objects that lack one."""
        return tuple([frozenset(value_at(record, each)) for each in self.lacking])


class Reasons:
    """Finds the root causes of what one schema refuses.

    Records with the same errors at the same places, in objects with the same keys
    where one is missing, have the same causes but for what conditions ask of them.
    """

    def __init__(self, schema: Any, advise: Advise, *, formats: bool = False) -> None:
        self._paths = SchemaPaths(schema)
        self._advise = advise
        self._formats = formats
        self._known: dict[Hashable, Draft] = {}
        #: The ways that are asked for; the one that held last comes first.
        self._ways: list[_Way] = []
        #: All ways that are known by their errors; none where there is no telling.
        self._by_errors: dict[Hashable, _Way | None] = {}
        self._seen: Counter[Hashable] = Counter()
        #: Records since one of the ways held.
        self._missed = 0
        #: Whether the places that the engine tells are exact.
        self._is_exact = not any(map(_odd_key.fullmatch, _keys_in(schema)))

    def of(self, record: Any, errors: Iterable[Any]) -> Sequence[Cause]:
        """Return the root causes behind the engine's `errors` on `record`."""
        errors = list(errors)
        mark = self._mark(errors, record)
        draft = None if mark is None else self._known.get(mark)
        if draft is None:
            draft = draft_of(record, errors, self._paths)
            if mark is not None and len(repr(mark)) <= LONGEST:
                self._remember(mark, draft)
        if mark is not None:
            self._note_way(errors, record, draft)
        return draft.causes(record, self._advise)

    def at_once(self, record: Any) -> Sequence[Cause] | None:
        """Return the root causes of `record` if it is wrong as many were before."""
        for number, each in enumerate(self._ways):
            if each.holds(record):
                self._missed = 0
                if number:
                    self._ways.insert(0, self._ways.pop(number))
                draft = each.drafts.get(each.keys(record))
                return None if draft is None else draft.causes(record, self._advise)
        self._missed += 1
        if self._missed > MISSED:
            self._ways.clear()
        return None

    def _note_way(self, errors: list[Any], record: Any, draft: Draft) -> None:
        """Take note of a record that is wrong in a way that others may share."""
        failures = _failures_of(errors)
        is_new = failures not in self._seen
        if not failures or (is_new and len(self._seen) > COUNTED):
            return
        self._seen[failures] += 1
        if self._seen[failures] < ENOUGH:
            return
        if failures not in self._by_errors:
            self._by_errors[failures] = self._new_way(failures, errors)
        way = self._by_errors[failures]
        if way is None:
            return
        if way not in self._ways:
            self._ways = [way, *self._ways[: WAYS - 1]]
            self._missed = 0
        if len(way.drafts) < REMEMBERED:
            way.drafts[way.keys(record)] = draft

    def _new_way(self, failures: tuple[Failure, ...], errors: list[Any]) -> _Way | None:
        if len(self._by_errors) >= KNOWN:
            return None
        holds = way_of(self._paths.schema, failures, formats=self._formats)
        if holds is None:
            return None
        lacking = [each for each in errors if type(each.kind) is Kind.Required]
        return _Way(holds, tuple([tuple(each.instance_path) for each in lacking]))

    def _mark(self, errors: list[Any], record: Any) -> Hashable | None:
        """Return what records with the same causes have in common, if they may."""
        if not self._is_exact or len(errors) > MOST:
            return None
        try:
            return tuple([_mark_of(each, record) for each in errors])
        except _Unlike:
            return None

    def _remember(self, mark: Hashable, draft: Draft) -> None:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[mark] = draft


def _keys_in(schema: Any) -> Iterator[str]:
    """Yield every key of every object in a schema."""
    if isinstance(schema, dict):
        yield from schema
        for each in schema.values():
            yield from _keys_in(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _keys_in(each)


def _failures_of(errors: list[Any]) -> tuple[Failure, ...]:
    """Return what failed where, nothing if other records cannot be asked for it."""
    failures = []
    for each in errors:
        sort, kind = type(each.kind), each.kind
        detail: Any = None
        if sort is Kind.Required:
            detail = kind.value
        elif sort is Kind.AdditionalProperties:
            detail = tuple(kind.value)
        elif sort not in _settled:
            return ()
        path, place = tuple(each.evaluation_path), tuple(each.instance_path)
        failures.append(Failure(path, place, detail))
    return tuple(failures)


def _mark_of(error: Any, record: Any) -> Hashable:
    """Return all that `violation_of` makes something of; raises `_Unlike`."""
    kind = error.kind
    sort = type(kind)
    path = tuple(error.instance_path)
    value = _value_at(record, path)
    schema_path = tuple(error.schema_path)
    more: Hashable = None
    if sort is Kind.Required:
        # A dependency is told by the keys that are there.
        if "dependencies" in schema_path:
            raise _Unlike
        more = kind.value, _few_keys(value)
    elif sort is Kind.AdditionalProperties:
        more = tuple(_few(kind.value))
    elif sort in _choices:
        context = _few(kind.context)
        more = tuple([_marks(option, record) for option in context])
    elif sort is Kind.FalseSchema:
        more = tuple(_few(value)) if isinstance(value, dict) else None
    elif sort not in _settled:
        raise _Unlike
    return sort, path, schema_path, tuple(error.evaluation_path), more


def _marks(errors: Any, record: Any) -> Hashable:
    return tuple([_mark_of(each, record) for each in _few(errors)])


def _few(items: Any) -> Any:
    if len(items) > MOST:
        raise _Unlike
    return items


def _few_keys(value: Any) -> Hashable:
    return frozenset(_few(value))


def _value_at(node: Any, path: Path) -> Any:
    """Return the value at `path`; raises `_Unlike` where another could be meant."""
    for each in path:
        if isinstance(node, dict) and (type(each) is int or "" in node):
            raise _Unlike
        node = node[each]
    if isinstance(node, dict) and "" in node:
        raise _Unlike
    return node
