"""`harpia-formats split`."""

from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.common import (
    Delimiter,
    Jobs,
    MaxRowBytes,
    Overwrite,
    Quiet,
    Redact,
    ShowProgress,
)
from harpia_formats.cli.options.subsets import (
    By,
    Findings,
    InvalidOutput,
    Key,
    OneFile,
    PartsOutput,
    Ratio,
    RowsFormat,
    SampleSeed,
    ValidOutput,
)
from harpia_formats.cli.options.validation import Ignore, Lint, Schema, Select
from harpia_formats.cli.options.values import comma_separated
from harpia_formats.cli.output.problems import print_problems
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.subset_lines import print_written
from harpia_formats.conversion.subsets.division import Division, parsed_ratio
from harpia_formats.conversion.subsets.options import SubsetOptions
from harpia_formats.conversion.subsets.split import Split
from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.model.report import ValidationFailed


def split(  # noqa: PLR0913 - one parameter for each option of the command
    path: OneFile = "-",
    *,
    output: PartsOutput = None,
    overwrite: Overwrite = False,
    valid: ValidOutput = None,
    invalid: InvalidOutput = None,
    findings: Findings = None,
    select: Select = None,
    ignore: Ignore = None,
    lint: Lint = False,
    schema: Schema = None,
    by: By = None,
    ratio: Ratio = None,
    key: Key = None,
    seed: SampleSeed = "0",
    from_: RowsFormat = None,
    delimiter: Delimiter = None,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    jobs: Jobs = 0,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Divide the rows of a file among several files, byte for byte.

    Give --valid and --invalid, or --by, or --ratio. Rows keep their order. All
    files appear, or none.

    Exit codes:
    - 0: divided
    - 1: a row is not valid, and has no value of the field in --by
    - 2: something could not be read, written or divided
    - 3: a bug in harpia-formats
    """
    if sum(map(bool, (valid or invalid, by, ratio))) != 1:
        raise UsageError("give --valid and --invalid, or --by, or --ratio")
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=(path,),
    )
    options = SubsetOptions(
        from_=from_,
        delimiter=delimiter,
        max_row_bytes=max_row_bytes,
        overwrite=overwrite,
        redact=redact,
        progress=progress.update,
    )
    division = Division(
        by=by,
        ratio=None if ratio is None else parsed_ratio(ratio),
        key=key,
        seed=seed,
        valid=valid,
        invalid=invalid,
        findings=findings,
        select=comma_separated(select),
        ignore=comma_separated(ignore),
        lint=lint,
        schema=schema,
        jobs=jobs,
    )
    run = Split(path, output, division, options)
    try:
        print_problems(iter(run), progress)
    except ValidationFailed as error:
        print_problems((problem for problem in error.report.problems), progress)
        return ExitCode.FOUND
    print_written(run.result(), quiet=quiet)
    return ExitCode.OK
