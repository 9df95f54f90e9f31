"""Texts for Python that name arguments, such as `stored=True`, and no options.

Every message is written for the command line. The functions of `harpia_formats` replace
the options in it by their arguments.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any, TypeVar

from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.problem import Problem

_Item = TypeVar("_Item")
#: Parameters of the public functions that are no options.
_PARAMETERS = ("output", "recipe", "to", "via")
#: What errors hold that is no text for people.
_KEPT = frozenset({"path", "name", "asked"})
#: The fields of results that have such texts, or hold values that have them.
_TEXTS_OF_RESULTS = frozenset(
    "failures files nearest notes problems reason report said why".split()
)

#: The argument for `--from`, in functions that call it `from_` and in the others.
_FROM, _FORMAT = "from_", "format"
_FROM_ALONE = re.compile(r'(?<![\w"])from_(?!\w)')
#: The arguments of functions that call it `format`.
_OF_VALIDATION = "Unpack[ValidateArguments]"

#: Options without a value.
_FLAGS = "force pool redact skip-unknown stored".split()
#: Options whose value is a text, with the pattern of it.
_TEXTS = {
    "missing": "skip|zero",
    "model": "NAME",
    "test": r"\w+",
    "to": r"[\w@.-]+",
}
#: Options that messages show alone, too, whose argument has another name or the same.
_ALONE = {
    "field": "fields",
    "name": "names",
    "param": "parameters",
    **{name: name for name in "by config labels metrics output profile".split()},
    **{name: name for name in _TEXTS},
}


def _listed(names: str) -> str:
    quoted = (f'"{name}"' for name in names.split(","))
    return f"[{', '.join(quoted)}]"


def _parameter(found: re.Match[str]) -> str:
    value = _listed(found[2]) if "," in found[2] else found[2]
    return f'parameters={{"{found[1]}": {value}}}'


def _text(found: re.Match[str]) -> str:
    return f'{_ALONE[found[1]]}="{found[2]}"'


#: Any other option, as it is named in a sentence.
_ANY = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?![\w-])")
_RULES: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    # What only the command line has.
    (re.compile("NAME=FILE"), lambda _: "systems={FILE: NAME}"),
    (re.compile(", or the definition of the judge with --definition"), lambda _: ""),
    (
        re.compile(r"score agreement --field (\S+)"),
        lambda found: f"score_agreement with fields={_listed(found[1])}",
    ),
    (re.compile(r"--param (\S+?)=([^\s;]+)"), _parameter),
    (
        re.compile(r"--(labels|metrics) ([^\s,;]+(?:,[^\s,;]+)+)"),
        lambda found: f"{found[1]}={_listed(found[2])}",
    ),
    *(
        (re.compile(rf"(?<![\w-])--({name}) ({pattern})(?![\w-])"), _text)
        for name, pattern in _TEXTS.items()
    ),
    (
        re.compile(rf"(?<![\w-])--({'|'.join(_FLAGS)})(?![\w-])"),
        lambda found: f"{found[1].replace('-', '_')}=True",
    ),
    (
        re.compile(rf"(?<![\w-])--({'|'.join(_ALONE)})(?![\w-])"),
        lambda found: _ALONE[found[1]],
    ),
]


def with_score_arguments(message: str, source: str = _FROM) -> str:
    """Return a message with the Python argument in place of each option.

    `source` is the argument for the format of the inputs.
    """
    if "--" not in message:
        return message
    from harpia_formats.conversion.python_wording import with_arguments  # noqa: PLC0415 - few errors need it

    for pattern, replacement in _RULES:
        message = pattern.sub(replacement, message)
    message = _ANY.sub(_any_argument, with_arguments(message))
    return message if source == _FROM else _FROM_ALONE.sub(source, message)


def _any_argument(found: re.Match[str]) -> str:
    """Return the argument for an option that no rule above knows.

    A word that is no argument of any function is returned as it is.
    """
    from harpia_formats.api.python_api import arguments  # noqa: PLC0415 - few errors need it
    from harpia_formats.api.python_api.make_options import OTHER_NAMES  # noqa: PLC0415 - few errors need it

    types: dict[str, Any] = dict.fromkeys(_PARAMETERS)
    for group in vars(arguments).values():
        if getattr(group, "__total__", None) is not None:
            types.update(group.__annotations__)
    name = found[1].replace("-", "_")
    name = name if name in types else OTHER_NAMES.get(name, "")
    wanted = types.get(name)
    is_flag = getattr(wanted, "__forward_arg__", wanted) in {"bool", bool}
    return f"{name}=True" if is_flag else name or found[0]


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
    annotations = function.__annotations__
    has_format = _FORMAT in annotations or annotations.get("options") == _OF_VALIDATION
    source = _FORMAT if has_format else _FROM
    with errors_with_score_arguments(source):
        return reworded(function(*given, **named), source)


def in_words(items: Iterable[_Item]) -> Generator[_Item, None, None]:
    """Yield `items`; an error in between names arguments of `read`, not options."""
    with errors_with_score_arguments(_FORMAT):
        yield from items
