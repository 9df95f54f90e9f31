"""Options from the keyword arguments of Python functions, and texts that name these."""

import json
import os
import re
import types
from collections.abc import (
    Callable,
    Container,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from functools import lru_cache
from numbers import Integral
from shlex import split
from sys import float_info
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from harpia_formats.api import options as table
from harpia_formats.api.options import FUNCTIONS, INSTEAD, OPTIONS, Option
from harpia_formats.model.problem import HarpiaFormatsError, OptionError, Problem
from harpia_formats.model.spelling import hint_on

_Options = TypeVar("_Options")
#: How the values of a type are called in messages.
_words: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    Integral: "a whole number",
    float: "a number",
    bool: "true or false",
    tuple: "several names",
    Sequence: "a list",
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
    """Return an instance of `kind`, a dataclass of options, with the `given` values.

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
        _check_type(name, value, wanted)
        is_several = isinstance(value, Iterable) and get_origin(wanted) is tuple
        values[name] = tuple(value) if is_several else value
    return kind(**values)


def with_own_names(given: Mapping[str, Any], known: Container[str]) -> dict[str, Any]:
    """Return arguments under the names that are `known`, in place of their other names.

    None is no value where the other name has one. Raises `OptionError` for an argument
    that has a value by both.
    """
    named: dict[str, Any] = {}
    for name in sorted(given, key=lambda name: name not in known):
        value, other = given[name], OTHER_NAMES.get(name)
        own = other if name not in known and other in known else name
        if value is None and own in named:
            continue
        if named.get(cast("str", own)) is not None:
            raise OptionError(f"{name} and {own} are one option; give one of them")
        named[cast("str", own)] = value
    return named


def _check_type(name: str, value: Any, wanted: Any) -> None:
    """Raise `OptionError` if the value of an argument is not of the type `wanted`."""
    if fits_type(value, wanted):
        return
    # Python writes no number of thousands of digits.
    is_beyond = isinstance(value, int) and abs(value) > float_info.max
    shown = "a whole number beyond all floats" if is_beyond else repr(value)
    raise OptionError(f"{name} must be {type_in_words(wanted)}, not {shown}")


def _unknown_option(name: str, known: list[str]) -> str:
    instead = INSTEAD.get(name, "")
    # A function may have neither the old option nor the new one.
    if instead and instead.partition("=")[0] in known:
        return f"there is no option {name}; use {instead}"
    return f"there is no option {name}{hint_on(name, known)}"


def _is_names(wanted: Any) -> bool:
    """Return whether a type is that of several texts, of which one may be given."""
    return get_origin(wanted) is tuple and get_args(wanted)[0] is str


def fits_type(value: Any, wanted: Any) -> bool:
    """Tell whether a value is of a type; true for types that are not compared."""
    origin = get_origin(wanted)
    if origin in {Union, types.UnionType}:
        return any(fits_type(value, member) for member in get_args(wanted))
    if origin is Literal:
        return value in get_args(wanted)
    if origin in {tuple, Sequence}:
        kinds = (tuple, list, set, frozenset) if origin is tuple else Sequence
        return isinstance(value, kinds) and all(
            fits_type(item, get_args(wanted)[0]) for item in value
        )
    if origin is Mapping:
        key, inner = get_args(wanted)
        return isinstance(value, Mapping) and all(
            fits_type(name, key) and fits_type(item, inner)
            for name, item in value.items()
        )
    if wanted in {int, float} and isinstance(value, int):
        is_held = wanted is int or abs(value) <= float_info.max
        return is_held and not isinstance(value, bool)
    kind = origin or wanted
    is_compared = isinstance(kind, (type, tuple)) and kind is not Any
    return not is_compared or isinstance(value, kind)


def type_in_words(wanted: Any) -> str:
    """Return a description of the values of a type."""
    origin = get_origin(wanted)
    if origin in {Union, types.UnionType}:
        words = [type_in_words(member) for member in get_args(wanted)]
        return " or ".join(dict.fromkeys(words))
    if origin is Literal:
        return ", ".join(map(repr, get_args(wanted)))
    if isinstance(wanted, type) and issubclass(wanted, str) and wanted is not str:
        return ", ".join(repr(str(member)) for member in wanted)  # type: ignore[attr-defined]  # an enum
    if origin is Mapping and get_args(wanted)[1] is str:
        return "a mapping to texts"
    return _words.get(origin or wanted, getattr(wanted, "__name__", str(wanted)))


_Item = TypeVar("_Item")
#: The types of the parameters of functions, by their annotations. Others are checked
#: where they are used.
_types_by_annotation: dict[str, Any] = {
    "bool": bool,
    "str": str,
    "str | None": str | None,
    "int | str": Integral | str,
    "float | None": float | None,
    "Path | Mapping[str, Any]": str | os.PathLike | Mapping,
}
#: What errors hold that is no text for people.
_KEPT = frozenset({"path", "name", "asked"})
#: The fields of results that have such texts, or hold values that have them.
_TEXTS_OF_RESULTS = frozenset(
    "failures files nearest notes problems reason report why".split()
)

#: What a message has in backquotes as it is typed: options, behind a command or alone.
_SPAN = re.compile(r"`(NAME=FILE|(?:[a-z]+ )*--[a-z][^`\n]*)`")
#: Spans that are no options in Python.
_OTHERWISE = {"--fix": "fix()", "NAME=FILE": "systems={FILE: NAME}"}
#: What has the options that no function has.
_COMMAND_LINE = "the command line"
#: The function whose arguments are named if that which is called does not have them.
_USUAL = "convert"
#: Words for values, which are no texts.
_PLACEHOLDERS = frozenset(
    "COLUMN FIELD FILE FORMAT KEY METRIC NAME NUMBER PATH PATTERN SCORE VALUE".split()
)
_MAPPINGS = {table.MAP, table.CONSTANTS, table.PAIRS, table.PARAMETERS}
_LISTS = {table.TEXTS, table.NAMES, table.METRICS}
_WITH_COMMAS = {table.MAP, table.NAMES, table.METRICS}
_NUMBERS = {table.WHOLE, table.NUMBER, table.WORKERS}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_by_word: dict[str, list[Option]] = {}
for _option in OPTIONS:
    for _word in _option.all_words():
        _by_word.setdefault(_word, []).append(_option)
_functions = [name for one in OPTIONS for name in one.all_functions()]


def rendered_for_python(message: str, function: str = _USUAL) -> str:
    """Return a message with Python arguments in place of the options in backquotes.

    They are those of `function`, or of a call if a command is before the options. What
    is in no backquotes, or is no option with a value of its kind, stays as it is.
    """
    if "`" not in message:
        return message
    return _SPAN.sub(lambda found: _rendered(found[1], function) or found[0], message)


@lru_cache(maxsize=1024)
def _rendered(span: str, function: str) -> str:
    """Return the arguments, or the call, that a span means, "" if it means none."""
    if span in _OTHERWISE:
        return _OTHERWISE[span]
    command, dashes, behind = span.partition("--")
    given: dict[str, list[str]] = {}
    try:
        for typed in re.split(r" (?=--)", dashes + behind):
            word, *values = split(typed)
            given.setdefault(word, []).extend(values)
        return _call("_".join(command.split()), given, function)
    except (LookupError, ValueError):  # no such option, or no value of it
        return ""


def _call(command: str, given: Mapping[str, list[str]], function: str) -> str:
    """Return the call for a command, or the arguments if it is "".

    Raises `LookupError` for unknown options, and `ValueError` for unfit values.
    """
    options = {
        word: [one for one in _by_word[word] if command in {"", *one.commands.split()}]
        for word in given
    }
    if not all(options.values()):
        raise LookupError(command)
    called = [
        name
        for name in FUNCTIONS.get(command, command).split()
        if all(_option_of([name], found) for found in options.values())
    ][:1]
    functions = called if command else [function, _USUAL, *_functions]
    chosen = {word: _option_of(functions, found) for word, found in options.items()}
    arguments = ", ".join(
        _argument(one, word, given[word]) for word, one in chosen.items() if one
    )
    if not all(chosen.values()):
        return _COMMAND_LINE
    return f"{called[0]}({arguments})" if called else arguments


def _option_of(functions: Iterable[str], options: Sequence[Option]) -> Option | None:
    """Return the option that a function has, of the first one that has any."""
    pairs = ((name, one) for name in functions for one in options)
    return next((one for name, one in pairs if name in one.all_functions()), None)


def _argument(option: Option, word: str, values: Sequence[str]) -> str:
    """Return an argument of a call, or its name alone if it has no value.

    Raises `ValueError` for values that the option does not take.
    """
    if option.kind == table.FLAG and not values:
        return f"{option.field}={not word.startswith('--no-')}"
    if not values:
        return option.field
    if option.kind in _WITH_COMMAS:
        values = [part for value in values for part in value.split(",")]
    if option.kind in _MAPPINGS:
        pairs = (value.split("=", 1) for value in values)
        members = [f"{_key(name)}: {_literal(one, option)}" for name, one in pairs]
        return f"{option.field}={{{', '.join(members)}}}"
    literals = [_literal(value, option) for value in values]
    if option.kind in _LISTS:
        return f"{option.field}=[{', '.join(literals)}]"
    (literal,) = literals
    return f"{option.field}={literal}"


def _key(text: str) -> str:
    """Return the key of a mapping as Python writes it: a name of the data, or FIELD."""
    return text if text == "FIELD" else json.dumps(text, ensure_ascii=False)


def _literal(text: str, option: Option | None = None) -> str:
    """Return a value as Python writes it; raises `ValueError` if it is unfit."""
    kind = option.kind if option else table.TEXT
    if text in _PLACEHOLDERS or (kind in _NUMBERS and _NUMBER.fullmatch(text)):
        return text
    choices = option.choices.split() if option else ()
    if kind in {*_NUMBERS, table.FLAG} or (choices and text not in choices):
        raise ValueError(text)
    if kind == table.PARAMETERS and "," in text:
        return f"[{', '.join(map(_literal, text.split(',')))}]"
    if kind == table.PARAMETERS:
        with suppress(ValueError):  # as on the command line: JSON, or else text
            return repr(json.loads(text))
    return json.dumps(text, ensure_ascii=False)


@contextmanager
def errors_for_python(function: str) -> Iterator[None]:
    """Reword the errors raised inside, so that they name arguments of a function.

    The same exceptions are raised again.
    """
    try:
        yield
    except HarpiaFormatsError as error:
        error.args = tuple([reworded(each, function) for each in error.args])
        for name, value in vars(error).items():
            if name not in _KEPT:
                setattr(error, name, reworded(value, function))
        raise


def reworded(value: Any, function: str) -> Any:
    """Return a result with arguments of a function in its texts, in place of options.

    Messages of problems are left as they are: they have texts of the data.
    """
    if isinstance(value, str):
        return rendered_for_python(value, function)
    if isinstance(value, Problem):
        help_ = rendered_for_python(value.help, function)
        return value if help_ == value.help else replace(value, help=help_)
    if type(value) in {tuple, list}:
        items = [reworded(each, function) for each in value]
        is_same = all(new is old for new, old in zip(items, value, strict=True))
        return value if is_same else type(value)(items)
    is_result = is_dataclass(value) and not isinstance(value, type)
    return _reworded_result(value, function) if is_result else value


def _reworded_result(value: Any, function: str) -> Any:
    """Return a dataclass, the same if it can change, with Python arguments in it."""
    changed = {}
    for field in fields(value):
        if field.name in _TEXTS_OF_RESULTS:
            old = getattr(value, field.name)
            new = reworded(old, function)
            if new is not old:
                changed[field.name] = new
    if not changed:
        return value
    with suppress(FrozenInstanceError):
        for name, new in changed.items():
            setattr(value, name, new)
        return value
    return replace(value, **changed)


def in_python_words(
    function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """Call a public function; its result and its errors name arguments, not options.

    Raises `OptionError` for an argument that is not of the type of its parameter.
    """
    name = function.__name__
    with errors_for_python(name):
        places = function.__code__.co_varnames[: function.__code__.co_argcount]
        for each, value in (*zip(places, given, strict=False), *named.items()):
            # An alias has the type of the parameter whose other name it is.
            known = function.__annotations__
            wanted = known.get(each) or known.get(OTHER_NAMES.get(each, ""), "")
            _check_type(each, value, _types_by_annotation.get(wanted, object))
        return reworded(function(*given, **named), name)


def in_words(items: Iterable[_Item]) -> Generator[_Item, None, None]:
    """Yield `items`; an error meanwhile names arguments of `read`, not options."""
    with errors_for_python("read"):
        yield from items
