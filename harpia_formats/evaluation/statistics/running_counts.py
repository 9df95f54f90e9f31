"""Counts of numbers, values, missing fields and usage, in bounded memory."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import NoneType
from typing import Any, NamedTuple, Self

from msgspec import UNSET, UnsetType

from harpia_formats.model.bins import LengthCounts
from harpia_formats.model.exact_json import encode
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


#: How many numbers there are, their sum, the least and the largest.
Totals = tuple[int, int, int, int]


@dataclass(slots=True)
class Distribution:
    """How often each number was added; none of them is negative.

    Up to `MAX_DISTINCT` distinct numbers are counted one by one. Beyond, only their
    first bits are kept. Both depend on the numbers, and not on their order or parts.
    """

    _counts: "Counter[int]" = field(default_factory=Counter)
    #: Those of all numbers, once they are not counted one by one.
    _totals: Totals | None = None

    def add(self, numbers: Iterable[int]) -> None:
        """Add some numbers."""
        if self._totals is None:
            self._counts.update(numbers)
            self._bound()
        else:
            self.merge(type(self)(Counter(numbers)))

    def merge(self, other: Self) -> None:
        """Add the numbers of `other`."""
        if self._totals is None and other._totals is None:
            self._counts.update(other._counts)
            self._bound()
            return
        # The counts of `other` may be those of a result that is kept.
        self._keep_bits()
        self._totals = _sum_of_totals(self.totals, other.totals)
        self._counts.update(_with_first_bits(other._counts))

    def _bound(self) -> None:
        """Count no more one by one if there are too many distinct numbers."""
        if len(self._counts) > MAX_DISTINCT:
            self._keep_bits()

    def _keep_bits(self) -> None:
        """Keep only the first bits of each number."""
        if self._totals is None:
            self._totals = self.totals
            self._counts = _with_first_bits(self._counts)

    @property
    def totals(self) -> Totals:
        """The totals of all numbers, which are 0 if there are none."""
        counts = self._counts
        if self._totals is not None or not counts:
            return self._totals or (0, 0, 0, 0)
        total = sum(number * count for number, count in counts.items())
        return counts.total(), total, min(counts), max(counts)

    def summary(self) -> dict[str, Any]:
        """Return the number, least, percentiles, largest, mean and sum of the numbers.

        A percentile p is the least number that at least p % of all do not exceed.
        """
        number, total, least, most = self.totals
        if not number:
            return {"count": 0}
        values = sorted(self._counts)
        ends = [*accumulate(map(self._counts.__getitem__, values))]
        is_exact = self._totals is None
        percentiles: dict[str, Any] = {}
        for name, percent in PERCENTILES.items():
            value = values[bisect_left(ends, -(-number * percent // 100))]
            shown_value = value if is_exact else _middle(value)
            percentiles[name] = max(least, min(shown_value, most))
        found = {"count": number, "min": least, **percentiles}
        found |= {"max": most, "mean": total / number, "sum": total}
        return {**found, "exact": is_exact}

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


def _sum_of_totals(one: Totals, other: Totals) -> Totals:
    """Return the totals of all numbers that either are of."""
    if not one[0] or not other[0]:
        return one if one[0] else other
    number, total = one[0] + other[0], one[1] + other[1]
    return number, total, min(one[2], other[2]), max(one[3], other[3])


def _with_first_bits(counts: Mapping[int, int]) -> "Counter[int]":
    """Return counts of numbers with all but their first bits set to 0."""
    found: Counter[int] = Counter()
    for number, count in counts.items():
        shift = max(number.bit_length() - KEPT_BITS - 1, 0)
        found[number >> shift << shift] += count
    return found


def _middle(number: int) -> int:
    """Return the middle of the numbers with the same first bits."""
    shift = max(number.bit_length() - KEPT_BITS - 1, 0)
    return number + (1 << shift >> 1)


#: Characters of a value that are shown; a longer one is identified by a digest.
MAX_SHOWN = 120


@dataclass(slots=True)
class BoundedCounts:
    """Numbers by their key, which are forgotten once there are more than `most`."""

    most: int
    #: How many values were added, also of those that are forgotten.
    total: int = 0
    #: None once there were too many.
    counts: "Counter[Any] | None" = field(default_factory=Counter)

    def add(self, counts: Any, total: int = 0) -> None:
        """Add numbers by their key, or keys of which each is counted once."""
        self.total += total
        if self.counts is not None:
            self.counts.update(counts)
            if len(self.counts) > self.most:
                self.counts = None

    def merge(self, other: Self) -> None:
        """Add the numbers of `other`."""
        if other.counts is None:
            self.counts = None
        self.add(other.counts, other.total)

    def ordered(self) -> list[tuple[Any, int]]:
        """Return the keys and their counts, the most frequent first.

        Of keys with the same count, those that come first in the alphabet are first.
        """
        counts: Mapping[Any, int] = self.counts or {}
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def top(self, most: int) -> dict[str, Any]:
        """Return the most frequent keys with their counts, and what is left out."""
        if self.counts is None:
            return {"count": self.total, "distinct": None, "top": [], "others": None}
        ordered = self.ordered()
        return {
            "count": self.total,
            "distinct": len(ordered),
            "top": [{"value": key, "count": count} for key, count in ordered[:most]],
            "others": sum(count for _, count in ordered[most:]),
        }

    def tree(self) -> dict[str, Any] | None:
        """Return an object for each part of the keys, in their order."""
        if self.counts is None:
            return None
        found: dict[str, Any] = {}
        for (*names, last), number in sorted(self.counts.items()):
            inner = found
            for name in names:
                inner = inner.setdefault(name, {})
            inner[last] = number
        return found


def shown(value: Any) -> str:
    """Return a value as a text of bounded length, any but a text as its JSON.

    So the number 1 is the same as the text `1`; other values differ.
    """
    text = value if isinstance(value, str) else encode(value).decode()
    if len(text) <= MAX_SHOWN:
        return text
    return f"{text[: MAX_SHOWN - 20]}… ({len(text):,} characters, {digest_of(text):x})"


#: The types of values that may be empty.
_sized = {str, list, dict}


class RecordPlace(NamedTuple):
    """The place of a record.

    Files count from 0 in the order in which they are read, records and lines from 1. A
    line is that where the record begins, 0 if it is not known.
    """

    file: int
    record: int
    line: int = 0

    def after(self, before: "RecordPlace") -> "RecordPlace":
        """Return the place in a file where `before` ends what precedes this part."""
        line = self.line and before.line + self.line
        return RecordPlace(before.file, before.record + self.record, line)


#: Returns the place of the record that a value in a column is of, by its index.
PlaceOf = Callable[[int], RecordPlace]


#: How a value may lack.
LACKS = ("missing", "null", "empty")


@dataclass(slots=True)
class FieldCount:
    """How often a field is present, and how often it is missing, null or empty.

    A text is empty if it has nothing but white space, a list or an object if it has no
    members.
    """

    #: Records or answers, which may have the field.
    count: int = 0
    #: By one of `LACKS`: how many of them lack a value, and the place of the first.
    lacks: dict[str, tuple[int, RecordPlace]] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether some record has the field."""
        missing, *_ = self.lacks.get("missing", (0,))
        return missing < self.count

    def add(self, column: Sequence[Any], place: PlaceOf) -> None:
        """Add the values of the field in some records or answers."""
        self.count += len(column)
        kinds = set(map(type, column))
        lacking = {}
        if UnsetType in kinds:
            lacking["missing"] = [value is UNSET for value in column]
        if NoneType in kinds:
            lacking["null"] = [value is None for value in column]
        if kinds & _sized:
            lacking["empty"] = [
                not value or value.isspace()
                if type(value) is str
                else not value and type(value) in _sized
                for value in column
            ]
        for how, lacks in lacking.items():
            if True in lacks:
                self._lack(how, sum(lacks), place(lacks.index(True)))

    def _lack(self, how: str, count: int, first: RecordPlace) -> None:
        """Add records that lack a value."""
        known, place = self.lacks.get(how, (0, first))
        self.lacks[how] = known + count, min(place, first)

    def merge(self, other: Self, before: RecordPlace) -> None:
        """Add the records of `other`, which follow those `before` them in a file."""
        self.count += other.count
        for how, (count, first) in other.lacks.items():
            self._lack(how, count, first.after(before))
