"""OpenAI: chats for fine-tuning, preferences, and requests and results of batches.

In reading order: `formats`; loaded when they are needed: `tool_calls`, `messages`,
`chat_mapping`, `request_mapping`, `result_mapping` and `lints`.
"""

from harpia_converters.openai import formats

__all__ = ["formats"]
