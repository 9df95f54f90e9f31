"""Full-width punctuation, as input methods write it, in the place of that of JSON."""

import re
from collections.abc import Iterator

import msgspec


class Punctuation(msgspec.Struct, frozen=True):
    """What a character of full width is called, and what JSON has in its place."""

    name: str
    plain: str


#: By the character. Input methods write the lenticular brackets for the square ones.
PUNCTUATION = {
    "，": Punctuation("a full-width comma", ","),
    "、": Punctuation("an ideographic comma", ","),
    "：": Punctuation("a full-width colon", ":"),
    "［": Punctuation("a full-width bracket", "["),
    "］": Punctuation("a full-width bracket", "]"),
    "【": Punctuation("a lenticular bracket", "["),
    "】": Punctuation("a lenticular bracket", "]"),
    "｛": Punctuation("a full-width brace", "{"),
    "｝": Punctuation("a full-width brace", "}"),
}
SPACE, QUOTE = "\u3000", "＂"
#: Characters that take the place of double quotes.
QUOTES = f"“”„‟{QUOTE}"
_wide = {**{char: each.plain for char, each in PUNCTUATION.items()}, SPACE: " "}
#: The next token that matters: a string, a text in other quotation marks that has no
#: quotation mark of any kind in it, or a character of full width.
_token = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|(?P<open>%b)(?:(?!%b|").)*+(?P<close>%b)|%b'
    % (
        *(("|".join(QUOTES)).encode(),) * 3,
        "|".join(map(re.escape, _wide)).encode(),
    ),
    re.DOTALL,
)


def plain_edits(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield what makes punctuation of full width outside of strings that of JSON.

    Each is the offsets from and to, and the bytes that are to be between them. Of text
    in other quotation marks the marks are changed, and nothing between them.
    """
    for found in _token.finditer(text):
        if found["open"] is not None:
            yield *found.span("open"), b'"'
            yield *found.span("close"), b'"'
        elif not found[0].startswith(b'"'):
            yield *found.span(), _wide[found[0].decode()].encode()


def with_plain_punctuation(text: bytes) -> bytes:
    """Return a text with the edits of `plain_edits`."""
    pieces, at = [], 0
    for start, end, plain in plain_edits(text):
        pieces += [text[at:start], plain]
        at = end
    return b"".join([*pieces, text[at:]])
