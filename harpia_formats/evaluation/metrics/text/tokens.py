"""Normalised texts, tokens by the rules of ROUGE and BLEU, and overlaps of tokens."""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from harpia_formats.evaluation.metrics.metric import (
    MetricError,
    Parameters,
    require_extra,
)

T = TypeVar("T")

#: The number of cached texts: those of one batch of records, since metrics are computed
#: one after the other for each batch.
TEXTS = 1024
#: Characters of the longest cached text, so that memory is bounded.
LONGEST = 4000


def cached_by_text(work: Callable[[str], T]) -> Callable[[str], T]:
    """Return `work` with a cache of its results for the last `TEXTS` texts.

    The results must not be changed by the caller.
    """
    kept = lru_cache(TEXTS)(work)

    def worked(text: str) -> T:
        return kept(text) if len(text) <= LONGEST else work(text)

    return worked


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


def normalisation_of(parameters: Parameters) -> tuple[str, Callable[[str], str]]:
    """Return the normalisation that is chosen, by its name; raises `MetricError`."""
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    return chosen, NORMALISATIONS[chosen]


Tokens = list[str]
#: The tokens of each line; cached, so callers must not change them.
Lines = list[Tokens]

ASCII = bytes(code if bytes([code]).isalnum() else ord(" ") for code in range(256))
#: Prefixes of the Unicode names of characters that are tokens by themselves: those of
#: scripts that are written without spaces.
ALONE = (
    *("CJK ", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO"),
    *("THAI", "LAO", "KHMER", "MYANMAR", "YI SYLLABLE"),
)
#: Characters of the longest word whose stem is cached, and the number of cached stems.
LONGEST_STEMMED, STEMS = 40, 1 << 16
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
            if len(token) <= LONGEST_STEMMED
            else stem(token)
            for token in tokens
        ]

    return stemmed


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
PIECES, LONGEST_IN_PIECES = 1 << 14, 40


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
            found += (
                _kept_pieces(word) if len(word) <= LONGEST_IN_PIECES else _pieces(word)
            )
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


#: A list of tokens, or of n-grams of tokens.
Ngrams = Sequence[Any]


def ngrams(tokens: Sequence[str], size: int) -> Ngrams:
    """Return all n-grams of `size` consecutive tokens, in order."""
    if size == 1:
        return tokens
    return list(zip(*(tokens[start:] for start in range(size)), strict=False))


def overlap(one: Ngrams, other: Ngrams) -> int:
    """Return the number of shared items, each counted as often as both have it."""
    others = set(other)
    if len(others) == len(other):
        # Without repeated items a set is enough, and faster.
        return len(others.intersection(one))
    left = Counter(other)
    shared = 0
    for ngram in one:
        count = left.get(ngram)
        if count:
            left[ngram] = count - 1
            shared += 1
    return shared


def clipped_overlap(one: Ngrams, others: Sequence[Ngrams]) -> int:
    """Return the number of items of `one` that `others` have, clipped.

    An item counts at most as often as the list of `others` that has it most often.
    Source: the modified precision of BLEU (Papineni and others, 2002).
    """
    if len(others) == 1:
        return overlap(one, others[0])
    counts = Counter(one)
    most: dict[Any, int] = {}
    for other in others:
        for ngram, count in Counter(other).items():
            if ngram in counts and count > most.get(ngram, 0):
                most[ngram] = count
    return sum([min(counts[ngram], count) for ngram, count in most.items()])


def f_score(shared: int, one: int, other: int) -> float:
    """Return the F1 of two lists from their overlap and lengths, from 0 to 1."""
    if not shared:
        return 0.0
    precision, recall = shared / one, shared / other
    return 2 * precision * recall / (precision + recall)
