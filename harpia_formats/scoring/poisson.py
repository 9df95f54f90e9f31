"""How often each record counts in each replicate of a Poisson bootstrap."""

import math
from functools import cache, lru_cache
from typing import Any

#: Records whose weights are drawn together; another value gives other weights.
BLOCK = 256
#: Weights are drawn by 16 bits of chance.
CHANCES = 1 << 16
#: More than any weight that such a chance can give.
MOST = 12


@lru_cache(maxsize=4)
def weights_of(seed: int, block: int, replicates: int) -> Any:
    """Return how often each record of a block counts, as an array of small integers.

    Its shape is `BLOCK` times `replicates`. The numbers are drawn from the Poisson
    distribution with mean 1, its probabilities rounded to 1/65,536, and are the same
    wherever they are drawn.
    """
    import numpy as np  # noqa: PLC0415 - an extra

    source = np.random.Philox(key=seed, counter=[0, 0, block, 0])
    wanted = BLOCK * replicates
    raw = source.random_raw(-(-wanted // 4)).astype("<u8").view("<u2")[:wanted]
    return _quantiles()[raw].reshape(BLOCK, replicates)


@cache
def _quantiles() -> Any:
    """Return the number for each of the equally probable chances."""
    import numpy as np  # noqa: PLC0415 - an extra

    shares, share, total = [], math.exp(-1), 0.0
    for number in range(MOST):
        total += share
        shares.append(round(total * CHANCES))
        share /= number + 1
    return np.searchsorted(shares, np.arange(CHANCES), side="right").astype(np.uint8)
