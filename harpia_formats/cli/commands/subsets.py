"""`harpia-formats head`, `sample`, `split` and `merge`: rows copied byte for byte."""

from typing import TYPE_CHECKING

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import print_problems
from harpia_formats.cli.streams_and_exit_codes import (
    MESSAGE_LIMIT,
    ExitCode,
    UsageError,
    print_error,
    print_notes,
    write_stderr,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.model.report import ValidationFailed
from harpia_formats.model.safe_text import safe

if TYPE_CHECKING:  # for this command only
    from harpia_formats.conversion.subsets.subset_options import Subset


def _print_notes(done: "Subset") -> None:
    """Print what the user should know of the outputs, each as a line."""
    print_notes(f"note: {note}" for note in done.notes)


def print_copied(done: "Subset", output: str, *, quiet: bool) -> None:
    """Print how many rows the output file has, unless `quiet` or it is a stream."""
    _print_notes(done)
    for part in () if quiet or output == "-" else done.parts:
        rows = with_noun(part.rows, "row")
        write_stderr(f"{safe(part.path, MESSAGE_LIMIT)}: {rows}\n")


def print_written(done: "Subset", *, quiet: bool) -> None:
    """Print how many rows each output has, with exact shares, unless `quiet`."""
    _print_notes(done)
    for part in () if quiet else done.parts:
        share = f"{100 * part.rows / done.rows:.2f}" if done.rows else "0"
        of = f"{part.rows:,} of {with_noun(done.rows, 'row')} ({share} %)"
        write_stderr(f"{safe(part.path, MESSAGE_LIMIT)}: {of}\n")


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
    from harpia_formats.conversion.subsets.head_and_sample import copy_head  # noqa: PLC0415 - for this command only
    from harpia_formats.conversion.subsets.subset_options import SubsetOptions  # noqa: PLC0415 - for this command only

    with given.progress((given.path,)) as progress:
        options = given.options(SubsetOptions, progress=progress.update)
        done = copy_head(given.path, given.output, given.rows, options)
    print_copied(done, given.output, quiet=given.quiet)
    return ExitCode.OK


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
    from harpia_formats.conversion.subsets.head_and_sample import copy_sample  # noqa: PLC0415 - for this command only
    from harpia_formats.conversion.subsets.subset_options import SubsetOptions  # noqa: PLC0415 - for this command only

    if given.size is not None and given.count is not None:
        raise UsageError("`--rows` and N are one; give one of them")
    size = given.size if given.count is None else given.count
    if size is None:
        raise UsageError("`--rows` is missing: Rows that are chosen")
    with given.progress((given.path,)) as progress:
        options = given.options(SubsetOptions, progress=progress.update)
        done = copy_sample(given.path, given.output, size, given.seed, options)
    print_copied(done, given.output, quiet=given.quiet)
    if not done.ok:
        name = getattr(given.path, "name", None) or given.path
        rows = with_noun(done.rows, "row")
        print_error(f"{name} has {rows}, and a sample of {size:,} is asked")
    return ExitCode.OK if done.ok else ExitCode.FOUND


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
    from harpia_formats.conversion.subsets.split import Split  # noqa: PLC0415 - for this command only
    from harpia_formats.conversion.subsets.subset_options import (  # noqa: PLC0415 - for this command only
        Division,
        SubsetOptions,
        parsed_ratio,
    )

    if sum(map(bool, (given.valid or given.invalid, given.by, given.ratio))) != 1:
        raise UsageError("give `--valid` and `--invalid`, or `--by`, or `--ratio`")
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
    from harpia_formats.conversion.subsets.merge import DuplicateIdsError, merge_files  # noqa: PLC0415 - for this command only
    from harpia_formats.conversion.subsets.subset_options import SubsetOptions  # noqa: PLC0415 - for this command only

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
