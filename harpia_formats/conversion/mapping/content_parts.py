"""The content of a message that is a list of parts, as text with the parts beside it.

The content of a message in a record is a text. Images and other parts that are no text
stay in the message, with the texts that they stand between.
"""

from typing import Any

from harpia_formats.model.adapter import Row

#: The key of a message in a record under which its parts are.
PARTS = "content_parts"
_content = "content"
#: The types of parts that are text, of chats and of responses.
_text_types = ("text", "input_text", "output_text")


def text_of_part(part: Any) -> str | None:
    """Return the text of a part, None if it is none."""
    if type(part) is not dict or part.get("type") not in _text_types:
        return None
    text = part.get("text")
    return text if type(text) is str else None


def read_parts(message: Row) -> Row:
    """Return a message as a record has it: `message` itself if it has no parts."""
    parts = message.get(_content)
    if type(parts) is not list or PARTS in message:
        return message
    return {**message, _content: _text_in(parts), PARTS: parts}


def write_parts(message: Row) -> Row:
    """Return a message with its parts as content, if they have the text of it."""
    parts = message.get(PARTS)
    if type(parts) is not list or _text_in(parts) != message.get(_content):
        return message
    own = {key: value for key, value in message.items() if key != PARTS}
    return {**own, _content: parts}


def _text_in(parts: list[Any]) -> str | None:
    """Return the texts of parts, None if there are none."""
    texts = [text for part in parts if (text := text_of_part(part)) is not None]
    return "".join(texts) if texts else None
