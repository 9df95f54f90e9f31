"""`harpia-formats validate`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harpia_formats.api.run_settings import RunSettings
from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import (
    print_baseline,
    print_failures,
    print_undetermined,
    print_unmatched,
    print_unused_settings,
)
from harpia_formats.cli.report import (
    Printing,
    ReportFiles,
    report_exit_code,
    report_options,
)
from harpia_formats.cli.streams_and_exit_codes import ExitCode, UsageError, write_stderr
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.io.source import Source
from harpia_formats.model.report import Report
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import RunBaseline, Validation


def validate(given: Given) -> ExitCode:
    """Check files against their format, and show where they break it and why.

    Findings go to standard output, everything else to standard error. With --fix the
    files are repaired first, and what is left is shown.

    Exit codes:
    - 0: no errors
    - 1: errors
    - 2: something could not be read or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats validate runs/*.jsonl
    - harpia-formats validate answers.json --from nemo-output --strict
    - harpia-formats validate rows.jsonl --output-format json --report report.html
    """
    only_with_format = {
        "--from": given.format,
        "--strict": given.strict,
        "--with": given.companion,
    }
    _check_combination(given.schema, only_with_format, given.columns)
    settings = given.settings()
    progress = given.progress(given.paths)
    reports = ReportFiles(
        settings.paths("report", given.report, given.was_given),
        Report,
        [
            *given.paths,
            given.output,
            given.schema,
            given.companion,
            given.baseline,
            given.write_baseline,
            *(each for each in given.config if "=" not in each),
        ],
    )
    format_ = given.format
    if given.columns:
        format_ = format_ or _mapped_format(given, settings, reports.paths)
    options = given.options(Options, format=format_, progress=progress.update)
    output_format = settings.value(
        "output-format", given.output_format, given.was_given
    )
    options = replace(options, row_lengths=reports.show_lengths(output_format))
    options = settings.apply(options, given.was_given)
    inputs: Sequence[Input] = given.paths
    is_unable = False
    if given.diff:
        _check_diff(given.was_given)
    if given.fix or given.unsafe or given.diff:
        from harpia_formats.cli.run_fix import fix_files  # noqa: PLC0415 - only for repairs: start-up time
        from harpia_formats.validation.repair.repaired_file import FixOptions  # noqa: PLC0415 - only for repairs: start-up time

        wanted = FixOptions(
            unsafe=given.unsafe,
            diff=given.diff,
            output=given.output,
            overwrite=given.overwrite,
        )
        done = fix_files(
            given.paths,
            options,
            wanted,
            progress,
            quiet=given.quiet,
            file_options=settings.file_options,
        )
        inputs, is_unable = done.inputs, done.is_failed
        if given.diff or not inputs:
            code = (
                ExitCode.FOUND if done.changes and not given.exit_zero else ExitCode.OK
            )
            return ExitCode.UNABLE if is_unable else code
    elif given.output is not None or given.overwrite:
        raise UsageError("`--output` and `--overwrite` are for repairs; add `--fix`")
    run = Validation(inputs, options, settings.file_options, reports.paths)
    statistics = settings.value("statistics", given.statistics, given.was_given)
    error_on_warning = settings.value(
        "error-on-warning", given.error_on_warning, given.was_given
    )
    report_of = report_options(
        statistics=statistics,
        quiet=given.quiet,
        error_on_warning=error_on_warning,
        exit_zero=given.exit_zero,
    )
    folds = settings.value("examples", given.examples, given.was_given) > 0
    printing = Printing(progress, output_format, report_of, folds_equal=folds)
    with progress:
        problems = printing.problems(reports.keeping(run))
        printing.reporter.write(problems, run.report, printing.write, printing.options)
        found = run.report()
        printing.end(found)
        if statistics:
            # Not part of the report, which is the same for any number of workers.
            write_stderr("".join(f"{line}\n" for line in run.redone.lines()))
    print_failures(found.failures)
    print_undetermined(found)
    print_unmatched(found.unmatched)
    print_baseline(
        found.baseline, given.write_baseline, run.baseline.total, run.baseline.unheld
    )
    print_unused_settings(settings.unused)
    is_accepted = (
        given.write_baseline and not given.baseline and not run.baseline.unheld
    )
    exit_zero = given.exit_zero or bool(is_accepted)
    code = report_exit_code(
        found, error_on_warning=error_on_warning, exit_zero=exit_zero
    )
    reports.write(
        found,
        report_options(
            statistics=statistics,
            error_on_warning=error_on_warning,
            exit_zero=exit_zero,
        ),
    )
    return max(code, ExitCode.UNABLE) if is_unable else code


def _mapped_format(
    given: Given, settings: RunSettings, outputs: frozenset[Path]
) -> str:
    """Return the format whose columns are mapped in the files that a run reads.

    `outputs` are the absolute paths of files that it writes.
    """
    from harpia_formats.files.io.discovery import Exclusion, check_patterns  # noqa: PLC0415 - only for a map: start-up time
    from harpia_formats.formats.detection.mapped_format import require_mapped_format  # noqa: PLC0415 - only for a map: start-up time

    check_patterns(given.exclude)
    written = RunBaseline(Options(), outputs)

    def is_left_out(source: Source) -> bool:
        is_excluded = settings.leaves_out(source, given.was_given)
        return is_excluded or written.is_output(source)

    return require_mapped_format(given.paths, Exclusion(given.exclude, is_left_out))


#: What is about the report of a validation, which does not follow a diff.
_of_report = (
    "output-format",
    "report",
    "write-baseline",
    "min-records",
    "statistics",
    "error-on-warning",
)


def _check_diff(given: frozenset[str]) -> None:
    """Raise `UsageError` if --diff is `given` with an option that it does not use."""
    for name in _of_report:
        if name in given:
            raise UsageError(
                f"`--diff` and `--{name}` cannot be combined: a diff is shown in the "
                "place of the report; leave out one of them"
            )


def _check_combination(
    schema: Path | None,
    only_with_format: dict[str, Any],
    columns: dict[str, str] | None,
) -> None:
    """Raise `UsageError` if options name two things to validate against.

    `only_with_format` holds the values of the options that need a format.
    """
    for name, value in only_with_format.items():
        if schema is not None and value is not None and value is not False:
            raise UsageError(
                f"`--schema` and `{name}` cannot be combined: a file is validated "
                "against a schema or a format; leave out one of them"
            )
    if columns and schema is not None:
        raise UsageError(
            "`--schema` and `--map` cannot be combined: a map names the fields of a "
            "format; leave out one of them"
        )
