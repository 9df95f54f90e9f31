"""Texts as ROUGE counts them: lines of tokens."""

import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from harpia_formats.metrics.parameters import require_extra
from harpia_formats.metrics.text.text_cache import cached_by_text

Tokens = list[str]
#: Lines of tokens, which nobody changes.
Lines = list[Tokens]

ASCII = bytes(each if chr(each).isalnum() and each < 128 else 32 for each in range(256))  # noqa: PLR2004 - the end of ASCII
#: How the names of characters begin that are words of their own: scripts that are
#: written without spaces.
ALONE = (
    *("CJK ", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO"),
    *("THAI", "LAO", "KHMER", "MYANMAR", "YI SYLLABLE"),
)
#: Characters of the longest word whose stem is kept, and how many stems are.
LONGEST, STEMS = 40, 1 << 16
#: Words of at most as many characters are not stemmed.
UNSTEMMED = 3


def ascii_tokens(text: str) -> Tokens:
    """Return the runs of the letters a to z and digits 0 to 9 in lower case.

    Source: the tokenizer of the package rouge-score 0.1.2.
    """
    data = text.lower().encode("ascii", "replace").translate(ASCII)
    return data.decode("ascii").split()


def unicode_tokens(text: str) -> Tokens:
    """Return runs of letters, numbers and marks in lower case, composed (NFC).

    They are told by Unicode's categories. A character of a script that is written
    without spaces, such as Han, Kana or Thai, is a token of its own.
    """
    composed = unicodedata.normalize("NFC", text.lower())
    if composed.isascii():
        return ascii_tokens(composed)
    return composed.translate(_spaced).split()


class _Spaced(dict[int, str]):
    """What a character becomes before the text is split; known once it was met."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if unicodedata.category(letter)[0] not in "LMN":
            spaced = " "
        elif unicodedata.name(letter, "").startswith(ALONE):
            spaced = f" {letter} "
        else:
            spaced = letter
        self[code] = spaced
        return spaced


_spaced = _Spaced()
TOKENIZERS: dict[str, Callable[[str], Tokens]] = {
    "rouge_score": ascii_tokens,
    "unicode": unicode_tokens,
}


@cache
def line_tokenizer(tokenizer: str, *, stemmer: bool) -> Callable[[str], Lines]:
    """Return what makes lines of tokens, the same for every metric that asks.

    Raises `MetricError` where stems are wanted and nltk is not installed.
    """
    tokens = TOKENIZERS[tokenizer]
    stemmed = _stemmed() if stemmer else None

    def lines(text: str) -> Lines:
        found = [tokens(each) for each in text.split("\n")]
        return found if stemmed is None else [stemmed(each) for each in found]

    return cached_by_text(lines)


def _stemmed() -> Callable[[Tokens], Tokens]:
    """Return what stems tokens, in the mode of NLTK's Porter stemmer's default."""
    with require_extra("score", "rouge"):
        from nltk.stem.porter import PorterStemmer  # noqa: PLC0415 - an extra, and slow
    stem: Callable[[str], Any] = PorterStemmer().stem
    kept = lru_cache(STEMS)(stem)

    def stemmed(tokens: Tokens) -> Tokens:
        return [
            each
            if len(each) <= UNSTEMMED
            else kept(each)
            if len(each) <= LONGEST
            else stem(each)
            for each in tokens
        ]

    return stemmed
