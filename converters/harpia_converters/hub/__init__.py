"""Our own formats: records without loss, and the verdicts of our judge."""

from harpia_converters.hub import record, verdicts

__all__ = ["record", "verdicts"]
