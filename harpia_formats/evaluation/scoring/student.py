"""Quantiles of Student's t distribution, without a package for statistics."""

import math
from functools import lru_cache

#: From as many degrees of freedom the expansion is exact to about 12 digits.
_MANY = 1000
_STEPS = 10_000
_tiny = 1e-300


@lru_cache(maxsize=1024)
def t_quantile(share: float, freedom: int) -> float:
    """Return the value below which `share` (0.5 to 1) of the distribution lies.

    `freedom` is the number of degrees of freedom, at least 1. Source: Abramowitz and
    Stegun, Handbook of Mathematical Functions, 26.5.8, 26.7.1 and 26.7.5.
    """
    if freedom >= _MANY:
        return _expansion(share, freedom)
    low, high = 0.0, 1.0
    while _upper_tail(high, freedom) > 1 - share:
        low, high = high, high * 2
    while low < (middle := (low + high) / 2) < high:
        if _upper_tail(middle, freedom) > 1 - share:
            low = middle
        else:
            high = middle
    return high


def _expansion(share: float, freedom: int) -> float:
    """Return the quantile by the expansion around that of the normal distribution."""
    from statistics import NormalDist  # noqa: PLC0415 - slow to import

    z = NormalDist().inv_cdf(share)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def _upper_tail(value: float, freedom: int) -> float:
    """Return the share of the distribution above `value`, which is at least 0."""
    x = freedom / (freedom + value * value)
    return incomplete_beta(x, freedom / 2, 0.5) / 2


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), for x of 0 to 1."""
    if not 0 < x < 1:
        return x
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(logarithm + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            found *= d * c
        if abs(d * c - 1) < math.ulp(1):
            break
    return found


def _not_zero(value: float) -> float:
    return value if abs(value) > _tiny else _tiny
