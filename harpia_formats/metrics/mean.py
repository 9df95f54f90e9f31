"""Metrics whose score of many records is the mean of theirs."""

from collections.abc import Callable, Sequence

from harpia_formats.metrics.metric import Measure, Statistics

#: What a scale is multiplied with, a score lying between 0 and 1 before.
FACTORS = {"0-1": 1, "0-100": 100}


def mean_measure(
    name: str,
    signature: str,
    score: Callable[[str, Sequence[str]], float],
    scale: str = "0-1",
) -> Measure:
    """Return the mean of `score`, which gives that of one record from 0 to 1.

    The statistics are the sum of the scores on `scale` and their number.
    """
    factor = FACTORS[scale]
    return Measure(
        (name,),
        f"{signature}|scale:{scale}",
        scale,
        lambda answer, references: (score(answer, references) * factor, 1),
        means(1),
        is_mean=True,
    )


def means(names: int) -> Callable[[Sequence[float]], tuple[float | None, ...]]:
    """Return what makes means of as many sums, followed by the number of records."""
    nothing = (None,) * names

    def means(sums: Sequence[float]) -> tuple[float | None, ...]:
        if not sums or not sums[-1]:
            return nothing
        return tuple(each / sums[-1] for each in sums[:-1])

    return means


def summed(one: Statistics, other: Statistics) -> Statistics:
    """Return two statistics of one measure as those of both."""
    return tuple(a + b for a, b in zip(one, other, strict=True))
