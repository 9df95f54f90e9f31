"""Tokenizers of BLEU: those of sacrebleu without its caches.

sacrebleu caches 65,536 texts for each tokenizer, whatever their length, so that its
memory grows with the data set.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from harpia_formats.evaluation.metrics.metric import MetricError
from harpia_formats.evaluation.metrics.parameters import require_extra
from harpia_formats.evaluation.metrics.text.rouge_tokens import unicode_words
from harpia_formats.evaluation.metrics.text.text_cache import cached_by_text

Tokenizer = Callable[[str], list[str]]
#: Tokenizers of sacrebleu that need no model from the network.
NAMES = ("13a", "none", "intl", "char", "zh", "ja-mecab", "ko-mecab")
_skipped = (("<skipped>", ""), ("-\n", ""), ("\n", " "))
_entities = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
# ASCII punctuation except apostrophe, comma, hyphen and full stop.
_alone = re.compile(r"[!-&(-+/:-@\[-`{-~]")
_behind_no_digit = re.compile(r"([^0-9])([.,])")
_before_no_digit = re.compile(r"([.,])([^0-9])")
_dash = re.compile(r"([0-9])-")
#: The number of cached words that contain punctuation, and their greatest length.
PIECES, LONGEST = 1 << 14, 40


def mteval_tokens(text: str) -> list[str]:
    """Return the tokens of a text by the script mteval-v13a of WMT (sacrebleu: 13a)."""
    for old, new in _skipped:
        text = text.replace(old, new)
    if "&" in text:
        for old, new in _entities:
            text = text.replace(old, new)
    found: list[str] = []
    for word in text.split():
        if word.isalnum():
            found.append(word)
        else:
            found += _kept_pieces(word) if len(word) <= LONGEST else _pieces(word)
    return found


def _pieces(word: str) -> list[str]:
    """Return the tokens of a word without spaces by the rules of mteval-v13a."""
    word = _alone.sub(r" \g<0> ", f" {word} ")
    if "." in word or "," in word:
        word = _behind_no_digit.sub(r"\1 \2 ", word)
        word = _before_no_digit.sub(r" \1 \2", word)
    if "-" in word:
        word = _dash.sub(r"\1 - ", word)
    return word.split()


_kept_pieces = lru_cache(PIECES)(_pieces)

#: Tokenizers that do not need sacrebleu.
BUILT_IN_TOKENIZERS: dict[str, Tokenizer] = {
    "whitespace": str.split,
    "13a": cached_by_text(mteval_tokens),
    "unicode": cached_by_text(unicode_words),
}
_kept: dict[str, Tokenizer] = {}


def sacrebleu_tokenizer(name: str, metric: str) -> Tokenizer:
    """Return the tokenizer of sacrebleu with this name.

    Raises `MetricError` if a package that it needs is not installed.
    """
    if name == "13a":
        return BUILT_IN_TOKENIZERS[name]
    if name not in _kept:
        _kept[name] = cached_by_text(_from_sacrebleu(name, metric))
    return _kept[name]


def _from_sacrebleu(name: str, metric: str) -> Tokenizer:
    with require_extra("score", metric):
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - in the extra score
        from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415 - in the extra score
    try:
        tokenizer: Any = BLEU(tokenize=name).tokenizer
    except RuntimeError as error:
        language = name.partition("-")[0]
        raise MetricError(
            f"the tokenizer {name} of the metric {metric} needs packages that are not "
            f"installed: pip install 'sacrebleu[{language}]'"
        ) from error
    caches = [type(tokenizer).__call__, TokenizerRegexp.__call__]
    forget = [cache.cache_clear for cache in caches if hasattr(cache, "cache_clear")]

    def words(text: str) -> list[str]:
        found: list[str] = tokenizer(text).split()
        for clear in forget:
            clear()
        return found

    return words
