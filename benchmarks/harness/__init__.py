"""Interleaved runs of commands: wall time, processor time, memory, and limits."""
