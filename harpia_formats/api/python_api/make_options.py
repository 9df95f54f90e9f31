"""Make the options of a run from the keyword arguments of a Python function."""

import os
import types
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import fields
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from harpia_formats.api.options import INSTEAD, OPTIONS
from harpia_formats.model.errors import OptionError
from harpia_formats.model.text.spelling import hint_on

_Options = TypeVar("_Options")
#: How the values of a type are called in messages.
_words: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    tuple: "several names",
    dict: "a mapping",
    Mapping: "a mapping",
    os.PathLike: "a path",
    Callable: "a function",
    None: "None",
    types.NoneType: "None",
}
#: Other names of arguments: those that options of the command line have, and what
#: other functions call the format of the input.
OTHER_NAMES = {alias: one.field for one in OPTIONS for alias in one.aliases.split()}


def make_options(
    kind: Callable[..., _Options],
    given: Mapping[str, Any],
    known: Container[str] | None = None,
) -> _Options:
    """Return the options `kind`, a dataclass, with the `given` values by name.

    Only those in `known` are options, or all if it is None. Lists, and one name, are
    taken where several names are expected. Raises `OptionError` for a name that is no
    option and for a value of another type, and what `kind` raises.
    """
    types_by_name = {
        field.name: field.type
        for field in fields(kind)  # type: ignore[arg-type]  # a dataclass
        if field.metadata.get("is_option", True)
        and (known is None or field.name in known)
    }
    values = {}
    for name, found in with_own_names(given, types_by_name).items():
        if name not in types_by_name:
            raise OptionError(_unknown_option(name, list(types_by_name)))
        wanted = types_by_name[name]
        is_one = isinstance(found, str) and _is_names(wanted)
        value = (found,) if is_one else found
        if not fits_type(value, wanted):
            words = type_in_words(wanted)
            raise OptionError(f"{name} must be {words}, not {value!r}")
        is_several = isinstance(value, Iterable) and get_origin(wanted) is tuple
        values[name] = tuple(value) if is_several else value
    return kind(**values)


def with_own_names(given: Mapping[str, Any], known: Container[str]) -> dict[str, Any]:
    """Return arguments by their names in `known`, where they are given by other names.

    Raises `OptionError` for an argument that is given by both.
    """
    named: dict[str, Any] = {}
    for name, value in given.items():
        other = OTHER_NAMES.get(name)
        own = other if name not in known and other in known else name
        if own in named or (own != name and own in given):
            raise OptionError(f"{name} and {own} are one option; give one of them")
        named[cast("str", own)] = value
    return named


def _unknown_option(name: str, known: list[str]) -> str:
    instead = f"; use {INSTEAD[name]}" if name in INSTEAD else hint_on(name, known)
    return f"there is no option {name}{instead}"


def _is_names(wanted: Any) -> bool:
    """Return whether a type is that of several texts, of which one may be given."""
    return get_origin(wanted) is tuple and get_args(wanted)[0] is str


def fits_type(value: Any, wanted: Any) -> bool:
    """Return whether a value is of a type; true for types that are not compared."""
    origin = get_origin(wanted)
    if origin in {Union, types.UnionType}:
        return any(fits_type(value, member) for member in get_args(wanted))
    if origin is Literal:
        return value in get_args(wanted)
    if origin is tuple:
        items = isinstance(value, (tuple, list, set, frozenset))
        return items and all(fits_type(item, get_args(wanted)[0]) for item in value)
    if wanted in {int, float} and isinstance(value, bool):
        return False
    kind = (int, float) if wanted is float else origin or wanted
    return not isinstance(kind, (type, tuple)) or isinstance(value, kind)


def type_in_words(wanted: Any) -> str:
    """Return the words for the values of a type."""
    origin = get_origin(wanted)
    if origin in {Union, types.UnionType}:
        words = [type_in_words(member) for member in get_args(wanted)]
        return " or ".join(dict.fromkeys(words))
    if origin is Literal:
        return ", ".join(map(repr, get_args(wanted)))
    if isinstance(wanted, type) and issubclass(wanted, str) and wanted is not str:
        return ", ".join(repr(str(member)) for member in wanted)  # type: ignore[attr-defined]  # an enum
    return _words.get(origin or wanted, getattr(wanted, "__name__", str(wanted)))
