"""Tables of scores that are published: one module for each form."""

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
#: The module of each other form. Each has a function `lines` that yields the lines of a
#: result.
_modules: dict[str, str] = {
    "json": "json_form",
    CSV: "csv_form",
    "markdown": "markdown",
    "latex": "latex",
}


def form_lines(result: Result, form: str, *, csv_safe: bool = False) -> Iterator[str]:
    """Yield the lines of a result in one of `FORMS` but `TABLE`.

    With `csv_safe` texts of CSV that a spreadsheet would run get a mark. But for JSON
    nothing is yielded for a result without scores of its whole input.
    """
    module = import_module(f"{__name__}.{_modules[form]}")
    lines: Iterator[str] = module.lines(result, csv_safe=csv_safe)
    return lines
