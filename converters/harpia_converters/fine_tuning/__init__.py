"""Sets for fine-tuning: Alpaca's instructions and ShareGPT's conversations.

In reading order: `formats`; loaded when they are needed: `mapping` and `turn_checks`.
"""

from harpia_converters.fine_tuning import formats

__all__ = ["formats"]
