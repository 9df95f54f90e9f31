"""The prompt of a record: all texts that a model is sent, and what it is matched by."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from harpia_formats.conversion.mapping.questions import digest_of, prompt_text
from harpia_formats.formats.rules.byte_sums import FEW
from harpia_formats.formats.rules.near_duplicates import SaidTexts
from harpia_formats.model.record import Record


class Comparison(StrEnum):
    """How the prompts of two data sets are compared, from strict to loose."""

    EXACT = "exact"
    #: But for case, white space and punctuation without a meaning; of a chat, the user
    #: turns.
    NORMALISED = "normalised"
    #: Likewise, with the same characters in any order.
    NEAR = "near"


#: Normalises one text as rule X102 does.
_said = SaidTexts(0, 1, ((),))
#: Numbers, which are kept whole, and other characters.
_parts = re.compile(r"[0-9]+|[^0-9]")


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


def compared_digests(record: Record, how: Comparison) -> Iterator[tuple[bytes, bool]]:
    """Yield the digests of a prompt, each with whether it is of all of it.

    A chat with several user turns has one digest of all turns, and one of each turn.
    There are none if the record has no prompt.
    """
    if how is Comparison.EXACT:
        if digest := prompt_digest(record):
            yield digest, True
        return
    turns = _asked_texts(record)
    if turns:
        yield digest_of(*(_compared_text(turn, how) for turn in turns)), True
    for turn in dict.fromkeys(turns if len(turns) > 1 else ()):
        yield digest_of(_compared_text(turn, how)), False


def _asked_texts(record: Record) -> list[str]:
    """Return the prompt, or the text of each user turn: of each turn if none is one."""
    if isinstance(record.prompt, str):
        return [record.prompt]
    messages = record.messages or []
    asked = [message for message in messages if message.get("role") == "user"]
    found = ["\n".join(_texts(each.get("content"))) for each in asked or messages]
    return [text for text in found if text]


def _compared_text(text: str, how: Comparison) -> str:
    """Return what two texts share that are the same in this comparison."""
    said = _said.exactly(text)
    letters = said.strip("\0") if said else ""
    if not letters:  # a text of punctuation only is compared as it is
        return f"\0{text.strip()}"
    if how is Comparison.NEAR and len(letters) >= FEW:
        return "".join(sorted(_parts.findall(letters)))
    return letters
