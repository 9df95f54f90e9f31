"""Check the cells of tables for formulas that a spreadsheet would run (J308)."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.formats.rules.table import FORMULA_CELL
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint, TextColumns
from harpia_formats.model.text.csv_safe import would_run
from harpia_formats.model.text.describe import short_json


def formula_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each cell that a spreadsheet would run."""
    for column, text in row.items() if isinstance(row, dict) else ():
        if isinstance(text, str) and would_run(text):
            yield Remark(
                FORMULA_CELL,
                (column,),
                f"a spreadsheet would take {short_json(text)} for a formula",
                "convert the table with --csv-safe before it is opened in one",
            )


def _are_clean(rows: TextColumns) -> bool:
    """Return whether no cell of some rows is a formula."""
    return not any(any(map(would_run, texts)) for texts in rows.texts.values())


FORMULA_LINT = RowLint(
    (FORMULA_CELL,), formula_remarks, are_clean=_are_clean, takes_refused=True
)
