"""The format record: records as JSON Lines, without loss."""

from harpia_converters.hub import record

__all__ = ["record"]
