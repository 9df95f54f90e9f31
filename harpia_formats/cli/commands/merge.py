"""`harpia-formats merge`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.streams import print_error
from harpia_formats.cli.output.subset_lines import print_written
from harpia_formats.conversion.subsets.merge import (
    DuplicateIdsError,
    merge_files,
)
from harpia_formats.conversion.subsets.options import SubsetOptions


def merge(given: Given) -> ExitCode:
    """Put the rows of files of one format into one file, byte for byte.

    The files must be alike: one format, one container, the same columns, and
    the same document around their rows.

    Exit codes:
    - 0: merged
    - 1: an id stands in several rows, and nothing was written
    - 2: the files are not alike, or cannot be read or written
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats merge a.jsonl b.jsonl -o all.jsonl
    - harpia-formats merge parts/*.csv -o all.csv
    - harpia-formats merge parts -o all.jsonl --on-duplicate skip
    """
    with given.progress(given.paths) as progress:
        options = given.options(SubsetOptions, progress=progress.update)
        try:
            done = merge_files(given.paths, given.output, given.on_duplicate, options)
        except DuplicateIdsError as error:
            progress.hide()
            print_error(str(error))
            return ExitCode.FOUND
    print_written(done, quiet=given.quiet)
    return ExitCode.OK
