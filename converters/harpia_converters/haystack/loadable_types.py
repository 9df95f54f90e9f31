"""Tell whether Haystack can load the type of an input from its text."""

import ast
import builtins
import collections
import collections.abc
import typing
from types import ModuleType
from typing import Any, Final

#: A class of another package, which is not imported here.
_FOREIGN: Final = object()
_literals: dict[str, Any] = {
    "None": None,
    "NoneType": type(None),
    "...": ...,
    "Ellipsis": ...,
}
#: The modules whose names are resolved; only their types are loaded.
_modules: dict[str, ModuleType] = {
    "builtins": builtins,
    "collections": collections,
    "collections.abc": collections.abc,
    "typing": typing,
}
#: Levels of brackets in a type, at most.
_DEPTH = 50


class _NotLoadable(Exception):  # noqa: N818 - an answer, not an error
    """A name or an expression that Haystack's loader refuses."""


def is_loadable_type(text: str) -> bool:
    """Return whether Haystack loads the type `text`, such as `list[str]`.

    True for classes of packages that are not known here. Source: `deserialize_type` in
    haystack-ai 3.4.
    """
    if text.count("[") > _DEPTH:
        return False
    try:
        _resolved(text)
    except _NotLoadable:
        return False
    return True


def _resolved(text: str) -> Any:
    """Return the type that `text` names. Raises `_NotLoadable`."""
    if text in _literals:
        return _literals[text]
    alternatives = _split(text, "|")
    if len(alternatives) > 1:
        for alternative in alternatives:
            _resolved(alternative)
        return _FOREIGN
    if "[" in text and text.endswith("]"):
        name, _, inner = text[:-1].partition("[")
        return _with_arguments(_resolved(name), inner)
    return _named(text)


def _with_arguments(main: Any, inner: str) -> Any:
    """Return the generic type `main` with the arguments in the text `inner`."""
    if main is typing.Literal:
        try:
            return typing.Literal[ast.literal_eval(f"({inner},)")]
        except (ValueError, SyntaxError) as error:
            raise _NotLoadable from error
    arguments = [_argument(part) for part in _split(inner, ",")]
    if not arguments:
        raise _NotLoadable
    if main is _FOREIGN or any(argument is _FOREIGN for argument in arguments):
        return _FOREIGN
    try:
        return main[tuple(arguments) if len(arguments) > 1 else arguments[0]]
    except (TypeError, AttributeError) as error:
        raise _NotLoadable from error


def _argument(text: str) -> Any:
    """Return an argument of a generic type: a type, or a list of types."""
    if text.startswith("[") and text.endswith("]"):
        return [_resolved(part) for part in _split(text[1:-1], ",")]
    return _resolved(text)


def _named(text: str) -> Any:
    """Return what a name without brackets names. Raises `_NotLoadable`."""
    module, _, name = text.rpartition(".")
    parts = text.split(".")
    if not all(part.isidentifier() for part in parts) or name.startswith("__"):
        raise _NotLoadable
    if module and module not in _modules:
        return _FOREIGN
    owners = [_modules[module]] if module else [builtins, typing]
    for owner in owners:
        if hasattr(owner, name):
            found = getattr(owner, name)
            if owner is builtins and not isinstance(found, type):
                raise _NotLoadable
            return found
    raise _NotLoadable


def _split(text: str, separator: str) -> list[str]:
    """Return the parts of `text` between separators outside of brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == separator and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
    last = text[begin:].strip()
    return [*parts, last] if last else parts
