"""Leave out the schema errors of a record that another of its errors explains."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.conditions import tested_paths
from harpia_formats.validation.diagnosis.engine_errors import EngineError


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
    for error in errors:
        if error.keyword not in {"anyOf", "oneOf"}:
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
            inner_errors = (
                replace(inner, condition=inner.condition or error.condition)
                for inner in meant[0]
            )
            yield from _of_meant_alternatives(inner_errors)
        else:
            yield error


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
    return error.keyword in {"const", "enum"} and error.path[:-1] == path


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
        if error.keyword == "additionalProperties" and isinstance(error.detail, list)
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
            types = _types_in_both(first.detail, error.detail)
            is_plainer = first.condition is not None and error.condition is None
            kept[index] = replace(error if is_plainer else first, detail=types)
        else:
            index_of[error.path] = len(kept)
            kept.append(error)
    return kept


def _types_in_both(types: list[str], other: list[str]) -> list[str]:
    """Return the types that are in both lists, the first list if none is."""
    return [name for name in types if name in other] or list(types)
