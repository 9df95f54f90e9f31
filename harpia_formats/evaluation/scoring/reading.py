"""Readings of inputs by the options of scoring."""

from collections.abc import Iterable

from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.files.io.inputs import Input


def reading_of(inputs: Iterable[Input], options: ScoreOptions) -> Reading:
    """Return a reading of `inputs`; raises what `Reading` raises."""
    return Reading(
        inputs,
        options.from_,
        columns=options.columns,
        delimiter=options.delimiter,
        from_csv_safe=options.from_csv_safe,
        fail_fast=not options.skips_invalid,
        max_row_bytes=options.max_row_bytes,
        progress=options.progress,
        files=options,
    )
