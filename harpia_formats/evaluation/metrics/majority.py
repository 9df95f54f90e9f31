"""The majority of k answers, over all sets of k of the answers to a question.

A set is won by the answer that it holds most often; answers that it holds equally often
share it. All sets are counted with integers: by the highest count of an answer in a
set, with polynomials whose n-th coefficient is the number of sets of n answers.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb

#: How often an answer was given, and how many times it was correct. They differ only
#: where the same answer was judged in different ways.
Answer = tuple[int, int]

#: The most that the number of answers times k may be, unless k is all of them.
MOST = 100_000


@lru_cache(maxsize=1 << 14)
def majority_at_k(answers: tuple[Answer, ...], k: int) -> float:
    """Return the chance that the majority of `k` answers, drawn at random, is correct.

    `answers` has each different answer once; `k` is at least 1 and at most the number
    of all of them, and their product at most `MOST` unless they are equal. The chance
    is computed with integers and rounded once.
    """
    count = sum(given for given, _ in answers)
    if k == count:
        most = max(given for given, _ in answers)
        winners = [Fraction(right, most) for given, right in answers if given == most]
        return float(sum(winners) / len(winners))
    if k <= 2:  # noqa: PLR2004 - one answer wins, and two different ones share
        return sum(right for _, right in answers) / count
    won = sum(_won(answers, k, most) for most in range(1, k + 1))
    return float(won / comb(count, k))


def _won(answers: Sequence[Answer], k: int, most: int) -> Fraction:
    """Return how many sets are won by a correct answer that they hold `most` times."""
    able = [answer for answer in answers if answer[0] >= most]
    if not able:
        return Fraction(0)
    count = sum(given for given, _ in answers)
    rest = count - sum(given for given, _ in able)
    # A polynomial is one integer: its coefficients have `width` bits each.
    width = comb(count, min(k, count // 2)).bit_length() + 2 * k.bit_length()
    if most == 1:
        return Fraction(_all_different(able, k, width), k)
    shift, cut = width * most, (1 << width * (k + 1)) - 1
    # By the number of winners: the sets, and the sum of the correct winners in them.
    sets, correct = [_polynomial(rest, min(rest, k), width)], [0]
    for given, right in able:
        fewer, ways = _polynomial(given, most - 1, width), comb(given, most)
        # Of the ways to draw it `most` times, times `most`, so many draw a correct one.
        right_ways = comb(given - 1, most - 1) * right
        won = [0, *(one * ways for one in sets)]
        won_correct = [
            0,
            *(
                old * ways + new * right_ways
                for old, new in zip(correct, sets, strict=True)
            ),
        ]
        sets, correct = (
            [
                (old * fewer + (new << shift)) & cut
                for old, new in zip([*before, 0], more, strict=True)
            ]
            for before, more in ((sets, won), (correct, won_correct))
        )
        del sets[k // most + 1 :], correct[k // most + 1 :]
    return sum(
        (
            Fraction(found >> width * k, most * winners)
            for winners, found in enumerate(correct[1:], 1)
        ),
        Fraction(0),
    )


def _all_different(answers: Sequence[Answer], k: int, width: int) -> int:
    """Return the sum of the correct ones over all sets of `k` different answers."""
    cut = (1 << width * (k + 1)) - 1
    sets, correct = 1, 0
    for given, right in answers:
        correct = (correct + ((correct * given + sets * right) << width)) & cut
        sets = (sets + (sets * given << width)) & cut
    return correct >> width * k


@lru_cache(maxsize=1 << 10)
def _polynomial(count: int, most: int, width: int) -> int:
    """Return the numbers of sets of up to `most` of `count` answers."""
    return sum(comb(count, drawn) << width * drawn for drawn in range(most + 1))
