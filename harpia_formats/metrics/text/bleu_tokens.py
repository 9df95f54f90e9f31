"""Texts as BLEU counts them: sacrebleu's tokenizers, without their caches.

sacrebleu remembers 65,536 texts for each tokenizer, however long they are.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from harpia_formats.metrics.metric import MetricError
from harpia_formats.metrics.parameters import require_extra
from harpia_formats.metrics.text.rouge_tokens import unicode_tokens
from harpia_formats.metrics.text.text_cache import cached_by_text

Tokenizer = Callable[[str], list[str]]
#: Tokenizers of sacrebleu that need no model from the network.
NAMES = ("13a", "none", "intl", "char", "zh", "ja-mecab", "ko-mecab")
_skipped = (("<skipped>", ""), ("-\n", ""), ("\n", " "))
_entities = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
# ASCII punctuation but for apostrophe, comma, hyphen and point.
_alone = re.compile(r"[!-&(-+/:-@\[-`{-~]")
_behind_no_digit = re.compile(r"([^0-9])([.,])")
_before_no_digit = re.compile(r"([.,])([^0-9])")
_dash = re.compile(r"([0-9])-")
#: How many words with other characters than letters and digits are kept as they are
#: split, and their greatest length.
PIECES, LONGEST = 1 << 14, 40


def words_13a(text: str) -> list[str]:
    """Return the words of a text as WMT's script mteval-v13a makes them."""
    for old, new in _skipped:
        text = text.replace(old, new)
    if "&" in text:
        for old, new in _entities:
            text = text.replace(old, new)
    found: list[str] = []
    for each in text.split():
        if each.isalnum():
            found.append(each)
        else:
            found += _kept_pieces(each) if len(each) <= LONGEST else _pieces(each)
    return found


def _pieces(word: str) -> list[str]:
    """Return what a word without spaces is split into; the rules ask for no other."""
    word = _alone.sub(r" \g<0> ", f" {word} ")
    if "." in word or "," in word:
        word = _behind_no_digit.sub(r"\1 \2 ", word)
        word = _before_no_digit.sub(r" \1 \2", word)
    if "-" in word:
        word = _dash.sub(r"\1 - ", word)
    return word.split()


_kept_pieces = lru_cache(PIECES)(_pieces)

#: Tokenizers that are also at hand without sacrebleu.
BUILT_IN_TOKENIZERS: dict[str, Tokenizer] = {
    "whitespace": str.split,
    "13a": cached_by_text(words_13a),
    "unicode": cached_by_text(unicode_tokens),
}
_kept: dict[str, Tokenizer] = {}


def sacrebleu_tokenizer(name: str, metric: str) -> Tokenizer:
    """Return the tokenizer of sacrebleu called `name`; raises `MetricError`."""
    if name == "13a":
        return BUILT_IN_TOKENIZERS[name]
    if name not in _kept:
        _kept[name] = cached_by_text(_foreign(name, metric))
    return _kept[name]


def _foreign(name: str, metric: str) -> Tokenizer:
    with require_extra("score", metric):
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - an extra
        from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415 - likewise
    try:
        tokenizer: Any = BLEU(tokenize=name).tokenizer
    except RuntimeError as error:
        language = name.partition("-")[0]
        raise MetricError(
            f"the tokenizer {name} of the metric {metric} needs packages that are not "
            f"installed: pip install 'sacrebleu[{language}]'"
        ) from error
    caches = [type(tokenizer).__call__, TokenizerRegexp.__call__]
    forget = [each.cache_clear for each in caches if hasattr(each, "cache_clear")]

    def words(text: str) -> list[str]:
        found: list[str] = tokenizer(text).split()
        for each in forget:
            each()
        return found

    return words
