"""The text in the content of a message: a text, or a list of parts."""

from typing import Any

from harpia_formats.conversion.mapping.content_parts import text_of_part


def text_of(content: Any) -> str | None:
    """Return `content`, or the texts of its parts; None if it is or has anything else.

    There must be one part at least.
    """
    if type(content) is str:
        return content
    if type(content) is not list or not content:
        return None
    texts = [text_of_part(part) for part in content]
    known = [text for text in texts if text is not None]
    return "".join(known) if len(known) == len(texts) else None
