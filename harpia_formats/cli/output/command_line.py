"""The command line of a run as a report shows it."""

import shlex
from collections.abc import Iterable

from harpia_formats.files.io.urls import masked

#: Options that change nothing in a report, which is the same without them.
_WITH_VALUE = frozenset(
    {
        "--jobs",
        "--engine",
        "--cluster-timeout",
        "--report",
        "--output-format",
        "--progress",
    }
)
_FLAGS = frozenset({"--quiet", "-q"})


def shown_command(arguments: Iterable[str]) -> str:
    """Return a command line without options that change no report.

    These say how it was run and where reports go. Passwords in URLs are masked.
    """
    kept = []
    left = iter(arguments)
    for argument in left:
        name, equals, _ = argument.partition("=")
        if argument in _FLAGS:
            continue
        if name in _WITH_VALUE:
            if not equals:
                next(left, None)
            continue
        kept.append(masked(argument))
        if argument == "--":
            kept += map(masked, left)
    return shlex.join(kept)
