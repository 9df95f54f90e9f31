"""Permutation tests: how rare a difference is if the systems may change places.

If two systems are equal, the answers of both to a question may change places. The
p-value is the share of such exchanges after which the difference is at least as large,
in either direction.
"""

from collections.abc import Sequence
from math import comb
from typing import Any

from harpia_formats.scoring.bootstrap import QUANTUM
from harpia_formats.scoring.draws import flips_of, pieces
from harpia_formats.scoring.paired_answers import PairedAnswers
from harpia_formats.scoring.student import incomplete_beta

#: All exchanges are made for at most so many questions that differ.
ALL = 14
#: Up to so many questions, probabilities are computed with integers.
_EXACT = 1000
#: Differences are counted in multiples of 1/_UNITS of the largest one.
_UNITS = 2**28
#: What rounding may change in the difference of two scores.
_ROUNDING = 1e-9


def flip_test(
    keys: Sequence[bytes], parts: Sequence[float], draws: int, seed: int
) -> tuple[float, int]:
    """Return the p-value of the sum of `parts`, and how many flips were drawn.

    `parts` has what each question adds to the difference, whose sign is flipped if the
    systems change places. The number is 0 if the p-value is that of all flips.
    """
    largest = max(map(abs, parts), default=0.0)
    if not largest:
        return 1.0, 0
    whole = [round(part / largest * _UNITS) for part in parts]
    moved = [(key, part) for key, part in zip(keys, whole, strict=True) if part]
    # Rounding adds at most half a unit for each question.
    slack = len(moved)
    least = abs(sum(part for _, part in moved)) - slack
    if all(_UNITS - abs(part) <= 1 for _, part in moved):
        ahead = sum(part > 0 for _, part in moved)
        return sign_test(ahead, len(moved) - ahead), 0
    if len(moved) <= ALL:
        sums = [0]
        for _, part in moved:
            sums = [total + sign * part for total in sums for sign in (1, -1)]
        return sum(abs(total) >= least for total in sums) / len(sums), 0
    return _drawn(moved, least, draws, seed), draws


def _drawn(
    moved: Sequence[tuple[bytes, int]], least: int, draws: int, seed: int
) -> float:
    """Return the p-value by random flips."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    keys = [key for key, _ in moved]
    sizes = np.array([part for _, part in moved], dtype=np.float64)
    flipped = np.zeros(draws)
    for part in pieces(len(keys), draws // 8):
        flips = flips_of(keys[part], seed, draws).astype(np.float64)
        flipped += np.einsum("k,kd->d", sizes[part], flips)
    sums = np.abs(sizes.sum() - 2 * flipped)
    return (1 + int(np.count_nonzero(sums >= least))) / (1 + draws)


def sign_test(ahead: int, behind: int) -> float:
    """Return the chance of as unequal a split of `ahead + behind` fair coins."""
    few, count = min(ahead, behind), ahead + behind
    if 2 * few == count:
        return 1.0
    if count <= _EXACT:
        tail = sum(comb(count, number) for number in range(few + 1))
        return tail * 2 / (1 << count)
    return min(2 * incomplete_beta(0.5, count - few, few + 1), 1.0)


def exchange_test(answers: PairedAnswers, at: int, draws: int, seed: int) -> float:
    """Return the p-value of a difference that is not a sum over questions.

    `at` is the place of the score among the names of the metric. Statistics of the
    systems are exchanged at random.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    ours, theirs = (
        np.rint(np.asarray(rows, dtype=np.float64) / QUANTUM) * QUANTUM
        for rows in (answers.first, answers.second)
    )
    moved = np.zeros((draws, ours.shape[1]))
    for part in pieces(len(answers.keys), draws // 8):
        flips = flips_of(answers.keys[part], seed, draws).astype(np.float64)
        # Not by `@`, which starts threads for each of these small products.
        moved += np.einsum("kd,ks->ds", flips, theirs[part] - ours[part])
    one, other = ours.sum(0), theirs.sum(0)
    least = _gap(answers, at, one, other) - _ROUNDING
    as_far = sum(_gap(answers, at, one + part, other - part) >= least for part in moved)
    return (1 + as_far) / (1 + draws)


def _gap(answers: PairedAnswers, at: int, one: Any, other: Any) -> float:
    """Return the absolute difference of a score, 0 if a system lacks it."""
    mine, its = (answers.scores(sums.tolist())[at] for sums in (one, other))
    return 0.0 if mine is None or its is None else abs(mine - its)
