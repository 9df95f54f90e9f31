"""The statistics of many answers, here or in several processes, in order."""

import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from harpia_formats.grouped_scores import Outcome
from harpia_formats.metrics import Measure, measure_of
from harpia_formats.metrics.metric import Pair, Statistics, Unscorable
from harpia_formats.scores import Measuring

#: Answers that are measured together.
BATCH = 256
#: Batches that wait for each process.
AHEAD = 3
#: What measures are made of again in another process.
Spec = tuple[tuple[str, Mapping[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What some answers came to."""

    #: For each metric what each answer came to.
    outcomes: list[list[Outcome]]
    #: Seconds that each metric took.
    seconds: list[float]


def measured(measures: Sequence[Measure], pairs: Sequence[Pair]) -> Measured:
    """Return what answers came to by each of `measures`."""
    outcomes, seconds = [], []
    for each in measures:
        start = time.perf_counter()
        outcomes.append(_outcomes(each, pairs))
        seconds.append(time.perf_counter() - start)
    return Measured(outcomes, seconds)


def _outcomes(measure: Measure, pairs: Sequence[Pair]) -> list[Outcome]:
    return [
        each if isinstance(each, str) else (each, measure.scores(each))
        for each in _statistics(measure, pairs)
    ]


def _statistics(measure: Measure, pairs: Sequence[Pair]) -> list[Statistics | str]:
    if measure.batch is not None:
        # Where one of them has none, which one is seen when they are taken one by one.
        with suppress(Unscorable):
            return list(measure.batch(pairs))
    return [_one(measure, pair) for pair in pairs]


def _one(measure: Measure, pair: Pair) -> Statistics | str:
    try:
        return measure.statistics(*pair)
    except Unscorable as error:
        return str(error)


#: What this process measures with, for the metrics that it was asked for last.
_present: dict[str, tuple[Measure, ...]] = {}


def _measured_elsewhere(key: str, spec: Spec, pairs: Sequence[Pair]) -> Measured:
    """Return what answers came to, in whatever process this is."""
    if key not in _present:
        _present.clear()
        _present[key] = tuple(measure_of(*each) for each in spec)
    return measured(_present[key], pairs)


@dataclass(slots=True)
class Batches:
    """Hands out batches of answers, and takes back their statistics in order."""

    measuring: tuple[Measuring, ...]
    #: Called with a batch as it was given, and its statistics.
    deliver: Callable[[Any, Measured], None]
    jobs: int = 1
    #: Processes, which are begun for the second batch: few answers need none.
    _pool: Executor | None = None
    _batches: int = 0
    #: Whether a process was killed, so that none are used any more.
    _alone: bool = False
    _waiting: deque[tuple[Any, Sequence[Pair], Future[Measured]]] = field(
        default_factory=deque
    )
    _spec: Spec = ()
    _key: str = ""

    def __post_init__(self) -> None:
        self._spec = tuple(
            (each.asked.metric, dict(each.asked.parameters)) for each in self.measuring
        )
        self._key = repr(self._spec)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def add(self, batch: Any, pairs: Sequence[Pair]) -> None:
        """Take a batch with its answers; deliver what is done and comes first."""
        future = self._submitted(pairs)
        if future is None:
            # What is under way comes before it.
            self.finish()
            self.deliver(batch, self._measured_here(pairs))
            return
        self._waiting.append((batch, pairs, future))
        if len(self._waiting) >= AHEAD * self.jobs:
            self._deliver_first()

    def _submitted(self, pairs: Sequence[Pair]) -> "Future[Measured] | None":
        self._batches += 1
        if self._alone or self.jobs == 1 or self._batches == 1:
            return None
        if self._pool is None:
            from harpia_formats.pool import pool_of  # noqa: PLC0415 - for much data only

            self._pool = pool_of(self.jobs)
        try:
            return self._pool.submit(
                _measured_elsewhere, self._key, self._spec, list(pairs)
            )
        except BrokenExecutor:
            self._alone = True
            return None

    def finish(self) -> None:
        """Deliver all that is under way."""
        while self._waiting:
            self._deliver_first()

    def _deliver_first(self) -> None:
        batch, pairs, future = self._waiting.popleft()
        try:
            found = future.result()
        except BrokenExecutor:
            # A process was killed: what it had to do is done here.
            self._alone = True
            found = self._measured_here(pairs)
        self.deliver(batch, found)

    def _measured_here(self, pairs: Sequence[Pair]) -> Measured:
        return measured([each.measure for each in self.measuring], pairs)


def jobs_of(asked: int) -> int:
    """Return how many processes are meant; 0 is as many as there are processors."""
    return asked or os.cpu_count() or 1
