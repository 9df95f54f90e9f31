"""Normalisation of texts before they are compared.

Sources: `squad` is the normalisation of the scripts of SQuAD v1.1 and v2; `byob` is
that of the BYOB metrics of the NeMo Evaluator (0.2.8) and `nel` that of its main
branch. Each function takes a text and returns a text.
"""

import re
import string
import unicodedata
from collections.abc import Callable

from harpia_formats.evaluation.metrics.text.text_cache import cached_by_text

_article = re.compile(r"\b(a|an|the)\b")
_articles = frozenset({"a", "an", "the"})
_no_punctuation = str.maketrans("", "", string.punctuation)
_punctuation = re.compile(f"[{re.escape(string.punctuation)}]")


def squad(text: str) -> str:
    """Return `text` in lower case, then without ASCII punctuation, then articles."""
    bare = _without_punctuation(text.lower())
    words = bare.split()
    if "".join(words).isalnum():
        # Words end at spaces only, so an article is a whole word: faster than a regex.
        return " ".join([word for word in words if word not in _articles])
    return " ".join(_article.sub(" ", bare).split())


def nel(text: str) -> str:
    """Return `text` in NFKD and lower case, without articles, then punctuation."""
    bare = _article.sub(" ", unicodedata.normalize("NFKD", text).lower())
    return " ".join(_without_punctuation(bare).split())


def byob(text: str) -> str:
    """Return `text` in lower case, without white space at its ends."""
    return text.strip().lower()


def _without_punctuation(text: str) -> str:
    # `translate` with a table is fast for ASCII only.
    if text.isascii():
        return text.translate(_no_punctuation)
    return _punctuation.sub("", text)


#: Every normalisation by its name.
NORMALISATIONS: dict[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "lower": str.lower,
    "byob": byob,
    "squad": cached_by_text(squad),
    "nel": cached_by_text(nel),
}
