"""Cells as pandas writes them: `True`, `NaN`, whole numbers as floats, and its index.

pandas reads a column as numbers or truth values, and writes these in its own way. Only
columns that hold no text are read so: in others, `True` may be an answer.
"""

import re
from itertools import filterfalse

from harpia_formats.model.adapter import FieldMapping, Row
from harpia_formats.model.record import FIELD_TYPES

_TRUTH = {"True": "true", "False": "false"}
_MISSING = frozenset({"NaN", "nan"})
#: The cells that pandas writes in its own way in any row.
_SPECIAL = _MISSING | _TRUTH.keys()
_whole_float = re.compile(r"(-?\d+)\.0")
_number = re.compile(r"\d+(\.0)?")
#: The name that pandas gives to a column without one, such as that of its index.
_unnamed = re.compile(r"(Unnamed: \d+)?")


def is_missing(cell: str) -> bool:
    """Tell whether pandas writes `cell` for a missing value."""
    return cell in _MISSING


class PandasCells:
    """Reads cells as pandas writes them, for the columns of some fields."""

    def __init__(self, fields: tuple[FieldMapping, ...]) -> None:
        self._is_known = frozenset(field.name for field in fields).__contains__
        types = {
            field.name: FIELD_TYPES[field.record_path]
            for field in fields
            if field.record_path in FIELD_TYPES
        }
        #: The columns that hold no text, or only as JSON.
        self._values = frozenset(
            name for name, known in types.items() if not {str, list} & {*known}
        )
        self._truths = frozenset(name for name, known in types.items() if bool in known)
        self._whole = frozenset(
            name for name, known in types.items() if known == (int,)
        )

    def read(self, row: Row) -> Row:
        """Return `row` with the cells that any other program would have written.

        It is `row` itself if it has these.
        """
        if not self._may_differ(row):
            return row
        found: Row = {}
        for name, cell in row.items():
            if name in self._values:
                if cell in _MISSING:
                    continue
                if name in self._truths:
                    found[name] = _TRUTH.get(cell, cell)
                    continue
                if name in self._whole and (whole := _whole_float.fullmatch(cell)):
                    found[name] = whole[1]
                    continue
            elif _unnamed.fullmatch(name) and _number.fullmatch(cell):
                continue
            found[name] = cell
        return found

    def _may_differ(self, row: Row) -> bool:
        """Tell whether pandas may have written a cell of `row` in its own way."""
        get = row.get
        if not _SPECIAL.isdisjoint(map(get, self._values)):
            return True
        for name in self._whole:
            if (get(name) or "").endswith(".0"):
                return True
        # The filter is exhausted mostly, without a call.
        return any(map(_unnamed.fullmatch, filterfalse(self._is_known, row)))

    def changes(self, name: str, cell: str) -> bool:
        """Tell whether `cell` in the column `name` is read as another one, or none."""
        row = {name: cell}
        return self.read(row) != row
