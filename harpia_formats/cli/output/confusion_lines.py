"""Confusion matrices below the table of scores."""

from collections.abc import Iterator
from typing import TextIO

from harpia_formats.cli.output.fitted_table import table_lines
from harpia_formats.cli.output.terminal import fitted, width_of
from harpia_formats.evaluation.scoring.confusion_tables import confusion_tables
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.text.sanitize import safe

#: The most labels of a table in a terminal.
MOST = 12


def confusion_lines(scores: Scores, stream: TextIO) -> Iterator[str]:
    """Yield the confusion matrices of scores of labels, nothing without such scores.

    They fit into the terminal if `stream`, which they are for, is one.
    """
    for found in confusion_tables(scores):
        yield ""
        title, size = safe(found.title), len(found.confusion.labels)
        if size > MOST:
            more = f"{title}: {size:,} labels, whose counts --output-format json has"
            yield from fitted([more], stream)
            continue
        yield from fitted([f"{title} ({found.axes})"], stream)
        columns, rows = found.columns, list(found.rows)
        right = [name for name in columns[1:] if name != columns[0]]
        yield from table_lines(
            columns, rows, width_of(stream), right=right, is_ruled=True
        )
