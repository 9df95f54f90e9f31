"""Take rows that a program has in memory as an input, beside files and bytes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, isinf
from typing import TYPE_CHECKING, Any, cast

from harpia_formats.api.python_api.make_options import with_own_names
from harpia_formats.api.python_api.tables import is_table, table_input, table_of_rows
from harpia_formats.files.io.inputs import Input as FileInput
from harpia_formats.files.io.source import Source
from harpia_formats.model.errors import OptionError
from harpia_formats.model.text.describe import path_text

if TYPE_CHECKING:  # it describes the arguments of more functions than the caller needs
    from harpia_formats.api.python_api.arguments import Input

#: The name of rows in memory in reports.
ROWS = "<rows>"


def file_inputs(inputs: "Iterable[Input]") -> list[FileInput]:
    """Return `inputs` with a file of lines in the place of each object or list of them.

    Raises `OptionError` for rows that JSON cannot hold.
    """
    return [_file_input(given) for given in inputs]


def with_mapped_format(
    inputs: Sequence[FileInput], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options of a validation with the format whose columns they map.

    It is the one of `inputs` if no format is named. Raises `ConversionError` for inputs
    whose columns or keys cannot be mapped.
    """
    given = with_own_names(options, ("format", "columns"))
    is_named = given.get("format") is not None or given.get("schema") is not None
    if is_named or not given.get("columns"):
        return given
    from harpia_formats.formats.detection.mapped_format import require_mapped_format  # noqa: PLC0415 - only for a map

    return {**given, "format": require_mapped_format(inputs)}


def _file_input(given: "Input") -> FileInput:
    if is_table(given):
        return table_input(given)
    if isinstance(given, Mapping):
        return Source(ROWS, _line(1, given))
    is_list = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    if not is_list:
        return cast("FileInput", given)
    rows = cast("Sequence[Any]", given)
    if _are_table_rows(rows):
        # In a table a null is an absent field; in a row of JSON it is a value.
        return table_input(table_of_rows(rows))
    lines = (_line(number, row) for number, row in enumerate(rows, 1))
    return Source(ROWS, b"".join(lines))


def _are_table_rows(rows: Sequence[Any]) -> bool:
    """Tell whether rows are those of a table that `to_table` returned."""
    if not (rows and isinstance(rows[0], Mapping) and "id_type" in rows[0]):
        return False
    from harpia_formats.files.arrow.record_layout import COLUMNS  # noqa: PLC0415 - only tables need it

    return all(isinstance(row, Mapping) and [*row] == [*COLUMNS] for row in rows)


def _line(number: int, row: Any) -> bytes:
    """Return a row as a line of JSON; raises `OptionError` with the row's number."""
    where = f"row {number:,} of the list"
    if not isinstance(row, Mapping):
        hint = "; pass files one by one" if isinstance(row, (str, bytes)) else ""
        raise OptionError(f"{where} is {row!r:.80}, not an object{hint}")
    try:
        _check_keys(row)
        _check_numbers(row)
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionError(f"{where} cannot be written as JSON: {error}") from error


def _check_numbers(value: Any, path: tuple[str | int, ...] = ()) -> None:
    """Raise `ValueError` for a number that JSON has not, with the path of its key."""
    if isinstance(value, float) and not isfinite(value):
        hint = "" if isinf(value) else "; write None where there is no value"
        raise ValueError(f"{path_text(path)} is {value!r}, which JSON has not{hint}")
    if isinstance(value, Mapping):
        for key, member in value.items():
            _check_numbers(member, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check_numbers(item, (*path, index))


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
