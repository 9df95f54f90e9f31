"""Sets for fine-tuning: Alpaca's instructions and ShareGPT's conversations.

In reading order: `formats`; loaded when they are needed: `mapping`, `turn_checks` and
`lints`.
"""

from harpia_converters.fine_tuning import formats

__all__ = ["formats"]
