"""`harpia-formats head`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.common import (
    Delimiter,
    MaxRowBytes,
    Overwrite,
    Quiet,
    ShowProgress,
)
from harpia_formats.cli.options.subsets import (
    HeadRows,
    OneFile,
    RowsFormat,
    RowsOutput,
)
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.subset_lines import print_copied
from harpia_formats.conversion.subsets.head import copy_head
from harpia_formats.conversion.subsets.options import SubsetOptions
from harpia_formats.files.framing.limits import ROW_LIMIT


def head(  # noqa: PLR0913 - one parameter for each option of the command
    path: OneFile = "-",
    *,
    rows: HeadRows = 10,
    output: RowsOutput = "-",
    overwrite: Overwrite = False,
    from_: RowsFormat = None,
    delimiter: Delimiter = None,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Copy the first rows of a file, byte for byte.

    An array stays an array and a table keeps its header. Rows behind them are
    not read, unless a document stands around the rows.

    Exit codes:
    - 0: copied, also if there are fewer rows
    - 2: something could not be read, written or copied
    - 3: a bug in harpia-formats
    """
    with Progress(
        quiet=quiet,
        when=show_progress,
        inputs=(path,),
    ) as progress:
        options = SubsetOptions(
            from_=from_,
            delimiter=delimiter,
            max_row_bytes=max_row_bytes,
            overwrite=overwrite,
            progress=progress.update,
        )
        done = copy_head(path, output, rows, options)
    print_copied(done, output, quiet=quiet)
    return ExitCode.OK
