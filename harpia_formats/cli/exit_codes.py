"""The exit codes of all commands, and the exceptions that commands end with."""

from enum import IntEnum

from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.report import Report


class ExitCode(IntEnum):
    """The exit codes of all commands; signals have those of shells, 128 + number."""

    #: Everything was done and nothing is wrong with the data.
    OK = 0
    #: Something is wrong with the data, or differs.
    FOUND = 1
    #: Something could not be read, written or done as the options ask for it.
    UNABLE = 2
    #: A bug in harpia-formats.
    BUG = 3
    HUNG_UP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class UsageError(HarpiaFormatsError):
    """Options that contradict each other or lack something; its text is the message."""

    hides_values = True


class Terminated(BaseException):
    """The process received a signal to end: its number is the argument."""


def exit_code_of(*reports: Report, ok: bool) -> ExitCode:
    """Return the exit code of a command that made these reports.

    `ok` tells whether nothing is wrong with the data.
    """
    if any(report.has_internal_errors for report in reports):
        return ExitCode.BUG
    if any(report.failures for report in reports):
        return ExitCode.UNABLE
    return ExitCode.OK if ok else ExitCode.FOUND
