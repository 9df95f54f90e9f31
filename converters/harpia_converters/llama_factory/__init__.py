"""LLaMA-Factory's chats, which look like other tools' and are not read."""

from harpia_converters.llama_factory import chats

__all__ = ["chats"]
