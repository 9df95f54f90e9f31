"""Tables in Parquet, Arrow and Feather."""

from harpia_converters.arrow import any_columns, unpacker

__all__ = ["any_columns", "unpacker"]
