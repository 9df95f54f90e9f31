"""ShareGPT: conversations between people and models, as sets for fine-tuning."""

from harpia_converters.sharegpt import conversations, rules

__all__ = ["conversations", "rules"]
