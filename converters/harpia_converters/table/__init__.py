"""CSV tables with any columns."""

from harpia_converters.table import any_columns

__all__ = ["any_columns"]
