"""What a CI system tells the programs of a job: its folders and its summary page."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harpia_formats.cli.output.streams import MESSAGE_LIMIT, write_stderr
from harpia_formats.files.io.reader import error_reason
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.text.sanitize import safe
from harpia_formats.reporters.reporter import Options, WriteReport

#: The variables with the folder of the repository: of GitHub, GitLab and Azure.
ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY")
#: The variable with the file of the summary page of GitHub, and the bytes it may have.
SUMMARY, SUMMARY_BYTES = "GITHUB_STEP_SUMMARY", 1024 * 1024
#: The most and the least bytes of our part of a summary page.
MOST, LEAST = 400_000, 2_000


def with_folders(options: Options) -> Options:
    """Return `options` with the working folder and the root of the job's repository."""
    try:
        folder = Path.cwd()
    except OSError:  # it was removed
        return options
    named = (os.environ.get(name) for name in ROOTS)
    roots = (os.path.realpath(root) for root in named if root)
    below = (root for root in roots if folder.is_relative_to(root))
    return replace(options, folder=str(folder), root=next(below, str(folder)))


def summary_room() -> int:
    """Return how many bytes the summary page of the job may get, 0 if it gets none."""
    path = os.environ.get(SUMMARY)
    if not path:
        return 0
    try:
        written = os.stat(path).st_size  # noqa: PTH116 - raises nothing else for a name that is no path
    except (OSError, ValueError):
        written = 0
    room = min(MOST, SUMMARY_BYTES - written)
    if room >= LEAST:
        return room
    write_stderr(f"note: the file of {SUMMARY} is full, and gets no report\n")
    return 0


def append_summary(
    write: WriteReport, report: Report, problems: Iterable[Problem], options: Options
) -> None:
    """Append a report to the summary page of the job.

    A note on standard error says so if that is not possible.
    """
    parts: list[str] = []
    write(problems, lambda: report, parts.append, options)
    data = "".join(parts).encode("utf-8", "backslashreplace")
    path = os.environ[SUMMARY]
    try:
        with open(path, "ab") as file:  # noqa: PTH123 - raises nothing else for a name that is no path
            file.write(data)
    except (OSError, ValueError) as error:
        reason = error_reason(error) if isinstance(error, OSError) else str(error)
        shown = safe(path, MESSAGE_LIMIT)
        write_stderr(f"note: no report in the summary of the job: {shown}: {reason}\n")
