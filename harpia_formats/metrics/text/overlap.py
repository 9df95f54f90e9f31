"""How much two lists have in common."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

#: Tokens, or runs of tokens.
Grams = Sequence[Any]


def grams_of(tokens: Sequence[str], size: int) -> Grams:
    """Return all runs of `size` tokens."""
    if size == 1:
        return tokens
    return list(zip(*(tokens[start:] for start in range(size)), strict=False))


def overlap(one: Grams, other: Grams) -> int:
    """Return how many members two lists share, each as often as both have it."""
    others = set(other)
    if len(others) == len(other):
        # What is there once is shared once.
        return len(others.intersection(one))
    left = Counter(other)
    shared = 0
    for each in one:
        count = left.get(each)
        if count:
            left[each] = count - 1
            shared += 1
    return shared


def clipped(one: Grams, others: Sequence[Grams]) -> int:
    """Return how many members of `one` others have, each as often as the best of them.

    Source: the modified precision of BLEU (Papineni and others, 2002).
    """
    if len(others) == 1:
        return overlap(one, others[0])
    counts = Counter(one)
    most: dict[Any, int] = {}
    for other in others:
        for each, count in Counter(other).items():
            if each in counts and count > most.get(each, 0):
                most[each] = count
    return sum([min(counts[each], count) for each, count in most.items()])


def f_score(shared: int, one: int, other: int) -> float:
    """Return the F1 of two lists by what they share and their lengths, from 0 to 1."""
    if not shared:
        return 0.0
    precision, recall = shared / one, shared / other
    return 2 * precision * recall / (precision + recall)
