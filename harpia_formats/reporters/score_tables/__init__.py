"""Tables of scores that are published, in several forms."""

from collections.abc import Iterator
from importlib import import_module
from typing import Literal, get_args

from harpia_formats.model.result import Result

#: The values of `--output-format`, in the order of the help.
Form = Literal["table", "json", "csv", "markdown", "latex"]
FORMS: tuple[str, ...] = get_args(Form)
#: The table for people in a terminal, which the command line writes.
TABLE: Form = "table"
CSV: Form = "csv"
#: The module of each other form, and its function that yields the lines of a result.
_functions: dict[str, tuple[str, str]] = {
    "json": ("plain_forms", "json_lines"),
    CSV: ("plain_forms", "csv_lines"),
    "markdown": ("markup_forms", "markdown_lines"),
    "latex": ("markup_forms", "latex_lines"),
}


def form_lines(result: Result, form: str, *, csv_safe: bool = False) -> Iterator[str]:
    """Yield the lines of a result in one of `FORMS` but `TABLE`.

    With `csv_safe` texts of CSV that a spreadsheet would run get a mark. But for JSON
    nothing is yielded for a result without scores of its whole input.
    """
    module, function = _functions[form]
    lines_of = getattr(import_module(f"{__name__}.{module}"), function)
    lines: Iterator[str] = lines_of(result, csv_safe=csv_safe)
    return lines
