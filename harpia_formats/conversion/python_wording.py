"""Messages that name Python arguments, such as `overwrite=True`, instead of options.

Every message is written for the command line and names options, such as
`--overwrite`. The functions of `harpia_formats` replace them by their arguments.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from harpia_formats.conversion.mapping.choices import (
    Prompt,
    ReferenceFrom,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.options import FILLING_METRICS, Ids, OnInvalid
from harpia_formats.files.io.sink import SinkError
from harpia_formats.model.errors import ConversionError

#: Options without a value.
_FLAGS = ("overwrite", "prefix-ids", "keep-extra", "csv-safe")
#: Options that a message may show with a value, and the pattern of such a value.
_VALUES = {
    "score": "|".join(FILLING_METRICS),
    "group": r"\w+",
    "ids": "|".join(Ids),
    "turns": "|".join(Turns),
    "prompt": "|".join(Prompt),
    "responses": "|".join(Responses),
    "references": "|".join(References),
    "reference-from": "|".join(ReferenceFrom),
    "on-invalid": "|".join(OnInvalid),
    "from": r"(?:\w+-)?csv",
    "format": r"[a-z]+(?:[-@][a-z0-9.]*[a-z0-9])+|csv|json|parquet|record|harpia|helm",
    "to": "csv",
}
#: Options whose argument has another name.
_ARGUMENTS = {
    "from": "from_",
    "map": "columns",
    "correct-from": "correct_from",
    "on-invalid": "on_invalid",
    "reference-from": "reference_from",
    "set": "constants",
}
_OPTIONS = (
    *_FLAGS,
    *_VALUES,
    "map",
    "set",
    "quarantine",
    "model",
    "filter",
    "metric",
    "correct-from",
    "delimiter",
    "max-row-bytes",
)

_CONSTANT = r"--set (\S+?)=VALUE"
_CONSTANTS = re.compile(rf"{_CONSTANT}(?:(?:, | and ){_CONSTANT})*")
#: A map that shows where a name is to be written, at the end of a part of a sentence.
_COLUMN = re.compile(r"--map (\w+)=(COLUMN|KEY)(?=[,;.]?(?:\s|$))")
#: A whole map, in quotes if a name has a space.
_MAP = re.compile(r"--map (?:'([^']*)'|(\w+=[^\s;']*[^\s;',]))")
_DELIMITER = re.compile(r"--delimiter (?:'([^'])'|(tab)\b)")
#: Two arguments, without the comma between them.
_NEIGHBOURS = re.compile(r'(?<=") (?=(?:columns|delimiter)=)')
_WITH_VALUE = [
    (re.compile(rf"--{name} ({value})\b"), name) for name, value in _VALUES.items()
]
_ALONE = re.compile(rf"(?<![\w-])--({'|'.join(map(re.escape, _OPTIONS))})(?![\w-])")


def with_arguments(message: str) -> str:
    """Return `message` with the Python argument in place of each option."""
    if "--" not in message:
        return message
    reworded = _CONSTANTS.sub(_mapping, message.replace("--to/-t", "to"))
    reworded = _COLUMN.sub(r'columns={"\1": \2}', reworded)
    reworded = _MAP.sub(_columns, reworded)
    reworded = _DELIMITER.sub(_delimiter, reworded)
    for pattern, name in _WITH_VALUE:
        reworded = pattern.sub(rf'{_ARGUMENTS.get(name, name)}="\1"', reworded)
    reworded = _NEIGHBOURS.sub(", ", reworded)
    return _ALONE.sub(_argument, reworded)


def _columns(found: re.Match[str]) -> str:
    """Return the argument for an option `--map FIELD=COLUMN,...`."""
    pairs = [pair.partition("=") for pair in (found[1] or found[2]).split(",")]
    members = ", ".join(f'"{name}": "{key}"' for name, _, key in pairs)
    return f"columns={{{members}}}"


def _delimiter(found: re.Match[str]) -> str:
    """Return the argument for an option `--delimiter ';'` or `--delimiter tab`."""
    return f'delimiter="{found[1] or found[2]}"'


def _mapping(found: re.Match[str]) -> str:
    """Return the argument for one or several options `--set FIELD=VALUE`."""
    fields = re.findall(_CONSTANT, found[0])
    members = ", ".join(f'"{field}": VALUE' for field in fields)
    return f"constants={{{members}}}"


def _argument(found: re.Match[str]) -> str:
    """Return the argument for an option without a value."""
    name = _ARGUMENTS.get(found[1], found[1].replace("-", "_"))
    return f"{name}=True" if found[1] in _FLAGS else name


@contextmanager
def errors_with_arguments() -> Iterator[None]:
    """Reword the errors that are raised inside, so that they name Python arguments.

    The same exceptions are raised again: `ConversionError` and `SinkError`.
    """
    try:
        yield
    except ConversionError as error:
        error.args = (with_arguments(str(error)),)
        raise
    except SinkError as error:
        error.reason = with_arguments(error.reason)
        error.args = (error.path, error.reason)
        raise
