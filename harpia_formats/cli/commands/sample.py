"""`harpia-formats sample`."""

from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.streams import print_error
from harpia_formats.cli.output.subset_lines import print_copied
from harpia_formats.conversion.subsets.options import SubsetOptions
from harpia_formats.conversion.subsets.sample import copy_sample


def sample(given: Given) -> ExitCode:
    """Copy rows of a file that are chosen at random, byte for byte.

    Each choice of N rows is equally likely. They keep their order, and are the
    same for a seed on every machine. If there are fewer rows, all are copied,
    and the exit code is 1: a step that relies on N rows must not go on.

    Exit codes:
    - 0: copied
    - 1: the file has fewer rows, all of which were copied
    - 2: something could not be read, written or copied
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats sample answers.jsonl -n 100
    - harpia-formats sample answers.jsonl -n 100 --seed 7
    - harpia-formats sample table.csv -n 50 -o some.csv
    """
    if given.size is not None and given.rows is not None:
        raise UsageError("--rows and N are one; give one of them")
    size = given.rows if given.size is None else given.size
    if size is None:
        raise UsageError("--rows/-n is missing: Rows that are chosen")
    with given.progress((given.path,)) as progress:
        options = given.options(SubsetOptions, progress=progress.update)
        done = copy_sample(given.path, given.output, size, given.seed, options)
    print_copied(done, given.output, quiet=given.quiet)
    if not done.ok:
        name = getattr(given.path, "name", given.path)
        print_error(f"{name} has {done.rows:,} rows, and a sample of {size:,} is asked")
    return ExitCode.OK if done.ok else ExitCode.FOUND
