"""The text in the content of a message: a text, or a list of parts."""

from typing import Any

#: The types of parts that are text, of chats and of responses.
_text_types = frozenset({"text", "input_text", "output_text"})


def text_of(content: Any) -> str | None:
    """Return `content`, or the texts of its parts; None if it is or has anything else.

    There must be one part at least.
    """
    if type(content) is str:
        return content
    if type(content) is not list or not content:
        return None
    texts = [_text_of_part(part) for part in content]
    known = [text for text in texts if text is not None]
    return "".join(known) if len(known) == len(texts) else None


def _text_of_part(part: Any) -> str | None:
    if type(part) is not dict or part.get("type") not in _text_types:
        return None
    text = part.get("text")
    return text if type(text) is str else None
