"""Tables of nobody in particular."""

from harpia_converters.table import any_columns

__all__ = ["any_columns"]
