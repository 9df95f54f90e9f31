"""`harpia-formats head`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.subset_lines import print_copied
from harpia_formats.conversion.subsets.head import copy_head
from harpia_formats.conversion.subsets.options import SubsetOptions


def head(given: Given) -> ExitCode:
    """Copy the first rows of a file, byte for byte.

    An array stays an array and a table keeps its header. Rows behind them are
    not read, unless a document stands around the rows.

    Exit codes:
    - 0: copied, also if there are fewer rows
    - 2: something could not be read, written or copied
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats head answers.jsonl
    - harpia-formats head answers.jsonl -n 3
    - harpia-formats head table.csv -n 100 -o start.csv
    """
    with given.progress((given.path,)) as progress:
        options = given.options(SubsetOptions, progress=progress.update)
        done = copy_head(given.path, given.output, given.rows, options)
    print_copied(done, given.output, quiet=given.quiet)
    return ExitCode.OK
