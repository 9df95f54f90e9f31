"""Problems and unreadable files as lines on standard error."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from harpia_formats.cli.output.progress import Progress
from harpia_formats.cli.output.streams import MESSAGE_LIMIT, print_error, write_stderr
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import NO_RECORDS, BaselineUse, FileCount, Report
from harpia_formats.model.text.sanitize import safe

if TYPE_CHECKING:  # only `detect` needs it
    from harpia_formats.formats.detection.result import Detected


def print_problems(problems: Iterator[Problem], progress: Progress) -> None:
    """Print each problem as soon as it is found.

    The iterator does the work meanwhile, such as a conversion. A generator is closed if
    an interrupt ends it, so that it can remove the files that it began to write.
    """
    with progress:
        try:
            for problem in problems:
                progress.hidden_for(write_stderr)(_problem_lines(problem))
        finally:
            if isinstance(problems, Generator):
                problems.close()


def print_failures(files: "Iterable[FileCount | Detected]") -> None:
    """Print an error line for each file that could not be read to its end."""
    for file in files:
        print_error(f"{file.path}: {file.reason}")


def print_unread(*reports: Report) -> None:
    """Print which files could not be read, and how many were passed over."""
    print_failures(file for report in reports for file in report.failures)
    skipped = [file.skipped for report in reports for file in report.skipped]
    excluded = sum(report.excluded for report in reports)
    if skipped:
        from harpia_formats.files.io.file_kinds import counted_kinds  # noqa: PLC0415 - most runs pass over nothing

        kinds = counted_kinds(skipped)
        write_stderr(f"note: passed over: {kinds}{_documents_of(reports)}\n")
    if excluded:
        files = "1 file" if excluded == 1 else f"{excluded:,} files"
        write_stderr(f"note: left out by --exclude: {files}\n")
    print_unmatched(
        pattern
        for pattern in dict.fromkeys(
            pattern for report in reports for pattern in report.unmatched
        )
        if all(pattern in report.unmatched for report in reports)
    )


def print_unmatched(patterns: Iterable[str]) -> None:
    """Print which patterns of --exclude matched no file."""
    for pattern in patterns:
        write_stderr(f"note: --exclude {pattern!r} matches no file\n")


def _documents_of(reports: Sequence[Report]) -> str:
    """Return the first file that was passed over since it has no records, and how many.

    It is a name in parentheses, or "".
    """
    skipped = [file for report in reports for file in report.skipped]
    names = [file.path for file in skipped if file.skipped == NO_RECORDS]
    if not names:
        return ""
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f" ({safe(names[0], MESSAGE_LIMIT)}{more})"


def print_baseline(
    used: BaselineUse | None,
    written: str | None,
    total: int | None,
    unheld: Sequence[str],
) -> None:
    """Print how many findings were written as a baseline, or that one is too large.

    `used` is the baseline of the run, and `written` the path of one that was asked for,
    with `total` findings or None if it was not written; it cannot hold what there is in
    the files `unheld`.
    """
    if written is not None:
        if total is None:
            print_error(f"{written} is not written, since a file could not be read")
        else:
            findings = "1 finding" if total == 1 else f"{total:,} findings"
            write_stderr(f"note: {safe(written, MESSAGE_LIMIT)} holds {findings}\n")
            _print_unheld(unheld)
    elif used is not None and used.unused:
        findings = "1 finding" if used.unused == 1 else f"{used.unused:,} findings"
        is_one = used.unused == 1
        name, first = safe(used.path, MESSAGE_LIMIT), safe(used.unused_in[0])
        more = len(used.unused_in) - 1
        where = f"{first} and {more:,} more" if more else first
        write_stderr(
            f"note: {name} holds {findings} that {'is' if is_one else 'are'} no longer "
            f"there ({where}); to take {'it' if is_one else 'them'} out: "
            f"--baseline {name} --write-baseline {name}\n"
        )


def _print_unheld(files: Sequence[str]) -> None:
    """Print in which files there is what no baseline can hold, if there are any."""
    if not files:
        return
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    print_error(
        f"{safe(files[0], MESSAGE_LIMIT)}{more}: not in the baseline, since a record "
        "without a verdict (such as one in no known format) is never held; name the "
        "format, or leave the file out with --exclude"
    )


def print_unused_settings(unused: Mapping[str, Sequence[str]]) -> None:
    """Print which settings are not used, since they are no settings of single files.

    `unused` has their names by the path of their file.
    """
    for path, names in unused.items():
        if names:
            write_stderr(
                f"note: {safe(path, MESSAGE_LIMIT)}: not used: {', '.join(names)}, "
                "which the settings of the working folder decide\n"
            )


def print_undetermined(report: Report) -> None:
    """Print why records have no verdict if no finding and no unread file says so."""
    for line in report.no_verdict_lines():
        print_error(line)


def _problem_lines(problem: Problem) -> str:
    """Return `problem` as a line, and its help as another one if the line lacks it."""
    from harpia_formats.reporters.concise import line_of  # noqa: PLC0415 - valid input needs no reporter

    line = line_of(problem)
    has_help = problem.help and problem.help not in line
    return f"{line}\n  help: {problem.help}\n" if has_help else f"{line}\n"
