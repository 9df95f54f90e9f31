"""Tables of scores that are published: one module for each form."""

from collections.abc import Iterator
from importlib import import_module

from harpia_formats.model.result import Result

#: The module of each form by its name, in the order of the help. Each has a function
#: `lines` that yields the lines of a result.
_modules = {
    "json": "json_form",
    "csv": "csv_form",
    "markdown": "markdown",
    "latex": "latex",
}
FORMS = tuple(_modules)


def form_lines(result: Result, form: str, *, csv_safe: bool = False) -> Iterator[str]:
    """Yield the lines of a result in one of `FORMS`.

    With `csv_safe` texts of CSV that a spreadsheet would run get a mark. But for JSON
    nothing is yielded for a result without scores of its whole input.
    """
    module = import_module(f"{__name__}.{_modules[form]}")
    lines: Iterator[str] = module.lines(result, csv_safe=csv_safe)
    return lines
