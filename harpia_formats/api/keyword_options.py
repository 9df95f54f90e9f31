"""Options from the keyword arguments of Python functions, and texts that name these."""

import os
import re
import types
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from harpia_formats.api import options as table
from harpia_formats.api.options import INSTEAD, OPTIONS, Option
from harpia_formats.model.problem import HarpiaFormatsError, OptionError, Problem
from harpia_formats.model.spelling import hint_on

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


_Item = TypeVar("_Item")
#: What errors hold that is no text for people.
_KEPT = frozenset({"path", "name", "asked"})
#: The fields of results that have such texts, or hold values that have them.
_TEXTS_OF_RESULTS = frozenset(
    "failures files nearest notes problems reason report said why".split()
)

#: The argument for `--from`, in functions that call it `from_` and in the others.
_FROM, _FORMAT = "from_", "format"
_FROM_ALONE = re.compile(r'(?<![\w"])from_(?!\w)')
#: The functions that call it `format`.
_OF_FORMAT = frozenset(
    name for one in OPTIONS if one.field == _FORMAT for name in one.all_functions()
)
#: The options that functions have, by their long names on the command line.
_BY_WORD = {
    word.removeprefix("--"): one
    for one in reversed(OPTIONS)
    if one.all_functions()
    for word in one.all_words()
    if word.startswith("--")
}
_WORD = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?![\w-])")
#: Options in a message, with what is typed before and behind them.
_SPAN = re.compile(r"`(NAME=FILE|(?:[a-z]+ )*--[^`]+)`")
_END = r"(?![\w-])"
#: Values that messages show behind an option, by its kind or by what it lists.
_values = {
    table.DELIMITER: r"'([^'])'|tab\b",
    table.MAP: r"(\w+)=(COLUMN|KEY)(?=[,;.]?(?:\s|$))|'[^']*'|\w+=[^\s;']*[^\s;',]",
    table.METRICS: r"[^\s,;]+(?:,[^\s,;]+)+",
    table.NAMES: r"[^\s,;]+(?:,[^\s,;]+)+",
    table.PARAMETERS: r"[^\s=]+=[^\s;]+",
    table.WORKERS: rf"\d+{_END}",
    "filling metrics": rf"(?:em|f1){_END}",
    "formats": r"(?:[a-z]+(?:[-@][a-z0-9.]*[a-z0-9])+"
    r"|\w+-csv|csv|json|parquet|record|harpia|helm)\b",
    "written formats": rf"[\w@.-]+{_END}",
    "tests": rf"\w+{_END}",
}
#: The same for single options.
_values_of = {"group": r"\w+\b", "model": rf"NAME{_END}"}
_CONSTANT = r"--set (\S+?)=(?:VALUE|NAME)(?![\w-])"
_CONSTANTS = re.compile(rf"{_CONSTANT}(?:(?:, | and ){_CONSTANT})*")
#: What only the command line has: parts of messages, and what is said in Python.
_WITHOUT = (
    (re.compile(r"read it with --encoding \S+, or convert"), "convert"),
    (re.compile(r", or the definition of the judge with --definition"), ""),
    (re.compile(r"; if it is data, write a preflight file for it with --init"), ""),
    (re.compile(r"(?<![\w-])--fix(?![\w-])"), "fix()"),
    (re.compile(r"validate --unsafe-fixes"), "fix(unsafe=True)"),
    (re.compile(r"--to/-t"), "to"),
    (re.compile(r"NAME=FILE"), "systems={FILE: NAME}"),
)
#: Two arguments, without the comma between them.
_NEIGHBOURS = re.compile(r'(?<=") (?=(?:columns|delimiter)=)')
_AGREEMENT = re.compile(r"score agreement --field (\S+)")


def with_score_arguments(message: str, source: str = _FROM) -> str:
    """Return a message with the Python argument in place of each option.

    `source` is the argument for the format of the inputs.
    """
    if "--" not in message:
        return message
    message = _SPAN.sub(r"\1", message)
    for pattern, instead in _WITHOUT:
        message = pattern.sub(instead, message)
    message = _AGREEMENT.sub(_agreement, message)
    message = _CONSTANTS.sub(_mapping, message)
    parts, end = [], 0
    for found in _WORD.finditer(message):
        option = _BY_WORD.get(found[1])
        if option is not None and found.start() >= end:
            # `--format` and `--from` are one option, and both are arguments.
            name = _FROM if option.field == _FORMAT else option.field
            name = _FORMAT if found[1] == _FORMAT else name
            text, length = _argument(option, name, message[found.end() :])
            parts += [message[end : found.start()], text]
            end = found.end() + length
    message = _NEIGHBOURS.sub(", ", "".join([*parts, message[end:]]))
    return message if source == _FROM else _FROM_ALONE.sub(source, message)


def _argument(option: Option, name: str, behind: str) -> tuple[str, int]:
    """Return the argument for an option, and how much of the text behind is in it."""
    if option.kind == table.FLAG:
        return f"{name}=True", 0
    pattern = _values_of.get(option.field) or _values.get(option.kind)
    pattern = pattern or _values.get(option.values)
    if option.choices:
        pattern = rf"(?:{'|'.join(option.choices.split())}){_END}"
    value = re.compile(pattern).match(behind, 1) if pattern else None
    if value is None or not behind.startswith(" "):
        return name, 0
    return f"{name}={_shown(option, value)}", value.end()


def _shown(option: Option, found: re.Match[str]) -> str:
    """Return the value of an option as Python writes it."""
    value = found[0].strip("'")
    if option.kind == table.MAP:
        pairs = [pair.partition("=") for pair in value.split(",")]
        if found[2]:
            return f'{{"{found[1]}": {found[2]}}}'
        members = ", ".join(f'"{name}": "{key}"' for name, _, key in pairs)
        return f"{{{members}}}"
    if option.kind == table.PARAMETERS:
        name, _, value = value.partition("=")
        return f'{{"{name}": {_listed(value) if "," in value else value}}}'
    if option.kind == table.WORKERS:
        return value
    return _listed(value) if "," in value else f'"{value}"'


def _listed(names: str) -> str:
    quoted = (f'"{name}"' for name in names.split(","))
    return f"[{', '.join(quoted)}]"


def _agreement(found: re.Match[str]) -> str:
    return f"score_agreement with fields={_listed(found[1])}"


def _mapping(found: re.Match[str]) -> str:
    """Return the argument for one or several options `--set FIELD=VALUE`."""
    fields = re.findall(_CONSTANT, found[0])
    members = ", ".join(f'"{field}": VALUE' for field in fields)
    return f"constants={{{members}}}"


@contextmanager
def errors_with_score_arguments(source: str = _FROM) -> Iterator[None]:
    """Reword the errors that are raised inside, so that they name Python arguments.

    The same exceptions are raised again.
    """
    try:
        yield
    except HarpiaFormatsError as error:
        error.args = tuple([reworded(each, source) for each in error.args])
        for name, value in vars(error).items():
            if name not in _KEPT:
                setattr(error, name, reworded(value, source))
        raise


def reworded(value: Any, source: str = _FROM) -> Any:
    """Return a result with Python arguments in its texts, in place of options.

    Messages of problems are left as they are: they have texts of the data.
    """
    if isinstance(value, str):
        return with_score_arguments(value, source)
    if isinstance(value, Problem):
        help_ = with_score_arguments(value.help, source)
        return value if help_ == value.help else replace(value, help=help_)
    if type(value) in {tuple, list}:
        items = [reworded(each, source) for each in value]
        is_same = all(new is old for new, old in zip(items, value, strict=True))
        return value if is_same else type(value)(items)
    is_result = is_dataclass(value) and not isinstance(value, type)
    return _reworded_result(value, source) if is_result else value


def _reworded_result(value: Any, source: str) -> Any:
    """Return a dataclass, the same if it can change, with Python arguments in it."""
    changed = {}
    for field in fields(value):
        if field.name in _TEXTS_OF_RESULTS:
            old = getattr(value, field.name)
            new = reworded(old, source)
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
    """Call a public function; its result and its errors name arguments, not options."""
    source = _FORMAT if function.__name__ in _OF_FORMAT else _FROM
    with errors_with_score_arguments(source):
        return reworded(function(*given, **named), source)


def in_words(items: Iterable[_Item]) -> Generator[_Item, None, None]:
    """Yield `items`; an error in between names arguments of `read`, not options."""
    with errors_with_score_arguments(_FORMAT):
        yield from items
