"""Remember what was worked out of the last texts, for the next metric to use."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

#: Texts that are kept: those of a few hundred records, since metrics are computed one
#: after the other for as many.
TEXTS = 1024
#: Letters of the longest text that is kept, so that memory stays flat.
LONGEST = 4000


def cached_by_text(work: Callable[[str], T]) -> Callable[[str], T]:
    """Return `work`, which is not done again for a text that was among the last ones.

    What it returns must not be changed.
    """
    kept = lru_cache(TEXTS)(work)

    def worked(text: str) -> T:
        return kept(text) if len(text) <= LONGEST else work(text)

    return worked
