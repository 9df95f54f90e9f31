"""Take rows that a program has in memory as an input, beside files and bytes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from harpia_formats.io.inputs import Input as FileInput
from harpia_formats.io.source import Source
from harpia_formats.model.errors import OptionError
from harpia_formats.python_api.tables import is_table, table_input

if TYPE_CHECKING:  # it describes the arguments of more functions than the caller needs
    from harpia_formats.python_api.arguments import Input

#: The name of rows in memory in reports.
ROWS = "<rows>"


def file_inputs(inputs: "Iterable[Input]") -> list[FileInput]:
    """Return `inputs` with a file of lines in the place of each object or list of them.

    Raises `OptionError` for rows that JSON cannot hold.
    """
    return [_file_input(given) for given in inputs]


def _file_input(given: "Input") -> FileInput:
    if is_table(given):
        return table_input(given)
    if isinstance(given, Mapping):
        return Source(ROWS, _line(1, given))
    is_list = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    if not is_list:
        return cast("FileInput", given)
    rows = enumerate(cast("Sequence[Any]", given), 1)
    return Source(ROWS, b"".join(_line(number, row) for number, row in rows))


def _line(number: int, row: Any) -> bytes:
    """Return a row as a line of JSON; raises `OptionError` with the row's number."""
    where = f"row {number:,} of the list"
    if not isinstance(row, Mapping):
        hint = "; pass files one by one" if isinstance(row, (str, bytes)) else ""
        raise OptionError(f"{where} is {row!r:.80}, not an object{hint}")
    try:
        _check_keys(row)
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionError(f"{where} cannot be written as JSON: {error}") from error


def _check_keys(value: Any) -> None:
    """Raise `TypeError` for a key that is no text, which JSON would make one."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
            _check_keys(member)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_keys(item)
