"""Permutation tests: how rare a difference is if the systems may change places.

If two systems are equal, the answers of both to a question may change places. The
p-value is the share of such exchanges after which the difference is at least as large,
in either direction.
"""

from collections.abc import Sequence
from math import comb
from typing import Any

from harpia_formats.evaluation.scoring.bootstrap import QUANTUM
from harpia_formats.evaluation.scoring.drawn_sums import (
    Blocks,
    drawn_scores,
    drawn_sums,
)
from harpia_formats.evaluation.scoring.draws import flips_of
from harpia_formats.evaluation.scoring.paired_answers import (
    MetricAnswers,
    PairedAnswers,
    QuestionSums,
)
from harpia_formats.evaluation.scoring.question_rows import SpooledColumns, parts_of
from harpia_formats.evaluation.scoring.student import incomplete_beta

#: All exchanges are made for at most so many questions that differ.
ALL = 14
#: Up to so many questions, probabilities are computed with integers.
_EXACT = 1000
#: Differences are counted in multiples of 1/_UNITS of the largest one.
_UNITS = 2**28
#: What rounding may change in the difference of two scores.
_ROUNDING = 1e-9


class FlipTests:
    """The permutation tests of sums over questions, some of them by common flips.

    A sum is what each question adds to the difference of two systems; its sign is
    flipped if the systems change places.
    """

    def __init__(self, keys: Sequence[bytes], draws: int, seed: int) -> None:
        self._keys, self._draws, self._seed = keys, draws, seed
        #: For each test to be drawn its place, its sum, and the sum to be reached.
        self._drawn: list[tuple[int, float, float]] = []
        self._columns = SpooledColumns(len(keys))
        #: The p-value of each test, and whether it is drawn.
        self._found: list[tuple[float, bool]] = []

    def add(self, places: Any, parts: Any) -> None:
        """Add a test of `parts`, which are those of the questions at `places`."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        largest = float(np.abs(parts).max(initial=0.0))
        if not largest:
            self._found.append((1.0, False))
            return
        whole = np.rint(parts / largest * _UNITS)
        moved = whole[whole != 0]
        # Rounding adds at most half a unit for each question.
        slack = len(moved)
        least = abs(float(moved.sum())) - slack
        if (_UNITS - np.abs(moved) <= 1).all():
            ahead = int((moved > 0).sum())
            self._found.append((sign_test(ahead, len(moved) - ahead), False))
        elif len(moved) <= ALL:
            sums = [0.0]
            for part in moved.tolist():
                sums = [total + sign * part for total in sums for sign in (1, -1)]
            value = sum(abs(total) >= least for total in sums) / len(sums)
            self._found.append((value, False))
        else:
            every = np.zeros(len(self._keys), dtype=np.int32)
            every[places] = whole
            self._columns.add(every)
            self._drawn.append((len(self._found), float(moved.sum()), least))
            self._found.append((1.0, True))

    def p_values(self) -> list[tuple[float, bool]]:
        """Return the p-value of each test, and whether it is that of random flips."""
        if not self._drawn:
            return self._found
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        tests, wholes, least = zip(*self._drawn, strict=True)
        totals = np.array(wholes)
        reached = np.zeros(len(tests), dtype=np.int64)
        for _, sums in drawn_sums(
            flips_of,
            self._keys,
            self._seed,
            self._draws,
            self._columns.part,
            width=len(tests),
        ):
            reached += (np.abs(totals - 2 * sums) >= np.array(least)).sum(axis=0)
        for test, count in zip(tests, reached.tolist(), strict=True):
            self._found[test] = (1 + count) / (1 + self._draws), True
        self._drawn, self._columns = [], SpooledColumns(len(self._keys))
        return self._found


def sign_test(ahead: int, behind: int) -> float:
    """Return the chance of as unequal a split of `ahead + behind` fair coins."""
    few, count = min(ahead, behind), ahead + behind
    if 2 * few == count:
        return 1.0
    if count <= _EXACT:
        tail = sum(comb(count, number) for number in range(few + 1))
        return tail * 2 / (1 << count)
    return min(2 * incomplete_beta(0.5, count - few, few + 1), 1.0)


def exchange_tests(
    answers: MetricAnswers,
    pairs: Sequence[tuple[int, int]],
    paired: Sequence[PairedAnswers],
    draws: int,
    seed: int,
) -> list[list[float]]:
    """Return the p-values of differences that are not sums over questions.

    Each pair of systems has one for each score of the metric. The statistics of the
    systems are exchanged at random.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    blocks = Blocks(answers)
    places = [blocks.add(*both) for both in zip(pairs, paired, strict=True)]
    wholes = [
        [_whole(side, one.counted) for side in (one.first, one.second)]
        for one in paired
    ]
    least = [_gaps(answers, *(row[None] for row in whole))[0] for whole in wholes]
    reached = [np.zeros(len(found), dtype=np.int64) for found in least]
    for _, sums in blocks.sums(flips_of, seed, draws):
        for at, (one, other) in enumerate(places):
            moved = sums[other] - sums[one]
            gaps = _gaps(answers, wholes[at][0] + moved, wholes[at][1] - moved)
            reached[at] += (gaps >= least[at] - _ROUNDING).sum(axis=0)
    return [((1 + counts) / (1 + draws)).tolist() for counts in reached]


def _whole(side: QuestionSums, counted: Any) -> Any:
    """Return the sums of the rounded statistics of the questions that are counted."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    found = np.zeros(side.rows.width)
    for part in parts_of(len(counted)):
        rows = side.rows.part(part)[counted[part]]
        found += (np.rint(rows / QUANTUM) * QUANTUM).sum(0)
    return found


def _gaps(answers: MetricAnswers, one: Any, other: Any) -> Any:
    """Return the absolute differences of scores, infinite where a system lacks one.

    So an exchange without a score counts as one that is as far.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    mine, its = (drawn_scores(answers, sums) for sums in (one, other))
    return np.nan_to_num(np.abs(mine - its), nan=np.inf)
