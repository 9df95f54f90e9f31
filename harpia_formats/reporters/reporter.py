"""The type of a reporter, and the options that it gets."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report


@dataclass(frozen=True, slots=True)
class Options:
    """How a report is displayed."""

    #: Whether to write ANSI colours.
    color: bool = False
    #: The number of columns of the terminal.
    width: int = 100
    #: Whether to add the count of each rule.
    statistics: bool = False
    #: Whether to leave out the summary.
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Reporter:
    """One output format of the problems of a validation."""

    #: The value of `--output-format` that selects it.
    name: str
    #: A short description for the help of `--output-format`.
    summary: str
    #: Writes the report. It gets the problems in the order in which they are found, a
    #: function that returns the report after the last problem, a function that writes
    #: text, and the options.
    write: Callable[
        [Iterable[Problem], Callable[[], Report], Callable[[str], None], Options],
        None,
    ]
    #: Whether the summary of the files goes to standard error, because its own output
    #: is one line for each problem.
    summary_apart: bool = False
