"""What answers store beside their text: token counts, times, and scores."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from msgspec import UNSET

from harpia_formats.evaluation.statistics.distribution import Distribution
from harpia_formats.evaluation.statistics.values import shown
from harpia_formats.model.record import Score

#: Models, kinds of counts or times, and metrics that are told apart; beyond so many
#: pairs of them only the totals are told.
MAX_NAMES = 2_000
#: What stands for a model or metric without a name.
UNNAMED = ""
#: Times are counted in microseconds, so that they add up without rounding.
MICROSECONDS = 1000
#: Milliseconds beyond which a time is none.
MAX_TIME = 2**53


@dataclass(slots=True)
class TokenSums:
    """The sums of the token counts of answers, by model."""

    #: By model and kind of count: the answers that have it, and their sum.
    sums: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    #: The same for all models.
    totals: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: Whether there are too many models to tell them apart, or too many kinds.
    has_too_many: bool = False
    has_too_many_kinds: bool = False

    def add(self, models: Sequence[Any], usages: Sequence[Any]) -> None:
        """Add the token counts of some answers."""
        if usages[0] is UNSET and all(usage is UNSET for usage in usages):
            return
        groups: dict[Any, dict[str, list[int]]] = {}
        for model, usage in zip(models, usages, strict=True):
            if type(usage) is dict:
                group = groups.setdefault(model, {})
                for kind, value in usage.items():
                    if type(value) is int:
                        group.setdefault(kind, []).append(value)
                    else:
                        for name, number in _inner_counts(kind, value):
                            group.setdefault(name, []).append(number)
        for model, kinds in groups.items():
            name = UNNAMED if model is UNSET else shown(model)
            for kind, numbers in kinds.items():
                self._count(name, shown(kind), len(numbers), sum(numbers))

    def _count(self, model: str, kind: str, count: int, total: int) -> None:
        known, before = self.sums.get((model, kind), (0, 0))
        self.sums[model, kind] = known + count, before + total
        known, before = self.totals.get(kind, (0, 0))
        self.totals[kind] = known + count, before + total
        self._bound()

    def merge(self, other: Self) -> None:
        """Add the token counts of `other`."""
        for mine, theirs in ((self.sums, other.sums), (self.totals, other.totals)):
            _add_pairs(mine, theirs)
        self.has_too_many |= other.has_too_many
        self.has_too_many_kinds |= other.has_too_many_kinds
        self._bound()

    def _bound(self) -> None:
        if self.has_too_many or len(self.sums) > MAX_NAMES:
            self.has_too_many = True
            self.sums.clear()
        if self.has_too_many_kinds or len(self.totals) > MAX_NAMES:
            self.has_too_many_kinds = True
            self.totals.clear()


def _add_pairs(mine: dict[Any, tuple[int, int]], theirs: Mapping[Any, Any]) -> None:
    for key, (count, total) in theirs.items():
        known, before = mine.get(key, (0, 0))
        mine[key] = known + count, before + total


def _inner_counts(kind: str, value: Any) -> Iterator[tuple[str, int]]:
    """Yield the counts inside of an object, with its key before theirs."""
    if type(value) is dict:
        for key, number in value.items():
            if type(number) is int:
                yield f"{kind}.{key}", number


@dataclass(slots=True)
class Times:
    """The times of answers in microseconds, by kind."""

    kinds: dict[str, Distribution] = field(default_factory=dict)
    has_too_many: bool = False

    def add(self, columns: Sequence[Any]) -> None:
        """Add the times of some answers."""
        if columns[0] is UNSET and all(times is UNSET for times in columns):
            return
        found: dict[str, list[Any]] = {}
        for times in columns:
            if type(times) is dict:
                for kind, value in times.items():
                    if value is not None:
                        found.setdefault(kind, []).append(value)
        for kind, values in found.items():
            numbers = [
                round(value * MICROSECONDS)
                for value in values
                if isinstance(value, (int, float)) and 0 <= value < MAX_TIME
            ]
            self.kinds.setdefault(shown(kind), Distribution()).add(numbers)
        self._bound()

    def merge(self, other: Self) -> None:
        """Add the times of `other`."""
        for kind, times in other.kinds.items():
            self.kinds.setdefault(kind, Distribution()).merge(times)
        self.has_too_many |= other.has_too_many
        self._bound()

    def _bound(self) -> None:
        if self.has_too_many or len(self.kinds) > MAX_KINDS:
            self.has_too_many = True
            self.kinds.clear()


#: Kinds of times that are told apart: each has a distribution.
MAX_KINDS = 50
#: What is counted of the stored scores of one metric.
OUTCOMES = ("scores", "numbers", "correct", "incorrect")


@dataclass(slots=True)
class ScoreCounts:
    """How many scores answers hold, by evaluation and metric."""

    counts: "dict[tuple[str, str], Counter[str]]" = field(default_factory=dict)
    total: int = 0
    has_too_many: bool = False

    def add(self, columns: Sequence[Any]) -> None:
        """Add the scores of some answers."""
        if columns[0] is UNSET and all(scores is UNSET for scores in columns):
            return
        scores = [each for scores in columns if scores is not UNSET for each in scores]
        self.total += len(scores)
        if self.has_too_many:
            return
        for key, count in Counter(map(_outcome, scores)).items():
            evaluation, metric, is_number, is_correct = key
            name = shown(evaluation or UNNAMED), shown(metric or UNNAMED)
            found = self.counts.setdefault(name, Counter())
            found["scores"] += count
            found["numbers"] += count * is_number
            found["correct"] += count * (is_correct is True)
            found["incorrect"] += count * (is_correct is False)
        self._bound()

    def merge(self, other: Self) -> None:
        """Add the scores of `other`."""
        self.total += other.total
        for name, counts in other.counts.items():
            self.counts.setdefault(name, Counter()).update(counts)
        self.has_too_many |= other.has_too_many
        self._bound()

    def _bound(self) -> None:
        if self.has_too_many or len(self.counts) > MAX_NAMES:
            self.has_too_many = True
            self.counts.clear()


def _outcome(score: Score) -> tuple[str | None, str | None, bool, bool | None]:
    """Return what is counted of a score: its names, and what it tells."""
    value = score.value
    return (
        None if score.evaluation_name is UNSET else score.evaluation_name,
        None if score.metric is UNSET else score.metric,
        isinstance(value, (int, float)),
        None if score.is_correct is UNSET else score.is_correct,
    )
