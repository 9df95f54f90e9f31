"""Counts of the scores of single answers, by model, score and length of the answer."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar, Self

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import MODEL, NONE
from harpia_formats.evaluation.scoring.answer_rows import columns_of, values_of
from harpia_formats.evaluation.scoring.intervals import QUANTA
from harpia_formats.evaluation.scoring.outcomes import ScoredAnswer
from harpia_formats.evaluation.scoring.result_format import ResultRun
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.bins import Bin, index_of
from harpia_formats.model.vendor_metrics import BEST

#: Bins of a scale that is known, and the most of one that is not.
BINS = 20
#: Bins that are kept, and those that are left when there are more.
_KEPT, _LEFT = 1024, 512
#: The most that rounding may add to the best score.
_ROUNDING = 1e-9


@dataclass(slots=True)
class ScaleCounts:
    """Counts of numbers from 0 to `best` in bins of one width."""

    best: float
    counts: list[int] = field(default_factory=lambda: [0] * BINS)
    #: How many numbers are not on the scale, for which rounding is no reason.
    beyond: int = 0

    def add(self, value: float) -> None:
        """Count a number; one that is not on the scale is in the bin at its end."""
        share = value / self.best
        self.counts[max(0, min(int(share * BINS), BINS - 1))] += 1
        self.beyond += not -_ROUNDING <= share <= 1 + _ROUNDING

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.beyond += other.beyond
        self.counts = list(map(int.__add__, self.counts, other.counts))

    def bins(self) -> list[Bin]:
        """Return all bins, empty ones too."""
        width = self.best / BINS
        return [
            Bin(at * width, (at + 1) * width, count)
            for at, count in enumerate(self.counts)
        ]


@dataclass(slots=True)
class RangeCounts:
    """Counts of numbers whose range is not known before the last one.

    The width of a bin is a power of two and its edges are multiples of it, so that bins
    can be joined. It follows from the range alone, and not from the order of numbers.
    """

    beyond: ClassVar = 0

    #: The number of numbers by their bin, and by themselves at first.
    counts: dict[float, int] = field(default_factory=dict)
    #: The exponent of the width, None while each number is counted by itself.
    _exponent: int | None = None

    def add(self, value: float) -> None:
        """Count a number."""
        at: float = value
        if self._exponent is not None:
            at = _at(value, self._exponent)
        self.counts[at] = self.counts.get(at, 0) + 1
        if len(self.counts) > _KEPT:
            self.counts, self._exponent = self._joined(_LEFT)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        exponents = [one._exponent for one in (self, other)]  # noqa: SLF001 - of this class
        known = [one for one in exponents if one is not None]
        exponent = max(known) if known else None
        joined: dict[float, int] = {}
        for value, count in chain(self._values(), other._values()):
            at = value if exponent is None else _at(value, exponent)
            joined[at] = joined.get(at, 0) + count
        self.counts, self._exponent = joined, exponent
        if len(self.counts) > _KEPT:
            self.counts, self._exponent = self._joined(_LEFT)

    def _values(self) -> Iterator[tuple[float, int]]:
        """Yield each number, or the start of its bin, and how many there are."""
        for at, count in self.counts.items():
            exponent = self._exponent
            yield at if exponent is None else math.ldexp(at, exponent), count

    def bins(self) -> list[Bin]:
        """Return the bins from the least to the greatest number, empty ones too."""
        if not self.counts:
            return []
        if self._exponent is None and len(self.counts) == 1:
            ((value, count),) = self.counts.items()
            return [Bin(value, value, count)]
        counts, exponent = self._joined(BINS)
        first, last = int(min(counts)), int(max(counts))
        return [
            Bin(
                math.ldexp(at, exponent),
                math.ldexp(at + 1, exponent),
                counts.get(at, 0),
            )
            for at in range(first, last + 1)
        ]

    def _joined(self, most: int) -> tuple[dict[float, int], int]:
        """Return at most so many bins of the least width, and its exponent."""
        values = list(self._values())
        low, high = min(values)[0], max(values)[0]
        exponent = math.frexp((high - low) / most)[1] - 1
        if self._exponent is not None:
            exponent = max(exponent, self._exponent)
        while _at(high, exponent) - _at(low, exponent) >= most:
            exponent += 1
        joined: dict[float, int] = {}
        for value, count in values:
            at = _at(value, exponent)
            joined[at] = joined.get(at, 0) + count
        return joined, exponent


def _at(value: float, exponent: int) -> int:
    """Return the place of a number in bins whose width has this exponent."""
    scaled = math.ldexp(value, -exponent)
    # A small negative number is scaled to 0.
    return -1 if value < 0 and not scaled else math.floor(scaled)


@dataclass(slots=True)
class LengthCount:
    """The answers of about one length."""

    answers: int = 0
    #: The sum of their scores, in multiples of 1/QUANTA so that it is exact.
    quanta: int = 0

    @property
    def mean(self) -> float:
        """The mean of their scores."""
        return self.quanta / QUANTA / self.answers


@dataclass(slots=True)
class ScoreCounts:
    """One score of the answers of one model."""

    values: ScaleCounts | RangeCounts
    #: By the index of the length, two of which double it.
    lengths: dict[int, LengthCount] = field(default_factory=dict)
    answers: int = 0
    quanta: int = 0

    def add(self, value: float, length: int | None) -> None:
        """Count the score of an answer of so many characters, None if not known."""
        quanta = round(value * QUANTA)
        self.values.add(value)
        self.answers += 1
        self.quanta += quanta
        if length is not None:
            of_length = self.lengths.setdefault(index_of(length) // 2, LengthCount())
            of_length.answers += 1
            of_length.quanta += quanta

    def merge(self, other: Self) -> None:
        """Add the answers of another part, which are of the same score."""
        self.values.merge(other.values)  # type: ignore[arg-type]  # of one score
        self.answers += other.answers
        self.quanta += other.quanta
        for index, more in other.lengths.items():
            of_length = self.lengths.setdefault(index, LengthCount())
            of_length.answers += more.answers
            of_length.quanta += more.quanta

    @property
    def mean(self) -> float:
        """The mean of the scores."""
        return self.quanta / QUANTA / self.answers


@dataclass(frozen=True, slots=True)
class ScoreOfAnswers:
    """A score that each answer may have."""

    #: The name of the score of a single answer in results.
    label: str
    scale: str
    #: Whether it is a rate of errors, which may be above its scale.
    is_error_rate: bool

    @property
    def best(self) -> float | None:
        """The end of its scale, None if there is none or it may be above it."""
        return None if self.is_error_rate else BEST.get(self.scale)

    def counts(self) -> ScoreCounts:
        """Return counts without any answer."""
        best = self.best
        return ScoreCounts(RangeCounts() if best is None else ScaleCounts(best))


@dataclass(slots=True)
class AnswerCounts:
    """Counts the answers of a run; a `ResultWriter` that writes nothing."""

    #: The scores that single answers have, and not only questions.
    scores: tuple[ScoreOfAnswers, ...] = ()
    #: Their places among the scores of a run.
    _places: list[int] = field(default_factory=list)
    _models: dict[str, list[ScoreCounts]] = field(default_factory=dict)
    #: The names of the systems, in the order of the scores.
    _systems: list[str] = field(default_factory=list)

    def begin(self, run: ResultRun) -> "AnswerCounts":
        """Take the metrics of a run, and return this object."""
        of_answers = [
            one.measure.question is None for one in run.measured for _ in one.names
        ]
        columns = columns_of(run.measured)
        self._places = [at for at, is_own in enumerate(of_answers) if is_own]
        self.scores = tuple(
            ScoreOfAnswers(one.row_label, one.scale, one.lower_is_better)
            for one in (columns[at] for at in self._places)
        )
        self._models.clear()
        return self

    def add(self, scored: ScoredAnswer) -> None:
        """Count the scores of an answer, once if several rows hold it."""
        if scored.is_repeated:
            return
        name = NONE if scored.output.model is UNSET else scored.output.model
        found = self._models.get(name)
        if found is None:
            found = self._models[name] = self._none()
        length = None if scored.answer is None else len(scored.answer)
        values = values_of(scored)
        for counts, at in zip(found, self._places, strict=True):
            if (value := values[at]) is not None:
                counts.add(value, length)

    def close(self, scores: Scores) -> None:
        """Take the names of the systems, as they are without redaction."""
        self._systems = [system.key.get(MODEL, NONE) for system in scores.systems]

    def drop(self) -> None:
        """Do nothing: there is no file to discard."""

    def of_systems(self) -> list[Sequence[ScoreCounts]]:
        """Return the counts of each system, in the order of `Scores.systems`."""
        if len(self._systems) == 1:
            # Answers without a model are of the only one there is.
            joined = self._none()
            for counts in self._models.values():
                for whole, part in zip(joined, counts, strict=True):
                    whole.merge(part)
            return [joined]
        return [self._models.get(name) or self._none() for name in self._systems]

    def _none(self) -> list[ScoreCounts]:
        """Return counts of no answer for each score."""
        return [score.counts() for score in self.scores]
