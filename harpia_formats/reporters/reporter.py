"""What a reporter is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report


@dataclass(frozen=True, slots=True)
class Options:
    """What the reader of a report wishes for."""

    #: Whether the output is a terminal with colours.
    color: bool = False
    #: Columns of the terminal.
    width: int = 100
    #: Whether to add the counts of each rule.
    statistics: bool = False
    #: Whether to leave out the summary.
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Reporter:
    """One way to write the findings of a validation."""

    #: The value of `--output-format` that chooses it.
    name: str
    #: What it writes, in a few words, for the help of `--output-format`.
    summary: str
    #: Takes the problems as they come, what gives the report once they have come,
    #: what writes text, and the options.
    write: Callable[
        [Iterable[Problem], Callable[[], Report], Callable[[str], None], Options],
        None,
    ]
    #: Whether the summary of the files goes to standard error, because its own output
    #: is one line for each problem.
    summary_apart: bool = False
