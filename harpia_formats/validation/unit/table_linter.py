"""Check whole records of a table by the lints of their format, all at once."""

from array import array

from harpia_formats.files.parsing.csv_blocks import TableBlock
from harpia_formats.model.lint import TextColumns
from harpia_formats.validation.unit.row_linter import RowLinter


def lint_block(
    linter: RowLinter, block: TableBlock, columns: tuple[str, ...]
) -> "tuple[array[int], ...] | None":
    """Return as digests what rules across rows compare of records in which all is well.

    None if a lint finds something in a record, or fails: then each is to be checked on
    its own.
    """
    if len(set(columns)) < len(columns) or linter.files:
        return None
    texts = dict(zip(columns, block.columns(), strict=True))
    rows = TextColumns(texts, block.data, block.count)
    try:
        return linter.digests_of_texts(rows) if linter.are_clean(rows) else None
    except Exception:  # noqa: BLE001 - an error of ours, which the record will show
        return None
