"""How much of what holds for every format the default run tests.

Each law is held for each format, and for pairs of formats. The default run draws so
many records that every format has some, and takes pairs in which every format is the
source and the target of some. `HARPIA_TEST_EFFORT=4` draws four times as many, and
takes four times as many pairs. All pairs are tested by `-m long`.
"""

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import settings

#: How many times as much is drawn as by default.
EFFORT = int(os.environ.get("HARPIA_TEST_EFFORT", "1"))
#: One in so many pairs is tested, if both lists are as long: by default, one in eight.
_ONE_IN = max(1, 8 // EFFORT)


def drawn(count: int) -> int:
    """Return how much to draw where the default run draws `count`."""
    return count * EFFORT


def examples(count: int, **more: Any) -> settings:
    """Return the settings of a law of which the default run draws `count` examples."""
    return settings(max_examples=drawn(count), **more)


def pairs(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """Return all pairs as parameters; those that the default run lacks are long."""
    some = set(some_pairs(first, second))
    return [
        pytest.param(*each, marks=[] if each in some else pytest.mark.long)
        for each in itertools.product(first, second)
    ]


def some_pairs(first: Sequence[Any], second: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return the pairs that the default run has, with each member of both lists.

    They are those in which the places of both members have a sum that is divided.
    """
    divisor = min(_ONE_IN, len(first), len(second))
    return [
        (one, other)
        for at, one in enumerate(first)
        for place, other in enumerate(second)
        if (at + place) % divisor == 0
    ]


def shares(cases: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield without end what to test of all cases: by turns, every case is in some."""
    turns = max(1, min(_ONE_IN, len(cases)))
    for turn in itertools.count():
        yield cases[turn % turns :: turns]
