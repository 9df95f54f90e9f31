"""`harpia-formats merge`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.common import (
    Delimiter,
    MaxRowBytes,
    Overwrite,
    Quiet,
    Redact,
    ShowProgress,
)
from harpia_formats.cli.options.subsets import (
    Duplicates,
    Files,
    RowsFormat,
    RowsOutput,
)
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.streams import print_error
from harpia_formats.cli.output.subset_lines import print_written
from harpia_formats.conversion.subsets.merge import (
    DuplicateIdsError,
    OnDuplicate,
    merge_files,
)
from harpia_formats.conversion.subsets.options import SubsetOptions
from harpia_formats.files.framing.limits import ROW_LIMIT


def merge(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Files,
    *,
    output: RowsOutput = "-",
    overwrite: Overwrite = False,
    on_duplicate: Duplicates = OnDuplicate.FAIL,
    from_: RowsFormat = None,
    delimiter: Delimiter = None,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Put the rows of files of one format into one file, byte for byte.

    The files must be alike: one format, one container, the same columns, and
    the same document around their rows.

    Exit codes:
    - 0: merged
    - 1: an id stands in several rows, and nothing was written
    - 2: the files are not alike, or cannot be read or written
    - 3: a bug in harpia-formats
    """
    with Progress(
        quiet=quiet,
        when=show_progress,
        inputs=paths,
    ) as progress:
        options = SubsetOptions(
            from_=from_,
            delimiter=delimiter,
            max_row_bytes=max_row_bytes,
            overwrite=overwrite,
            redact=redact,
            progress=progress.update,
        )
        try:
            done = merge_files(paths, output, on_duplicate, options)
        except DuplicateIdsError as error:
            progress.hide()
            print_error(str(error))
            return ExitCode.FOUND
    print_written(done, quiet=quiet)
    return ExitCode.OK
