"""`harpia-formats split`."""

from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.problems import print_problems
from harpia_formats.cli.output.subset_lines import print_written
from harpia_formats.conversion.subsets.division import Division, parsed_ratio
from harpia_formats.conversion.subsets.options import SubsetOptions
from harpia_formats.conversion.subsets.split import Split
from harpia_formats.model.report import ValidationFailed


def split(given: Given) -> ExitCode:
    """Divide the rows of a file among several files, byte for byte.

    Give --valid and --invalid, or --by, or --ratio. Rows keep their order. All
    files appear, or none.

    Exit codes:
    - 0: divided
    - 1: a row is not valid, and has no value of the field in --by
    - 2: something could not be read, written or divided
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats split rows.jsonl --valid good.jsonl --invalid bad.jsonl
    - harpia-formats split rows.jsonl --by category -o {value}.jsonl
    - harpia-formats split rows.jsonl --ratio train=0.8,test=0.2 -o {value}.jsonl
    """
    if sum(map(bool, (given.valid or given.invalid, given.by, given.ratio))) != 1:
        raise UsageError("give --valid and --invalid, or --by, or --ratio")
    progress = given.progress((given.path,))
    options = given.options(SubsetOptions, progress=progress.update)
    division = given.options(
        Division, ratio=None if given.ratio is None else parsed_ratio(given.ratio)
    )
    run = Split(given.path, given.output, division, options)
    try:
        print_problems(iter(run), progress)
    except ValidationFailed as error:
        print_problems((problem for problem in error.report.problems), progress)
        return ExitCode.FOUND
    print_written(run.result(), quiet=given.quiet)
    return ExitCode.OK
