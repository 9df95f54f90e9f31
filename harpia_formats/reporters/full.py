"""Each problem with its line, its reason and help, for people."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from harpia_formats.model.problem import Because, Excerpt, Place, Problem
from harpia_formats.model.report import Report
from harpia_formats.model.safe_text import digits, escaped, safe
from harpia_formats.model.text_columns import columns, columns_of, joined
from harpia_formats.reporters.phrases import (
    BOLD,
    COLORS,
    DIM,
    PATH,
    SENTENCE,
    FoldedFindings,
    FolderFindings,
    PartlyShown,
    Shown,
    dotted_path,
    fitted,
    label,
    note_shown,
    of_baseline,
    painted,
    partly_shown_groups,
    position,
    statistics_lines,
    summary_lines,
)
from harpia_formats.reporters.reporter import Options, Reporter


def frame(excerpt: Excerpt, room: int) -> tuple[str, str]:
    """Return the text of an excerpt in `room` columns, and the carets below it."""
    before, marked, after = excerpt_parts(excerpt, room)
    marked = _start_of(marked, room)
    rest = room - columns(marked)
    after = _start_of(after, max(rest - columns(before), rest // 2))
    before = _end_of(before, rest - columns(after))
    carets = "^" * max(1, columns(marked))
    return before + marked + after, " " * columns(before) + carets


def excerpt_parts(excerpt: Excerpt, room: int) -> tuple[str, str, str]:
    """Return the text before, in and after the marked part, escaped.

    Each part is cut to little more than `room` characters. The text is escaped as a
    whole, because an unsafe sequence may span two parts.
    """
    first = max(0, excerpt.start - room - 1)
    last = min(excerpt.end, excerpt.start + room + 1)
    text = excerpt.text[first : last + room + 1]
    shown = escaped(text)
    start = len(shown) - len(escaped(text[excerpt.start - first :]))
    end = len(shown) - len(escaped(text[last - first :]))
    return shown[:start], shown[start:end], shown[end:]


def _start_of(text: str, room: int) -> str:
    """Return the start of `text` that fits into `room` columns."""
    if columns(text) <= room:
        return text
    if room < 1:
        return ""
    ends = list(accumulate(map(columns_of, text)))
    return text[: bisect_right(ends, room - 1)] + "…"


def _end_of(text: str, room: int) -> str:
    """Return the end of `text` that fits into `room` columns."""
    return _start_of(text[::-1], room)[::-1]


#: The most code points of the id of a record.
_ID = 80
#: The least columns of a frame, even on a narrower terminal.
_NARROW = 20


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write each problem as it is found, then the cut groups and the summary."""
    separator = ""
    for section in _sections(problems, finish, options):
        if section:
            write_text(separator + "\n".join(section) + "\n")
            separator = "\n"


def _sections(
    problems: Iterable[Problem], finish: Callable[[], Report], options: Options
) -> Iterator[list[str]]:
    """Yield the lines of each section of the report."""
    shown: Shown = Counter()
    once = FolderFindings(folds=options.folds_equal)
    for problem in problems:
        if once.hides(problem):
            continue
        note_shown(shown, problem)
        yield problem_lines(problem, options)
    report = finish()
    several = len(report.files) > 1
    groups, folded = once.fold(partly_shown_groups(report.groups, shown))
    lines = [_folded_line(partly, several=several) for partly in groups]
    lines += map(_equal_line, folded)
    yield fitted(lines, options)
    if options.statistics:
        yield fitted(statistics_lines(report), options)
    if not options.quiet:
        yield fitted(summary_lines(report), options)


def problem_lines(problem: Problem, options: Options) -> list[str]:
    """Return the lines of a problem: headline, frame, message, reasons and help."""
    lines = [*_headline(problem, options), *_frame_lines(problem, options)]
    lines += fitted([f"  {safe(problem.message, SENTENCE)}"], options, "  ")
    path = problem.place.full_path
    more = [f"  because {_reason(reason, path)}" for reason in problem.because]
    if problem.help:
        more.append(f"  help: {safe(problem.help, SENTENCE)}")
    return lines + fitted(more, options)


def _headline(problem: Problem, options: Options) -> list[str]:
    """Return the place, code, name, pointer and record of a problem.

    They are one line, or several on a narrow terminal: no part is broken.
    """
    place = problem.place
    start = position(place.full_path, place.line, place.column)
    code = label(problem, links=options.links)
    rule = f"{painted(code, COLORS[problem.severity], options)} {safe(problem.name)}"
    parts = [painted(start, BOLD, options), rule, safe(place.pointer), _record(place)]
    shown = [part for part in parts if part]
    if not options.wraps:
        return ["  ".join(shown)]
    spaces = ["", *["  "] * (len(shown) - 1)]
    return joined(zip(spaces, shown, strict=True), options.width, "    ")


def _record(place: Place) -> str:
    """Return the id of the record, else its number, else an empty text."""
    key = safe(place.record_id_key or "id")
    if isinstance(place.record_id, str):
        return f'({key} "{safe(place.record_id, _ID)}")'
    if place.record_id is not None:
        return f"({key} {safe(digits(place.record_id), _ID)})"
    return "" if place.record is None else f"(record {place.record})"


def _frame_lines(problem: Problem, options: Options) -> list[str]:
    """Return the line of the problem, and carets below its place."""
    if problem.excerpt is None:
        return []
    number = f"  {problem.place.line}"
    gutter = painted(f"{number} | ", DIM, options)
    blank = painted(f"{' ' * len(number)} | ", DIM, options)
    room = max(options.width - len(number) - len(" | "), _NARROW)
    text, carets = frame(problem.excerpt, room)
    carets = painted(carets, COLORS[problem.severity], options)
    return [f"{gutter}{text}", f"{blank}{carets}"]


def _reason(because: Because, path: str) -> str:
    """Return the value that triggered a condition, and its place in the file."""
    place = position(because.path or path, because.line, because.column)
    return f"{safe(dotted_path(because.pointer))} is {safe(because.value)}  ({place})"


def _folded_line(partly: PartlyShown, *, several: bool) -> str:
    """Return a line with the number of problems of a group that are not shown."""
    group, times = partly.group, partly.times
    more = of_baseline(group)
    if times == group.count:
        rest = f"... {more}: "
    elif times:
        rest = f"... and {group.count - times:,} more like the {times:,} above: "
    else:
        rest = f"... and {group.count:,} not shown: "
    where = f" at {safe(group.pointer)}" if group.pointer else ""
    where += f" ({safe(group.key)})" if group.key else ""
    file = f" in {safe(group.path, PATH)}" if several else ""
    line = f"{rest}{safe(group.code)}{where}{file}"
    if more and times < group.count:
        line += f" ({more})"
    return f"{line}; {safe(partly.message, SENTENCE)}" if partly.message else line


def _equal_line(findings: FoldedFindings) -> str:
    """Return a line with the count of findings that equal those of another file."""
    like = f"like {safe(findings.code)} in {safe(findings.first, PATH)}"
    return f"... and {findings} {like}; {safe(findings.message, SENTENCE)}"


REPORTER = Reporter(
    name="full",
    summary="each problem with its line of the file and the reason",
    write=write,
)
