"""A cache of results for recent texts, which several metrics share."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

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
