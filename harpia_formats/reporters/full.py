"""Each problem with the line it is in, why it is one, and what helps: for people."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from harpia_formats.model.problem import Because, Place, Problem, Severity
from harpia_formats.model.report import Group, Report
from harpia_formats.reporters.fold import (
    Shown,
    folded,
    folded_files,
    note,
    unfolded_groups,
)
from harpia_formats.reporters.frame import frame
from harpia_formats.reporters.reporter import Options, Reporter
from harpia_formats.reporters.text import (
    PATH,
    SENTENCE,
    folded_file_line,
    label,
    member_of,
    position,
    statistics_lines,
    summary_lines,
)
from harpia_formats.text.sanitize import digits, safe

#: Code points of a record's id; more is no help in finding it.
_ID = 80
#: Columns that a frame has even on a very narrow terminal.
_NARROW = 20
# Plain ANSI codes: seven of them are not worth an import of rich, which would still
# pass escapes in data on to the terminal.
_BOLD, _DIM = "1", "2"
_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "34"}


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write each problem as it comes, then what was folded and the summary."""
    separator = ""
    for each in _sections(problems, finish, options):
        if each:
            write_text(separator + "\n".join(each) + "\n")
            separator = "\n"


def _sections(
    problems: Iterable[Problem], finish: Callable[[], Report], options: Options
) -> Iterator[list[str]]:
    """Yield the lines of each part of the report, parts to be set apart."""
    shown: Shown = Counter()
    for each in problems:
        note(shown, each)
        yield _problem_lines(each, options)
    report = finish()
    several = len(report.files) > 1
    pairs = folded(unfolded_groups(report), shown)
    lines = [_folded_line(group, times, several=several) for group, times in pairs]
    yield lines + [folded_file_line(*each) for each in folded_files(report)]
    if options.statistics:
        yield statistics_lines(report)
    if not options.quiet:
        yield summary_lines(report)


def _problem_lines(problem: Problem, options: Options) -> list[str]:
    """Return `problem` as a headline, a frame, a message, reasons and help."""
    lines = [_headline(problem, options), *_frame_lines(problem, options)]
    lines.append(f"  {safe(problem.message, SENTENCE)}")
    path = problem.place.path
    lines += [f"  because {_reason(each, path)}" for each in problem.because]
    if problem.help:
        lines.append(f"  help: {safe(problem.help, SENTENCE)}")
    return lines


def _headline(problem: Problem, options: Options) -> str:
    """Return where `problem` is, and its code, name, pointer and record."""
    place = problem.place
    start = position(place.path, place.line, place.column)
    code = _paint(label(problem), _COLORS[problem.severity], options)
    rule = f"{code} {safe(problem.name)}"
    parts = [_paint(start, _BOLD, options), rule, safe(place.pointer), _record(place)]
    return "  ".join(each for each in parts if each)


def _record(place: Place) -> str:
    """Return what the record calls itself, else its number, else nothing."""
    key = safe(place.record_id_key or "id")
    if isinstance(place.record_id, str):
        return f'({key} "{safe(place.record_id, _ID)}")'
    if place.record_id is not None:
        return f"({key} {safe(digits(place.record_id), _ID)})"
    return "" if place.record is None else f"(record {place.record})"


def _frame_lines(problem: Problem, options: Options) -> list[str]:
    """Return the line around `problem`, and carets below the place itself."""
    if problem.excerpt is None:
        return []
    number = f"  {problem.place.line}"
    gutter = _paint(f"{number} | ", _DIM, options)
    blank = _paint(f"{' ' * len(number)} | ", _DIM, options)
    room = max(options.width - len(number) - len(" | "), _NARROW)
    text, carets = frame(problem.excerpt, room)
    carets = _paint(carets, _COLORS[problem.severity], options)
    return [f"{gutter}{text}", f"{blank}{carets}"]


def _reason(because: Because, path: str) -> str:
    """Return what made a rule apply, and where that is in the file at `path`."""
    place = position(path, because.line, because.column)
    return f"{safe(member_of(because.pointer))} is {safe(because.value)}  ({place})"


def _folded_line(group: Group, times: int, *, several: bool) -> str:
    """Return how many more problems `group` has; its file if there are several."""
    if times:
        rest = f"... and {group.count - times:,} more like the {times:,} above: "
    else:
        rest = f"... and {group.count:,} not shown: "
    where = f" at {safe(group.pointer)}" if group.pointer else ""
    file = f" in {safe(group.path, PATH)}" if several else ""
    return f"{rest}{safe(group.code)}{where}{file}"


def _paint(text: str, code: str, options: Options) -> str:
    """Return `text` in the style of an ANSI `code`, if colour is wanted."""
    return f"\x1b[{code}m{text}\x1b[0m" if options.color else text


REPORTER = Reporter(
    name="full",
    summary="each problem with its line of the file and the reason",
    write=write,
)
