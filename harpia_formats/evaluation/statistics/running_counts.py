"""Counts of numbers, values, missing fields and usage, in bounded memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, NamedTuple, Self

from msgspec import UNSET, UnsetType

from harpia_formats.model.bins import LengthCounts
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Score
from harpia_formats.validation.dedup.digests import digest_of

#: Distinct numbers that are counted one by one.
MAX_DISTINCT = 4096
#: Bits of a number that are kept where there are more: the error of a percentile is
#: then at most one half of 2^-8 of it.
KEPT_BITS = 8
#: The largest error of a percentile, relative to the number.
ERROR = 2.0 ** -(KEPT_BITS + 1)
#: The percentiles of a summary, by their names.
PERCENTILES = {"p5": 5, "p25": 25, "p50": 50, "p75": 75, "p95": 95, "p99": 99}


@dataclass(slots=True)
class Distribution:
    """How often each number was added; none of them is negative.

    Up to `MAX_DISTINCT` distinct numbers are counted one by one. Beyond, only their
    first bits are kept. Both depend on the numbers, and not on their order or parts.
    """

    _counts: "Counter[int]" = field(default_factory=Counter)
    #: Of all numbers, once they are not counted one by one: how many there are, their
    #: sum, the least and the largest.
    _totals: tuple[int, int, int, int] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether percentiles are exact."""
        return self._totals is None

    def add(self, numbers: Sequence[int]) -> None:
        """Add some numbers."""
        if not numbers:
            return
        if self._totals is None:
            self._counts.update(numbers)
            self._bound()
        else:
            totals = len(numbers), sum(numbers), min(numbers), max(numbers)
            self._add_totals(totals)
            self._counts.update(map(_first_bits, numbers))

    def merge(self, other: Self) -> None:
        """Add the numbers of `other`."""
        if other._totals is not None or self._totals is not None:
            self._keep_bits()
            # The counts of `other` may be those of a result that is kept.
            totals = other._totals or _totals_of(other._counts)
            self._add_totals(totals)
            for number, count in other._counts.items():
                self._counts[_first_bits(number)] += count
            return
        self._counts.update(other._counts)
        self._bound()

    def _bound(self) -> None:
        if len(self._counts) > MAX_DISTINCT:
            self._keep_bits()

    def _keep_bits(self) -> None:
        """Keep only the first bits of each number."""
        if self._totals is not None:
            return
        self._totals = _totals_of(self._counts)
        counts, self._counts = self._counts, Counter()
        for number, count in counts.items():
            self._counts[_first_bits(number)] += count

    def _add_totals(self, more: tuple[int, int, int, int]) -> None:
        number, total, least, most = self.totals
        if not more[0]:
            return
        if number:
            least, most = min(least, more[2]), max(most, more[3])
        else:
            least, most = more[2:]
        self._totals = number + more[0], total + more[1], least, most

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """How many numbers there are, their sum, the least and the largest."""
        return self._totals or _totals_of(self._counts)

    def summary(self) -> dict[str, Any]:
        """Return the number, least, percentiles, largest, mean and sum of the numbers.

        A percentile p is the least number that at least p % of all do not exceed.
        """
        number, total, least, most = self.totals
        if not number:
            return {"count": 0}
        found: dict[str, Any] = {"count": number, "min": least}
        found |= self._percentiles(number, least, most)
        found |= {"max": most, "mean": total / number, "sum": total}
        return {**found, "exact": self.is_exact}

    def _percentiles(self, number: int, least: int, most: int) -> dict[str, int]:
        ranks = {
            name: -(-number * percent // 100) for name, percent in PERCENTILES.items()
        }
        found: dict[str, int] = {}
        below = 0
        waiting = list(ranks.items())
        for value in sorted(self._counts):
            below += self._counts[value]
            while waiting and waiting[0][1] <= below:
                shown = value if self.is_exact else _middle(value)
                found[waiting.pop(0)[0]] = max(least, min(shown, most))
            if not waiting:
                break
        return found

    def histogram(self) -> list[dict[str, int]]:
        """Return how many numbers are in each range; there are four for a doubling.

        Ranges at the ends without a number are left out.
        """
        found = LengthCounts()
        for number, count in self._counts.items():
            found.add(number, count)
        return [
            {"from": int(each.low), "to": int(each.high) - 1, "count": each.count}
            for each in found.bins()
        ]


def _totals_of(counts: Mapping[int, int]) -> tuple[int, int, int, int]:
    if not counts:
        return 0, 0, 0, 0
    total = sum(number * count for number, count in counts.items())
    return sum(counts.values()), total, min(counts), max(counts)


def _first_bits(number: int) -> int:
    """Return a number with all but its first bits set to 0."""
    shift = number.bit_length() - KEPT_BITS - 1
    return number >> shift << shift if shift > 0 else number


def _middle(number: int) -> int:
    """Return the middle of the numbers with the same first bits."""
    shift = number.bit_length() - KEPT_BITS - 1
    return number + (1 << shift >> 1) if shift > 0 else number


def merge_all(mine: dict[str, Any], other: Mapping[str, Any], new: Any) -> None:
    """Merge each value of `other` into that of its name; `new` makes a missing one."""
    for name, value in other.items():
        if name not in mine:
            mine[name] = new()
        mine[name].merge(value)


#: Distinct values that are counted. Of a field with more, only their total is told.
MAX_VALUES = 10_000
#: Characters of a value that are shown; a longer one is told apart by a digest.
MAX_SHOWN = 120


@dataclass(slots=True)
class ValueCounts:
    """How often each value of a field was added, if there are not too many."""

    #: How many values were added.
    total: int = 0
    #: Empty once there were more than `MAX_VALUES` distinct ones.
    counts: "Counter[str]" = field(default_factory=Counter)
    #: Whether there are too many distinct values to count each.
    has_too_many: bool = False

    def add(self, values: Iterable[Any]) -> None:
        """Add some values: texts, or other JSON."""
        texts = [
            value if type(value) is str and len(value) <= MAX_SHOWN else shown(value)
            for value in values
        ]
        self.total += len(texts)
        if not self.has_too_many:
            self.counts.update(texts)
            self._bound()

    def merge(self, other: Self) -> None:
        """Add the values of `other`."""
        self.total += other.total
        self.has_too_many |= other.has_too_many
        if not self.has_too_many:
            self.counts.update(other.counts)
        self._bound()

    def _bound(self) -> None:
        if self.has_too_many or len(self.counts) > MAX_VALUES:
            self.has_too_many = True
            self.counts.clear()

    def summary(self, top: int) -> dict[str, Any]:
        """Return the most frequent values with their counts, and what is left out.

        Of values with the same count, those that come first in the alphabet are told.
        """
        if self.has_too_many:
            return {"count": self.total, "distinct": None, "top": [], "others": None}
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        found = [{"value": value, "count": count} for value, count in ordered[:top]]
        others = sum(count for _, count in ordered[top:])
        return {
            "count": self.total,
            "distinct": len(ordered),
            "top": found,
            "others": others,
        }


def shown(value: Any) -> str:
    """Return a value as a text of bounded length, which differs for other values."""
    text = value if isinstance(value, str) else encode(value).decode()
    if len(text) <= MAX_SHOWN:
        return text
    return f"{text[: MAX_SHOWN - 20]}… ({len(text):,} characters, {digest_of(text):x})"


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


_sized = {str, list, dict}


class RecordPlace(NamedTuple):
    """The place of a record.

    Files count from 0 in the order in which they are read, records and lines from 1. A
    line is that where the record begins, 0 if it is not known.
    """

    file: int
    record: int
    line: int = 0


#: Returns the place of the record that a value in a column is of, by its index.
PlaceOf = Callable[[int], RecordPlace]


@dataclass(slots=True)
class Lacking:
    """How many records or answers lack a value, and the place of the first one."""

    count: int = 0
    first: RecordPlace | None = None

    def add(self, count: int, first: RecordPlace | None) -> None:
        """Add some records, the first of which is at `first`."""
        self.count += count
        if self.first is None or (first is not None and first < self.first):
            self.first = first

    def add_where(self, lacks: list[bool], place: PlaceOf) -> None:
        """Add the records for which `lacks` is true."""
        count = sum(lacks)
        if count:
            self.add(count, place(lacks.index(True)))


@dataclass(slots=True)
class FieldCount:
    """How often a field is there, and how often it is missing, null or empty.

    A text is empty if it has nothing but white space, a list or an object if it has no
    members.
    """

    #: Records or answers, which may have the field.
    count: int = 0
    missing: Lacking = field(default_factory=Lacking)
    null: Lacking = field(default_factory=Lacking)
    empty: Lacking = field(default_factory=Lacking)

    @property
    def is_known(self) -> bool:
        """Whether some record has the field."""
        return self.missing.count < self.count

    def add(self, column: Sequence[Any], place: PlaceOf) -> None:
        """Add the values of the field in some records or answers."""
        self.count += len(column)
        kinds = set(map(type, column))
        if UnsetType in kinds:
            self.missing.add_where([value is UNSET for value in column], place)
        if NoneType in kinds:
            self.null.add_where([value is None for value in column], place)
        if kinds & _sized and _has_empty(column, kinds):
            self.empty.add_where([_is_empty(value) for value in column], place)

    def merge(self, other: Self, shift: Callable[[RecordPlace], RecordPlace]) -> None:
        """Add the records of `other`, whose places `shift` moves."""
        self.count += other.count
        for mine, theirs in (
            (self.missing, other.missing),
            (self.null, other.null),
            (self.empty, other.empty),
        ):
            first = theirs.first
            mine.add(theirs.count, None if first is None else shift(first))


def _has_empty(column: Sequence[Any], kinds: set[type]) -> bool:
    """Return whether a value may be empty; true also where that was not looked at."""
    if kinds == {str}:
        return not all(column) or any(map(str.isspace, column))
    return str in kinds or not all(column)


def _is_empty(value: Any) -> bool:
    if type(value) is str:
        return not value or value.isspace()
    return type(value) in _sized and not value
