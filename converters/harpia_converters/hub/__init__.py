"""The hub's own record, as lines of JSON."""

from harpia_converters.hub import record

__all__ = ["record"]
