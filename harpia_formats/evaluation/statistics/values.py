"""How often each value of a field occurs, in bounded memory."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from harpia_formats.model.exact_json import encode
from harpia_formats.validation.dedup.digests import digest_of

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
