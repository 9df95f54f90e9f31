"""Part numbers in order of size, as near to given shares as equal ones allow."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby

#: Numbers are counted by their first bits.
_BITS = 16
_SHIFT = 64 - _BITS


def thresholds(numbers: Iterable[int], shares: Sequence[float]) -> list[int]:
    """Return the numbers at which all parts but the first begin.

    `numbers`, from 0 to 2^64 - 1, are iterated several times. Equal ones are in one
    part, and the parts hold about the `shares` of all, which sum to 1.
    """
    counts = array("Q", bytes(8 << _BITS))
    for number in numbers:
        counts[number >> _SHIFT] += 1
    ends = list(accumulate(counts))
    total = ends[-1]
    targets = [share * total for share in accumulate(shares)][:-1]
    return [_threshold(numbers, ends, target) for target in targets]


def _threshold(numbers: Iterable[int], ends: Sequence[int], target: float) -> int:
    """Return the number below which about `target` many are."""
    first = next((n for n, end in enumerate(ends) if end >= target), len(ends) - 1)
    inside = sorted(number for number in numbers if number >> _SHIFT == first)
    below = ends[first - 1] if first else 0
    best, found = abs(below - target), first << _SHIFT
    for number, same in groupby(inside):
        below += sum(1 for _ in same)
        if abs(below - target) < best:
            best, found = abs(below - target), number + 1
    return found


def part_of(number: int, begins: Sequence[int]) -> int:
    """Return the index of the part of a number, given where the others begin."""
    return bisect_right(begins, number)
