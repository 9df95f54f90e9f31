"""Tencent Cloud TI Platform: evaluation sets, in three kinds of rows and as a table."""

from harpia_converters.tencent import manual, messages, outputs, rules, table

__all__ = ["manual", "messages", "outputs", "rules", "table"]
