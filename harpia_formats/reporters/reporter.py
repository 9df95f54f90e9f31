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
    """One way to say what a validation found."""

    name: str
    #: Takes the problems as they come, what gives the report once they have come,
    #: what writes text, and the options.
    write: Callable[
        [Iterable[Problem], Callable[[], Report], Callable[[str], None], Options],
        None,
    ]
