"""Tokenizers of ROUGE: a text becomes lines of tokens."""

import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from harpia_formats.evaluation.metrics.parameters import require_extra
from harpia_formats.evaluation.metrics.text.text_cache import cached_by_text

Tokens = list[str]
#: The tokens of each line; cached, so callers must not change them.
Lines = list[Tokens]

ASCII = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))  # noqa: PLR2004 - the end of ASCII
#: Prefixes of the Unicode names of characters that are tokens by themselves: those of
#: scripts that are written without spaces.
ALONE = (
    *("CJK ", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO"),
    *("THAI", "LAO", "KHMER", "MYANMAR", "YI SYLLABLE"),
)
#: Characters of the longest word whose stem is cached, and the number of cached stems.
LONGEST, STEMS = 40, 1 << 16
#: Words of at most as many characters are not stemmed.
UNSTEMMED = 3


def ascii_tokens(text: str) -> Tokens:
    """Return the runs of the letters a to z and digits 0 to 9 in lower case.

    Source: the tokenizer of the package rouge-score 0.1.2.
    """
    data = text.lower().encode("ascii", "replace").translate(ASCII)
    return data.decode("ascii").split()


def unicode_words(text: str) -> Tokens:
    """Return the runs of letters, numbers and marks, in NFC and lower case.

    Unicode categories decide what they are. Each character of a script that is written
    without spaces, such as Han, Kana or Thai, is a token. This is a definition of this
    project, for languages that the tokenizer of rouge-score drops.
    """
    composed = unicodedata.normalize("NFC", text.lower())
    if composed.isascii():
        return ascii_tokens(composed)
    return composed.translate(_spaced).split()


class _Spaced(dict[int, str]):
    """The replacement of each character before splitting, found on first use."""

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
    "unicode": unicode_words,
}


@cache
def line_tokenizer(tokenizer: str, *, stemmer: bool) -> Callable[[str], Lines]:
    """Return a function from a text to its lines of tokens, shared by all metrics.

    Raises `MetricError` if `stemmer` is set and nltk is not installed.
    """
    tokens = TOKENIZERS[tokenizer]
    stemmed = _stemming_by_porter() if stemmer else None

    def lines(text: str) -> Lines:
        found = [tokens(line) for line in text.split("\n")]
        return found if stemmed is None else [stemmed(line) for line in found]

    return cached_by_text(lines)


def _stemming_by_porter() -> Callable[[Tokens], Tokens]:
    """Return a function that stems tokens by NLTK's Porter stemmer, default mode."""
    with require_extra("score", "rouge"):
        from nltk.stem.porter import PorterStemmer  # noqa: PLC0415 - in the extra score, and slow to import
    stem: Callable[[str], Any] = PorterStemmer().stem
    kept = lru_cache(STEMS)(stem)

    def stemmed(tokens: Tokens) -> Tokens:
        return [
            token
            if len(token) <= UNSTEMMED
            else kept(token)
            if len(token) <= LONGEST
            else stem(token)
            for token in tokens
        ]

    return stemmed
