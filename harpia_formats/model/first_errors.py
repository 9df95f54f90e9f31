"""The errors of a report in a few lines, for the text of an exception."""

from collections.abc import Iterable

from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.text.sanitize import safe

#: How many errors are shown, and the most code points of the path and message of one.
SHOWN, PATH, MESSAGE = 3, 4096, 300


def first_errors(count: int, problems: Iterable[Problem]) -> str:
    """Return how many errors there are, and the first ones of the examples.

    The first is in the first line, so that a log that shows one line has it. Of equal
    errors in a file, such as a key that is missing in many records, one is shown.
    """
    first: dict[tuple[str, ...], Problem] = {}
    for problem in problems:
        if problem.severity is Severity.ERROR and len(first) < SHOWN:
            place = problem.place
            first.setdefault((place.path, problem.code, problem.cause), problem)
    noun = "error" if count == 1 else "errors"
    line = f"{count:,} {noun}"
    if not first:
        return line
    shown = [_line(problem) for problem in first.values()]
    more = count - len(shown)
    lines = [f"{line}, first {shown[0]}", *shown[1:]]
    if more > 0:
        lines.append(f"and {more:,} more")
    return "\n  ".join(lines)


def _line(problem: Problem) -> str:
    """Return the place, the rule and the message of a problem in one line."""
    place = problem.place
    message = safe(" ".join(problem.message.splitlines()), MESSAGE)
    path = safe(place.full_path, PATH)
    return f"{path}:{place.line}:{place.column} {safe(problem.code)}: {message}"
