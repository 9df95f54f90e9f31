"""The prompt of a record: all texts that a model is sent, and what it is matched by."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.model.record import Record
from harpia_formats.scoring.questions import digest_of, prompt_text


def prompt_texts(record: Record) -> list[str]:
    """Return the texts of a prompt: with the system message and the contexts."""
    found = [text for text in (record.system, record.prompt) if isinstance(text, str)]
    found += record.contexts or ()
    # The prompt of a chat is one of its messages.
    if not isinstance(record.prompt, str):
        for message in record.messages or ():
            found += _texts(message.get("content"))
    return found


def _texts(content: Any) -> Iterator[str]:
    """Yield the texts of a message: one, or those of its parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text


def prompt_digest(record: Record) -> bytes:
    """Return the digest of the prompt of a record, b"" if it has none.

    An empty text is a prompt.
    """
    if not (isinstance(record.prompt, str) or record.messages):
        return b""
    return digest_of(prompt_text(record))
