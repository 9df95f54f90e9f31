"""Copy rows of a file that are chosen at random."""

from os import PathLike, fspath
from typing import Any

from harpia_formats.conversion.subsets.one_input import (
    RereadInput,
    notes_on,
    reread_input,
)
from harpia_formats.conversion.subsets.open_file import cut_file
from harpia_formats.conversion.subsets.options import SubsetError, SubsetOptions
from harpia_formats.conversion.subsets.random_rows import sampled_numbers
from harpia_formats.conversion.subsets.result import Subset, WrittenPart
from harpia_formats.conversion.subsets.row_output import RowOutputs


def copy_sample(
    given: Any, output: Any, size: int, seed: int | str, options: SubsetOptions
) -> Subset:
    """Copy `size` rows of an input, chosen at random, to an output, in their order.

    All rows are copied if there are not so many; then the result is not `ok`. Raises
    `SubsetError`, `SourceError` and `SinkError`.
    """
    outputs = RowOutputs([given], overwrite=options.overwrite)
    if isinstance(output, (str, PathLike)) and fspath(output) != "-":
        outputs.claim(fspath(output))
    with reread_input(given) as input_:
        try:
            rows = _count_rows(input_, options)
            chosen = sampled_numbers(rows, size, seed)
            with cut_file(input_.source(), options) as file:
                target = outputs.open(output)
                for row in file.rows():
                    if row.number in chosen:
                        target.row(file, row)
                target.end(file)
                notes = notes_on(file, is_partial=size < rows)
            check_same_rows(file.name, rows, file.count)
            outputs.commit()
        except BaseException:  # an interrupt, too, leaves no temporary file
            outputs.discard()
            raise
    part = WrittenPart("", target.name, target.rows)
    return Subset(rows, (part,), size <= rows, (*notes, *outputs.group.notes))


def _count_rows(given: RereadInput, options: SubsetOptions) -> int:
    """Return how many rows a file has."""
    with cut_file(given.source(), options) as file:
        return sum(1 for _ in file.rows())


def check_same_rows(name: str, before: int, now: int) -> None:
    """Raise `SubsetError` if a file has not as many rows as when it was read before."""
    if before != now:
        raise SubsetError(
            f"{name} has changed while it was read: it had {before:,} rows and has "
            f"{now:,}; nothing was written"
        )
