"""OpenAI: chats for fine-tuning, preferences, and requests and results of batches."""

from harpia_converters.openai import batch_input, batch_output, chat, preference, rules

__all__ = ["batch_input", "batch_output", "chat", "preference", "rules"]
