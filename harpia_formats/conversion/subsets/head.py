"""Copy the first rows of a file."""

from os import PathLike, fspath
from typing import Any

from harpia_formats.conversion.subsets.one_input import notes_on, one_source
from harpia_formats.conversion.subsets.open_file import cut_file
from harpia_formats.conversion.subsets.options import SubsetOptions
from harpia_formats.conversion.subsets.result import Subset, WrittenPart
from harpia_formats.conversion.subsets.row_output import RowOutputs


def copy_head(given: Any, output: Any, most: int, options: SubsetOptions) -> Subset:
    """Copy the first `most` rows of an input to an output.

    Nothing behind them is read, unless a document stands around the rows. Raises
    `SubsetError`, `SourceError` and `SinkError`.
    """
    outputs = RowOutputs([given], overwrite=options.overwrite)
    if isinstance(output, (str, PathLike)) and fspath(output) != "-":
        outputs.claim(fspath(output))
    try:
        with cut_file(one_source(given), options, is_brief=True) as file:
            target = outputs.open(output)
            is_cut = False
            for row in file.rows():
                is_cut = row.number > most
                if not is_cut:
                    target.row(file, row)
                elif not file.is_wrapped:
                    break
            ends_early = is_cut and not file.is_wrapped
            target.end(file, file.end_of_some() if ends_early else None)
            notes = notes_on(file, is_partial=is_cut)
        outputs.commit()
    except BaseException:  # an interrupt, too, leaves no temporary file
        outputs.discard()
        raise
    part = WrittenPart("", target.name, target.rows)
    return Subset(file.count, (part,), notes=(*notes, *outputs.group.notes))
