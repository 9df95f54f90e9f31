"""What sentences say of options, as a program says it: `overwrite=True`.

Sentences name options as the command line has them, wherever they are made. Here alone
they are put into the words of a call, at the edge to programs.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from harpia_formats.io.sink import SinkError
from harpia_formats.mapping.requirements import ConversionError

#: Options that are there or not.
_flags = ("overwrite", "prefix-ids", "keep-extra")
#: Options that a sentence may give a value, and what such a value looks like.
_valued = {
    "score": r"em|f1",
    "group": r"\w+",
    "turns": r"last|transcript",
    "responses": r"expand|first|list",
    "references": r"expand|first",
    "on-invalid": r"fail|skip|quarantine",
    "from": r"csv",
    "to": r"csv",
}
#: Options that are called otherwise in a call.
_names = {
    "from": "from_",
    "map": "columns",
    "on-invalid": "on_invalid",
    "set": "constants",
}
_all = (*_flags, *_valued, "map", "set", "quarantine", "model", "max-row-bytes")

_constant = r"--set (\S+?)=VALUE"
_constants = re.compile(rf"{_constant}(?:(?:, | and ){_constant})*")
_of_values = [
    (re.compile(rf"--{name} ({value})\b"), name) for name, value in _valued.items()
]
_bare = re.compile(rf"(?<![\w-])--({'|'.join(map(re.escape, _all))})(?![\w-])")


def in_python(sentence: str) -> str:
    """Return `sentence` with its options as those of a call."""
    if "--" not in sentence:
        return sentence
    told = _constants.sub(_as_mapping, sentence)
    for pattern, name in _of_values:
        told = pattern.sub(rf'{_names.get(name, name)}="\1"', told)
    return _bare.sub(_as_argument, told)


def _as_mapping(found: re.Match[str]) -> str:
    fields = re.findall(_constant, found[0])
    members = ", ".join(f'"{each}": VALUE' for each in fields)
    return f"constants={{{members}}}"


def _as_argument(found: re.Match[str]) -> str:
    name = _names.get(found[1], found[1].replace("-", "_"))
    return f"{name}=True" if found[1] in _flags else name


@contextmanager
def speaking_python() -> Iterator[None]:
    """Put the sentences of errors that pass into the words of a call."""
    try:
        yield
    except ConversionError as error:
        error.args = (in_python(str(error)),)
        raise
    except SinkError as error:
        error.reason = in_python(error.reason)
        error.args = (error.path, error.reason)
        raise
