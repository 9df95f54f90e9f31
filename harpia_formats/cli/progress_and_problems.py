"""Lines on standard error: the progress of a run, problems and unreadable files."""

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from harpia_formats.cli.streams_and_exit_codes import (
    MESSAGE_LIMIT,
    USUAL_WIDTH,
    print_error,
    print_notes,
    width_of,
    write_stderr,
)
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.source import ReadProgress, Source
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import NO_RECORDS, BaselineUse, FileCount, Report
from harpia_formats.model.safe_text import safe

if TYPE_CHECKING:  # only `detect` needs it
    from harpia_formats.formats.detection.result import Detected


#: Seconds that a run lasts before anything is shown.
DELAY = 0.5
#: Seconds between two pictures of the bar, and between two lines.
_PICTURES, LINES = 0.1, 5.0
#: Seconds whose mean rate is shown, and the most times that are kept for it.
_WINDOW, _TIMES = 10.0, 200
_ERASE = "\r\x1b[2K"


class When(StrEnum):
    """When progress is shown: on a terminal, or never, or always."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class UnitsDone(Struct, frozen=True):
    """The progress of other work than reading bytes, such as rows that were judged."""

    #: What was done with them.
    name: str
    #: What they are, in the plural.
    unit: str
    #: How many were done.
    consumed: int
    #: How many there are; of `files` all files of the inputs if it is None.
    total: int | None = None


class Progress:
    """Shows how much was read, how fast, and how long the rest takes.

    A command makes one of these, gives `update` to the run as its option `progress`,
    and uses it as a context around the run, so that the bar is gone at the end. What is
    printed meanwhile is printed by `hidden_for`.
    """

    def __init__(
        self,
        *,
        quiet: bool,
        when: str = When.AUTO,
        inputs: Iterable[str] = (),
        exclude: Iterable[str] | None = None,
    ) -> None:
        """Show a bar on a terminal; lines in a pipe only if `when` is `always`.

        `quiet` hides the bar unless it is to be shown always. The sizes of the `inputs`
        of the command, without what the patterns `exclude` match, give the total of
        several files.
        """
        can_draw = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        is_wanted = when == When.ALWAYS or (when == When.AUTO and not quiet)
        self._is_bar = is_wanted and can_draw
        self._is_lines = when == When.ALWAYS and not can_draw
        self._inputs = (tuple(inputs), tuple(exclude or ()))
        self._start = time.monotonic()
        # The bar is shown at once when it may be, a line after the first pause.
        self._last = self._start if self._is_lines else 0.0
        self._is_drawn = False
        self._count = _ByteCount()
        #: What was shown last of why the run waits.
        self._notice = ""
        #: The number and the bytes of all files; None before they were added up.
        self._whole: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.hide()

    def hide(self) -> None:
        """Remove the bar from the terminal until the next update."""
        if self._is_drawn:
            self._is_drawn = False
            self._write(_ERASE)

    def update(self, reader: ReadProgress) -> None:
        """Show how many bytes of `reader` were consumed, or why the run waits."""
        notice = getattr(reader, "notice", "")
        if notice:
            self._show_wait(reader, notice)
            return
        if not (self._is_bar or self._is_lines):
            return
        now = time.monotonic()
        self._count.note(reader, now)
        pause = _PICTURES if self._is_bar else LINES
        if now - self._start < DELAY or now - self._last < pause:
            return
        self._last = now
        self._show(reader)

    def hidden_for(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """Return a function that hides the bar, then writes text with `write`."""

        def write_without_bar(text: str) -> None:
            self.hide()
            write(text)
            # Text that waits in a buffer would come out in the middle of the bar.
            sys.stdout.flush()

        return write_without_bar

    def _show_wait(self, reader: ReadProgress, notice: str) -> None:
        """Write why the run waits, at once and in every case; then show how long."""
        if notice != self._notice:
            self._notice = notice
            self.hide()
            print_notes([notice])
            self._last = time.monotonic()
        now = time.monotonic()
        pause = _PICTURES if self._is_bar else LINES
        if (self._is_bar or self._is_lines) and now - self._last >= pause:
            self._last = now
            done, total = reader.consumed, reader.total or 0
            self._draw(reader.name, done, total, f"{done:,} of {total:,} s")

    def _show(self, reader: ReadProgress) -> None:
        """Draw the bar, or write a line, for what was read."""
        from harpia_formats.model.text_columns import progress_text  # noqa: PLC0415 - only for long runs: start-up time

        if self._whole is None:
            self._whole = count_and_bytes(*self._inputs)
        files, size = self._whole
        name, done, total = reader.name, reader.consumed, reader.total
        unit = getattr(reader, "unit", "bytes")
        if unit == "files":
            total = total or files or None
        elif unit == "bytes" and files > 1:
            name += f" ({min(self._count.files, files):,} of {files:,})"
            if self._count.done <= size:
                done, total = self._count.done, size
        text = progress_text(done, total, self._count.rate(), unit)
        self._draw(name, done, total, text)

    def _draw(self, name: str, done: int, total: int | None, text: str) -> None:
        """Draw the bar, or write a line."""
        from harpia_formats.model.text_columns import progress_bar  # noqa: PLC0415 - only for long runs: start-up time

        name = safe(name)
        if self._is_lines:
            self._write(f"progress: {name}: {text}\n")
            return
        width = (width_of(sys.stderr) or USUAL_WIDTH) - 1
        bar = progress_bar(name, done / total if total else None, text, width)
        self._write(f"{_ERASE}{bar}")
        self._is_drawn = True

    def _write(self, text: str) -> None:
        """Write text as it is to standard error, if that is possible."""
        write_stderr(text, is_fitted=True)


class _ByteCount:
    """Adds up the bytes of several files, and knows their rate."""

    def __init__(self) -> None:
        #: How many files were begun.
        self.files = 0
        #: The bytes that were read of all files, of several passes only those of one.
        self.done = 0
        self._name: str | None = None
        self._consumed = 0
        self._times: deque[tuple[float, int]] = deque(maxlen=_TIMES)
        self._read = 0

    def note(self, reader: ReadProgress, now: float) -> None:
        """Note how many bytes of a file were consumed at a time in seconds."""
        if reader.name != self._name:
            self._name, self._consumed = reader.name, 0
            self.files += 1
        more = reader.consumed - self._consumed
        # Less than before is the beginning of another pass.
        self._read += max(0, more)
        self.done += more
        self._consumed = reader.consumed
        last = self._times[-1][0] if self._times else 0
        if now - last >= _WINDOW / _TIMES:
            self._times.append((now, self._read))
        while now - self._times[0][0] > _WINDOW and len(self._times) > 2:  # noqa: PLR2004 - a rate needs two
            self._times.popleft()

    def rate(self) -> float:
        """Return the bytes of a second, 0 if that is not known."""
        (first, before), (last, read) = self._times[0], self._times[-1]
        return (read - before) / (last - first) if last > first else 0.0


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
        write_stderr(f"note: left out by `--exclude`: {files}\n")
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
        write_stderr(f"note: `--exclude {pattern!r}` matches no file\n")


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
            f"`--baseline {name} --write-baseline {name}`\n"
        )


def _print_unheld(files: Sequence[str]) -> None:
    """Print in which files there is what no baseline can hold, if there are any."""
    if not files:
        return
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    print_error(
        f"{safe(files[0], MESSAGE_LIMIT)}{more}: not in the baseline, which holds "
        "neither too few records nor a record without a verdict (such as one in no "
        "known format: name the format, or leave the file out with `--exclude`)"
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


#: Seconds that the search for files may take.
_PATIENCE = 0.3


def count_and_bytes(inputs: Sequence[str], exclude: Sequence[str]) -> tuple[int, int]:
    """Return the number of files that `inputs` name and the sum of their bytes.

    It is (0, 0) if that is not known: of standard input, remote files and files that
    cannot be read, or if looking for them takes too long.
    """
    from harpia_formats.files.io.inputs import sources_of_inputs  # noqa: PLC0415 - most runs are short
    from harpia_formats.formats.registry import all_unpackers  # noqa: PLC0415 - most runs are short

    if any(name == "-" or "://" in name for name in inputs):
        return 0, 0
    end = time.monotonic() + _PATIENCE
    files = size = 0
    try:
        for source in sources_of_inputs(inputs, Exclusion(exclude), all_unpackers()):
            origin = source.origin if isinstance(source, Source) else None
            if not isinstance(origin, Path) or time.monotonic() > end:
                return 0, 0
            size += origin.stat().st_size
            files += 1
    except (OSError, ValueError):
        return 0, 0
    return files, size
