"""Find the schema errors of a record with very many values, a part of it at a time.

The engine lists all errors of a value at once, in some 2 kB for each, so that a record
of a few megabytes could take gigabytes. Here the record is divided into parts that
have some of the items and members of its large arrays and objects, and all of its other
values. No part is validated any more once there are as many errors as are reported.

An error of a part is one of the record if it is about a value that is whole in the
part, and if no condition on a value that is not made the keyword apply.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from jsonschema_rs import ValidationErrorKind as Kind

from harpia_formats.formats.schema.error_paths import keywords_on, path_of_error
from harpia_formats.model.format import Advise
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.engine_errors import (
    CHOICES,
    EngineError,
    SchemaPaths,
    condition_of,
    tested_paths,
)
from harpia_formats.validation.diagnosis.root_causes import Cause, shared_causes
from harpia_formats.validation.unit.findings import FINDINGS, values_in

#: Values of a part of a larger one, apart from those that are in all parts.
PART = 2_000
#: Values of a member that is in all parts, since other errors may depend on it.
SMALL = 20

#: Errors of an object that its members, of which a part has some, have each alone.
_of_members = (Kind.AdditionalProperties, Kind.PropertyNames)
#: Errors of an object that only the members depend on that the schema names.
_of_named = (Kind.Required, Kind.Type, Kind.FalseSchema)
#: Keywords whose outcome depends on all of the value that they apply to.
_on_the_whole = frozenset("not anyOf oneOf contains".split())


@dataclass(frozen=True, slots=True)
class _Part:
    """A record without some items of arrays and members of objects."""

    value: Any
    #: Where values are of which some are left out, and where all are.
    cut: frozenset[Path]
    emptied: frozenset[Path]
    #: How many items are left out in front of the others, by the path of the array.
    before: dict[Path, int]

    def in_record(self, path: Path) -> Path:
        """Return the path in the record of a value of the part."""
        return tuple(
            step + self.before.get(path[:at], 0) if isinstance(step, int) else step
            for at, step in enumerate(path)
        )

    def below(self, step: str | int, owner: Any, before: int = 0) -> "_Part":
        """Return the part as a member of a container `owner`, of which it is one."""
        base = {(): before} if before else {}
        return _Part(
            owner,
            frozenset({(), *((step, *path) for path in self.cut)}),
            frozenset((step, *path) for path in self.emptied),
            base | {(step, *path): skip for path, skip in self.before.items()},
        )


def _parts(value: Any, names: frozenset[str]) -> Iterator[_Part]:
    """Yield the parts of a large value; `names` are those that its schema has."""
    if isinstance(value, list):
        for begin, end, inner in _groups(value, names):
            if inner is not None:
                yield inner.below(0, [inner.value], begin)
            else:
                before: dict[Path, int] = {(): begin} if begin else {}
                yield _Part(value[begin:end], _WHOLE, frozenset(), before)
        return
    keys = list(value)
    common = {key: value[key] for key in keys if key in names}
    large = {
        key: _emptied(one) for key, one in common.items() if values_in(one) > SMALL
    }
    common |= large
    for begin, end, inner in _groups(list(value.values()), names):
        own = {key: value[key] for key in keys[begin:end]}
        part = _Part({**common, **own}, _WHOLE, frozenset(), {})
        if inner is not None:
            (key,) = own
            part = inner.below(key, {**common, key: inner.value})
        emptied = frozenset((key,) for key in large if key not in own)
        yield replace(part, emptied=part.emptied | emptied)


_WHOLE: frozenset[Path] = frozenset({()})


def _emptied(value: Any) -> Any:
    return {} if isinstance(value, dict) else []


def _groups(
    members: list[Any], names: frozenset[str]
) -> Iterator[tuple[int, int, _Part | None]]:
    """Yield the first and the last but one of members that make a part together.

    A large member is alone, and comes once with each of its own parts.
    """
    begin = size = 0
    for number, member in enumerate(members):
        own = 1 + values_in(member)
        if size + own > PART and number > begin:
            yield begin, number, None
            begin, size = number, 0
        size += own
        if own > PART:
            for inner in _parts(member, names):
                yield number, number + 1, inner
            begin, size = number + 1, 0
    if begin < len(members):
        yield begin, len(members), None


@dataclass(slots=True)
class WideErrors:
    """Finds the schema errors of large records by one schema."""

    schema: Any
    #: Returns the errors of jsonschema-rs on a value.
    errors_of: Callable[[Any], Iterable[Any]]
    advise: Advise
    #: Every text in the schema: the keys that it may name are among these.
    _names: frozenset[str] = field(init=False)
    _paths: SchemaPaths = field(init=False)

    def __post_init__(self) -> None:
        self._paths = SchemaPaths(self.schema)
        self._names = frozenset(_texts_in(self.schema))

    def many(self, record: Any) -> list[Cause] | None:
        """Return the causes of the first errors of a record that has very many.

        None if it has not more than are reported, so that it is validated as a whole.
        """
        found: list[tuple[_Part, list[Any]]] = []
        seen: set[Any] = set()
        for part in _parts(record, self._names):
            own = [
                error
                for error in self.errors_of(part.value)
                if _is_on_whole(error, part) and _note(error, part, seen)
            ]
            if own:
                found.append((part, own))
            if len(seen) > FINDINGS:
                return list(self._causes(found))[:FINDINGS]
        return None

    def _causes(self, found: list[tuple[_Part, list[Any]]]) -> Iterator[Cause]:
        """Yield the causes in a record of the errors of its parts."""
        seen: set[tuple[str, Path, str]] = set()
        for part, errors in found:
            own = [error for error in errors if _is_of_record(error, part, self._paths)]
            if not own:
                continue
            shared = shared_causes(part.value, own, self._paths)
            for cause in shared.causes(part.value, self.advise):
                placed = _in_record(cause, part)
                key = placed.code, placed.path, placed.identity
                if key not in seen:
                    seen.add(key)
                    yield placed


def _note(error: Any, part: _Part, seen: set[Any]) -> bool:
    """Note an error; return whether it has not been in a part before."""
    place = part.in_record(path_of_error(error, part.value))
    own: Iterable[Any] = (None,)
    if isinstance(error.kind, Kind.AdditionalProperties):
        own = error.kind.value
    elif isinstance(error.kind, Kind.Required):
        own = (error.kind.value,)
    before = len(seen)
    steps = tuple(error.evaluation_path)
    seen.update((place, steps, name) for name in own)
    return len(seen) > before


def _is_on_whole(error: Any, part: _Part) -> bool:
    """Return whether all that an error depends on in its own value is in the part.

    Others are not counted: a value that is cut may be too small in each of its parts.
    """
    path = path_of_error(error, part.value)
    if path in part.emptied:
        return False
    return path not in part.cut or isinstance(error.kind, (*_of_members, *_of_named))


def _is_of_record(error: Any, part: _Part, paths: SchemaPaths) -> bool:
    """Return whether an error on what is whole in a part is one of the record."""
    path = path_of_error(error, part.value)
    steps, depth = tuple(error.evaluation_path), 0
    for index, keyword, is_inward in keywords_on(steps):
        if path[:depth] in part.cut:
            if keyword in _on_the_whole:
                return False
            if keyword in {"then", "else"} and not _is_decided(
                steps[: index + 1], path[:depth], part, paths
            ):
                return False
        depth += is_inward
    return True


def _is_decided(steps: Path, base: Path, part: _Part, paths: SchemaPaths) -> bool:
    """Return whether all that a condition tests at `base` is whole in a part."""
    condition = condition_of(paths.evaluated(steps))
    if condition is None:
        return False
    tested = [(*base, *path) for path in tested_paths(condition, paths.schema)]
    incomplete = part.cut | part.emptied
    return bool(tested) and not any(
        path[:end] in incomplete
        for path in tested
        for end in range(len(base) + 1, len(path) + 1)
    )


def _in_record(cause: Cause, part: _Part) -> Cause:
    """Return the cause with its paths in the record."""
    if not part.before:
        return cause
    return replace(
        cause,
        path=part.in_record(cause.path),
        errors=tuple(_error_in_record(error, part) for error in cause.errors),
        because=tuple(map(part.in_record, cause.because)),
    )


def _error_in_record(error: EngineError, part: _Part) -> EngineError:
    """Return the error, and those of its alternatives, with paths in the record."""
    detail = error.detail
    if error.keyword in CHOICES:
        detail = [
            [_error_in_record(inner, part) for inner in alternative]
            for alternative in detail
        ]
    return replace(error, path=part.in_record(error.path), detail=detail)


def _texts_in(schema: Any) -> Iterator[str]:
    """Yield every text of a schema, keys among them."""
    if isinstance(schema, str):
        yield schema
    elif isinstance(schema, dict):
        yield from schema
        yield from chain.from_iterable(map(_texts_in, schema.values()))
    elif isinstance(schema, list):
        yield from chain.from_iterable(map(_texts_in, schema))
