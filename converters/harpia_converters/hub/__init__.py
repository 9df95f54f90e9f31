"""Our own formats: records without loss, rows of any keys, verdicts of our judge."""

from harpia_converters.hub import any_keys, record, verdicts

__all__ = ["any_keys", "record", "verdicts"]
