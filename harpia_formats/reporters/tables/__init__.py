"""Tables of results: what is in them, and a renderer for each form."""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Literal, get_args

from harpia_formats.model.result import Result

if TYPE_CHECKING:  # not all forms are tables
    from harpia_formats.reporters.tables.table import Table

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
    """Yield the lines of a result in one of `FORMS` except `TABLE`.

    With `csv_safe` texts of CSV that a spreadsheet would run get a mark. But for JSON
    nothing is yielded for a result without scores of its whole input.
    """
    module, function = _functions[form]
    lines_of = getattr(import_module(f"{__name__}.{module}"), function)
    lines: Iterator[str] = lines_of(result, csv_safe=csv_safe)
    return lines


def tables_of(result: Result) -> "tuple[Table, ...]":
    """Return the tables of a result; none if it has no scores of its whole input."""
    from harpia_formats.evaluation.scoring.results.compare_report import (  # noqa: PLC0415 - not all forms are tables
        ComparisonReport,
    )
    from harpia_formats.evaluation.scoring.results.scores import Scores  # noqa: PLC0415 - not all forms are tables
    from harpia_formats.reporters.tables.score_tables import (  # noqa: PLC0415 - not all forms are tables
        comparison_tables,
        scores_table,
    )

    if isinstance(result, Scores):
        return (scores_table(result),) if result.is_whole else ()
    if isinstance(result, ComparisonReport) and result.is_of_two:
        return tuple(comparison_tables(result)) if result.compared else ()
    from harpia_formats.evaluation.scoring.benchmarks import BenchmarkScores  # noqa: PLC0415 - few results are of several systems
    from harpia_formats.reporters.tables.benchmark_tables import benchmark_tables  # noqa: PLC0415 - few results are of several systems

    if isinstance(result, (BenchmarkScores, ComparisonReport)):
        return tuple(benchmark_tables(result))
    return ()
