"""`harpia-formats preflight`."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import print_failures
from harpia_formats.cli.report import (
    Printing,
    ReportFiles,
    report_exit_code,
    report_options,
)
from harpia_formats.cli.streams_and_exit_codes import (
    MESSAGE_LIMIT,
    ExitCode,
    UsageError,
    shown_data,
    text_writer,
    write_stderr,
)
from harpia_formats.expectations.preflight_file import read_plan
from harpia_formats.expectations.preflight_plan import Plan, PreflightOptions
from harpia_formats.expectations.preflight_run import Preflight, description
from harpia_formats.files.io.urls import masked
from harpia_formats.model.report import Report
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters import Options as ReportOptions
from harpia_formats.reporters.phrases import check_lines
from harpia_formats.reporters.report_file import named_report

#: The file that is read if none is named.
DEFAULT = "preflight.toml"
#: Reporters for people, which show the check list themselves.
_WITH_CHECKS = ("full", "concise")


def preflight(given: Given) -> ExitCode:
    """Check data sets before a job uses them, by what a file expects of them.

    The file names data sets with their formats, and limits: how many records, which
    models, which ids must be in both. Each expectation is listed with its result.

    Exit codes:
    - 0: all expectations are met
    - 1: one is not met
    - 2: something could not be read or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats preflight
    - harpia-formats preflight nightly.toml --var RUN=7 --dry-run
    - harpia-formats preflight --init data/*.jsonl -o preflight.toml
    """
    if given.init:
        _check_init(given.was_given, given.files)
        return _init(given.files, given.output, overwrite=given.overwrite)
    if given.output is not None or given.overwrite:
        raise UsageError("`--output` and `--overwrite` are for `--init`; add it")
    if len(given.files) > 1:
        raise UsageError(
            "only one preflight file can be checked; to write one for data files, add "
            "`--init`"
        )
    if not given.files and not Path(DEFAULT).exists():
        raise UsageError(
            f"there is no {DEFAULT} here; name the preflight file, or write one for "
            f"your data: `preflight --init FILE... -o {DEFAULT}`"
        )
    plan = read_plan((given.files or (DEFAULT,))[0], given.variables, named_report)
    named = [path for one in plan.data_sets for path in one.inputs()]
    progress = given.progress(named)
    options = given.options(PreflightOptions, progress=progress.update)
    others = [path for one in plan.data_sets for path in one.other_files()]
    places = [plan.path, plan.state or None, *named, *others]
    reports = ReportFiles([*plan.reports, *given.report], Report, places)
    run = Preflight(plan, options, reports.paths)
    if given.dry_run:
        return _describe(plan, run)
    name, quiet = given.output_format, given.quiet
    printing = Printing(progress, name, report_options(quiet=quiet))
    with progress:
        problems = printing.problems(reports.keeping(run))
        printing.reporter.write(problems, run.report, printing.write, printing.options)
        found = run.report()
        printing.end(found)
    print_failures(found.failures)
    has_checks = name is None or name in _WITH_CHECKS
    if not (quiet or has_checks or printing.reporter.summary_apart):
        write_stderr("".join(f"{line}\n" for line in check_lines(found)))
    reports.write(found, ReportOptions())
    run.save_state()
    return report_exit_code(found, error_on_warning=False, exit_zero=False)


def _describe(plan: Plan, run: Preflight) -> ExitCode:
    """Print what would be checked."""
    try:
        lines = "".join(f"{line}\n" for line in description(plan, run))
        failures = run.report_before().failures
    finally:
        run.close()
    text_writer(sys.stdout)(lines)
    print_failures(failures)
    return ExitCode.UNABLE if failures else ExitCode.OK


def _check_init(given: frozenset[str], files: Sequence[str]) -> None:
    """Raise `UsageError` for options that --init does not use."""
    others = given - {"files", "init", "output", "overwrite", "quiet"}
    if others:
        name = min(others).replace("variables", "var")
        raise UsageError(
            f"`--init` and `--{name}` cannot be combined; leave out one of them"
        )
    if not files:
        raise UsageError("`--init` needs the data files: `preflight --init FILE...`")


def _init(files: Sequence[str], to_file: str | None, *, overwrite: bool) -> ExitCode:
    """Write a preflight file for data files."""
    from harpia_formats.expectations.propose_preflight import preflight_file  # noqa: PLC0415 - only on request

    folder = os.path.dirname(to_file) if to_file and to_file != "-" else ""  # noqa: PTH120 - links are not resolved
    found = preflight_file(files, Path(folder or "."))
    print_failures(found.report.failures)
    if found.report.failures:
        return ExitCode.UNABLE
    if to_file in {None, "-"}:
        text_writer(sys.stdout)(shown_data(found.text))
        return ExitCode.OK
    from harpia_formats.files.io.file_sink import write_file  # noqa: PLC0415 - only on request
    from harpia_formats.files.io.outputs import FilesRead  # noqa: PLC0415 - only on request
    from harpia_formats.formats.registry import all_unpackers  # noqa: PLC0415 - only on request

    FilesRead(files, unpackers=all_unpackers()).check(str(to_file))
    write_file(str(to_file), [found.text.encode()], overwrite=overwrite)
    name = safe(masked(str(to_file)), MESSAGE_LIMIT)
    write_stderr(f"wrote {name}; edit it, and run: harpia-formats preflight {name}\n")
    return ExitCode.OK
