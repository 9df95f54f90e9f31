"""The type of a reporter, and the options that it gets."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """How a report is displayed."""

    #: Whether to write ANSI colours.
    color: bool = False
    #: Whether to make the codes of rules links to their documentation (OSC 8).
    links: bool = False
    #: The number of columns of the terminal.
    width: int = 100
    #: Whether longer lines are broken between words, as a terminal needs it.
    wraps: bool = False
    #: Whether to add the count of each rule.
    statistics: bool = False
    #: Whether equal notes and warnings of the files of a folder are one line.
    folds_equal: bool = True
    #: Whether to leave out the summary.
    quiet: bool = False
    #: The command line of the run, for reports that say it; "" if there is none.
    command: str = ""
    #: The absolute path of the working folder, from which relative paths start.
    folder: str = ""
    #: The absolute path of the folder from which consumers read paths, such as that of
    #: the repository; the working folder if it is empty.
    root: str = ""
    #: Whether a warning makes the run fail.
    error_on_warning: bool = False
    #: Returns the exit code of a report, if there is one.
    exit_code: Callable[[Report], int] | None = None
    #: Whether the report goes to the summary page of a CI job, too.
    has_job_summary: bool = False
    #: The most bytes of a report that is shortened. Comments of GitHub may have 65,536
    #: characters.
    most_bytes: int = 60_000


WriteReport = Callable[
    [Iterable[Problem], Callable[[], Report], Callable[[str], None], Options], None
]


@dataclass(frozen=True, slots=True)
class Reporter:
    """One output format of the problems of a validation, and maybe of other results."""

    #: The value of `--output-format` and the name in `--report` that select it.
    name: str
    #: What it writes, in a few words.
    summary: str
    #: Writes the report. It gets the problems in the order in which they are found, a
    #: function that returns the report after the last problem, a function that writes
    #: text, and the options.
    write: WriteReport
    #: Whether the summary of the files goes to standard error, because its own output
    #: is one line for each problem.
    summary_apart: bool = False
    #: Writes the report for the summary page of a CI job, to which it is appended.
    write_job_summary: WriteReport | None = None
    #: The ends of names of files that `--report` writes with it if it is not named, in
    #: lower case, such as `.md`.
    suffixes: tuple[str, ...] = ()
    #: Writes any result that is no report of a validation, such as scores. Without it,
    #: only commands that report findings can use it.
    write_result: Callable[[Result, Callable[[str], None], Options], None] | None = None
    #: Returns what tells, of each problem of a run in their order, whether a report may
    #: need it; None if it needs all. Others are not held in memory until the end.
    needs: Callable[[], Callable[[Problem], bool]] | None = None
    #: A regular expression of bytes with which each of its reports begins, so that
    #: another file is not taken for an earlier report and replaced. Reports without
    #: one are text: they replace no file that is called like data or begins as JSON.
    begins: bytes = b""
    #: Whether it shows the lengths of rows, which a validation counts only then.
    shows_lengths: bool = False
    #: Raises `HarpiaFormatsError` if it cannot be used, for lack of an extra; called
    #: before a run begins.
    check: Callable[[], None] | None = None
