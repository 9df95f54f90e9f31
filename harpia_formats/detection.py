"""Which format a file is in, told from its first records."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.format import Format


@dataclass(frozen=True, slots=True)
class Choice:
    """What most of some records look like."""

    format: Format
    #: How many of them, of how many.
    alike: int
    records: int
    #: What they were told by, the most frequent first.
    signs: tuple[str, ...]

    def __str__(self) -> str:
        sign = self.signs[0] + " or the like" * (len(self.signs) > 1)
        if self.records == 1:
            return f"the first record has {sign}"
        have = "has" if self.alike == 1 else "have"
        return f"{self.alike:,} of the first {self.records:,} records {have} {sign}"


def choose(rows: Sequence[Any], formats: Iterable[Format]) -> Choice | None:
    """Return the format that more of `rows` look like than any other, if any do."""
    counts: Counter[str] = Counter()
    signs: dict[str, Counter[str]] = {}
    known = {each.id: each for each in formats}
    for row in rows:
        for identifier, sign in _signs(row, known.values()):
            counts[identifier] += 1
            signs.setdefault(identifier, Counter())[sign] += 1
    if not counts:
        return None
    # The first in the table wins where two are equal.
    best = max(known, key=lambda each: counts[each])
    told_by = tuple(sign for sign, _ in signs[best].most_common())
    return Choice(known[best], counts[best], len(rows), told_by)


def _signs(row: Any, formats: Iterable[Format]) -> Iterable[tuple[str, str]]:
    if isinstance(row, Mapping):
        for each in formats:
            if sign := each.sniff(row):
                yield each.id, sign
