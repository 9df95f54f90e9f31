"""The statistics of many answers, here or in several processes, in order."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harpia_formats.metrics import Measure, measure_of
from harpia_formats.metrics.metric import Pair, Statistics, UnscorableError
from harpia_formats.scoring.accumulate import Outcome
from harpia_formats.scoring.scores import ComputedMetric

if TYPE_CHECKING:  # little data needs none
    from harpia_formats.workers.pool import Ticket, WorkerPool

#: Answers that are measured together.
BATCH = 256
#: What measures are made of again in another process.
Spec = tuple[tuple[str, Mapping[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What some answers came to."""

    #: For each metric what each answer came to.
    outcomes: list[list[Outcome]]
    #: Seconds that each metric took.
    seconds: list[float]


def measured(measures: Sequence[Measure], pairs: Sequence[Pair]) -> BatchResult:
    """Return what answers came to by each of `measures`."""
    outcomes, seconds = [], []
    for each in measures:
        start = time.perf_counter()
        outcomes.append(_outcomes(each, pairs))
        seconds.append(time.perf_counter() - start)
    return BatchResult(outcomes, seconds)


def _outcomes(measure: Measure, pairs: Sequence[Pair]) -> list[Outcome]:
    return [
        each if isinstance(each, str) else (each, measure.scores(each))
        for each in _statistics(measure, pairs)
    ]


def _statistics(measure: Measure, pairs: Sequence[Pair]) -> list[Statistics | str]:
    if measure.batch is not None:
        # Where one of them has none, which one is seen when they are taken one by one.
        with suppress(UnscorableError):
            return list(measure.batch(pairs))
    return [_one(measure, pair) for pair in pairs]


def _one(measure: Measure, pair: Pair) -> Statistics | str:
    try:
        return measure.statistics(*pair)
    except UnscorableError as error:
        return str(error)


class _Present(threading.local):
    """What a thread measures with, for the metrics that it was asked for last."""

    key: str = ""
    measures: tuple[Measure, ...] = ()


_present = _Present()


def _measure_in_worker(job: tuple[str, Spec], pairs: Sequence[Pair]) -> BatchResult:
    """Return what answers came to, in whatever process this is."""
    key, spec = job
    if _present.key != key:
        _present.measures = tuple(measure_of(*each) for each in spec)
        _present.key = key
    return measured(_present.measures, pairs)


@dataclass(slots=True)
class BatchQueue:
    """Hands out batches of answers, and takes back their statistics in order."""

    measuring: tuple[ComputedMetric, ...]
    #: Called with a batch as it was given, and its statistics.
    deliver: Callable[[Any, BatchResult], None]
    #: Who measures elsewhere, if anybody does.
    pool: "WorkerPool | None" = None
    _batches: int = 0
    #: Whether processes died of their work, so that none is handed out any more.
    _alone: bool = False
    _waiting: "deque[tuple[Any, Sequence[Pair], Ticket]]" = field(default_factory=deque)
    _spec: Spec = ()
    _key: str = ""

    def __post_init__(self) -> None:
        self._spec = tuple(
            (each.request.metric, dict(each.request.parameters))
            for each in self.measuring
        )
        self._key = repr(self._spec)

    def add(self, batch: Any, pairs: Sequence[Pair]) -> None:
        """Take a batch with its answers; deliver what is done and comes first.

        Raises `EngineError`.
        """
        self._batches += 1
        # Few answers need nobody else.
        if self.pool is None or self._alone or self._batches == 1:
            # What is under way comes before it.
            self.finish()
            self.deliver(batch, self._measured_here(pairs))
            return
        job = self._key, self._spec
        ticket = self.pool.submit((_measure_in_worker, (job, list(pairs))))
        self._waiting.append((batch, pairs, ticket))
        if len(self._waiting) >= self.pool.room:
            self._deliver_first(self.pool)

    def finish(self) -> None:
        """Deliver all that is under way; raises `EngineError`."""
        while self._waiting and self.pool is not None:
            self._deliver_first(self.pool)

    def _deliver_first(self, pool: "WorkerPool") -> None:
        from harpia_formats.workers.pool import Died  # noqa: PLC0415 - for much data only

        batch, pairs, ticket = self._waiting.popleft()
        try:
            found = pool.result(ticket)
        except Died:
            self._alone = True
            found = self._measured_here(pairs)
        self.deliver(batch, found)

    def _measured_here(self, pairs: Sequence[Pair]) -> BatchResult:
        return measured([each.measure for each in self.measuring], pairs)
