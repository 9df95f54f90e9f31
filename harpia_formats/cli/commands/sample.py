"""`harpia-formats sample`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.common import (
    Delimiter,
    MaxRowBytes,
    Overwrite,
    Quiet,
    ShowProgress,
)
from harpia_formats.cli.options.subsets import (
    OneFile,
    RowsFormat,
    RowsOutput,
    SampleRows,
    SampleSeed,
)
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.streams import print_error
from harpia_formats.cli.output.subset_lines import print_copied
from harpia_formats.conversion.subsets.options import SubsetOptions
from harpia_formats.conversion.subsets.sample import copy_sample
from harpia_formats.files.framing.limits import ROW_LIMIT


def sample(  # noqa: PLR0913 - one parameter for each option of the command
    path: OneFile,
    size: SampleRows,
    *,
    seed: SampleSeed = "0",
    output: RowsOutput = "-",
    overwrite: Overwrite = False,
    from_: RowsFormat = None,
    delimiter: Delimiter = None,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Copy rows of a file that are chosen at random, byte for byte.

    Each choice of N rows is equally likely. They keep their order, and are the
    same for a seed on every machine. If there are fewer rows, all are copied,
    and the exit code is 1: a step that relies on N rows must not go on.

    Exit codes:
    - 0: copied
    - 1: the file has fewer rows, all of which were copied
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
        done = copy_sample(path, output, size, seed, options)
    print_copied(done, output, quiet=quiet)
    if not done.ok:
        print_error(f"{path} has {done.rows:,} rows, and a sample of {size:,} is asked")
    return ExitCode.OK if done.ok else ExitCode.FOUND
