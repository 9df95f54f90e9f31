"""Alpaca: instructions with the expected output, as sets for fine-tuning."""

from harpia_converters.alpaca import instructions, rules

__all__ = ["instructions", "rules"]
