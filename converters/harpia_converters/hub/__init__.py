"""Our own formats: records without loss, rows of any keys, verdicts of our judge.

In reading order: `formats`; loaded when they are needed: `mapping`, `csv_mapping`,
`results_writers`, `table_metadata`, `table_slices` and
`read_table`.
"""

from harpia_converters.hub import formats

__all__ = ["formats"]
