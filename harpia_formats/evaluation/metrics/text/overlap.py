"""The overlap of two lists of tokens or n-grams."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

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
