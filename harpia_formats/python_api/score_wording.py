"""Errors of scoring that name Python arguments, such as `stored=True`, not options.

Every message is written for the command line. The functions of `harpia_formats` replace
the options in it by their arguments.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harpia_formats.model.errors import HarpiaFormatsError

#: Options without a value.
_FLAGS = "force redact skip-unknown stored".split()
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


_RULES: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    # What only the command line has.
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


def with_score_arguments(message: str) -> str:
    """Return a message with the Python argument in place of each option."""
    if "--" not in message:
        return message
    from harpia_formats.conversion.python_wording import with_arguments  # noqa: PLC0415 - few errors need it

    for pattern, replacement in _RULES:
        message = pattern.sub(replacement, message)
    return with_arguments(message)


@contextmanager
def errors_with_score_arguments() -> Iterator[None]:
    """Reword the errors that are raised inside, so that they name Python arguments.

    The same exceptions are raised again.
    """
    try:
        yield
    except HarpiaFormatsError as error:
        if error.args == (str(error),):
            error.args = (with_score_arguments(str(error)),)
        raise
