"""Which format and dialect a file is in, told from its first records."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from harpia_formats.framing.container import Layout
from harpia_formats.model.format import Container, Dialect, Format


@dataclass(frozen=True, slots=True)
class FormatVariant:
    """A format in one of its dialects."""

    format: Format
    dialect: Dialect

    @property
    def name(self) -> str:
        """The id of the format, with the name of the dialect if it has one."""
        dialect = self.dialect.name
        return f"{self.format.id} ({dialect})" if dialect else self.format.id


@dataclass(frozen=True, slots=True)
class FormatChoice:
    """What most of some records look like."""

    variant: FormatVariant
    #: How many of them, of how many.
    matching: int
    records: int
    #: What they were told by, the most frequent first.
    evidence: tuple[str, ...]
    #: Another one that all of these look like as well.
    rival: FormatVariant | None = None

    def __str__(self) -> str:
        sign = self.evidence[0] + " or the like" * (len(self.evidence) > 1)
        if self.records == 1:
            return f"the first record has {sign}"
        have = "has" if self.matching == 1 else "have"
        return f"{self.matching:,} of the first {self.records:,} records {have} {sign}"


#: Rows that are compared with every format.
LOOKED_AT_FULLY = 32
#: Containers that a file can be read as, by its layout.
_readable = {
    Layout.LINES: {Container.ROWS, Container.DOCUMENT},
    Layout.ARRAY: {Container.ROWS, Container.DOCUMENT},
    Layout.TEXT: {Container.TABLE},
}
_of_object = set(Container) - {Container.TABLE}


def variants_of(
    formats: Iterable[Format], layout: Layout | None = None
) -> list[FormatVariant]:
    """Return every dialect of `formats` that a file of `layout` may be in."""
    wanted = set(Container) if layout is None else _readable.get(layout, _of_object)
    return [
        FormatVariant(each, dialect)
        for each in formats
        for dialect in each.dialects
        if dialect.container in wanted
    ]


def choose_variant(
    rows: Sequence[Any], variants: Sequence[FormatVariant]
) -> FormatChoice | None:
    """Return what more of `rows` look like than anything else, if they do.

    A general format is chosen only where no row looks like a particular one.
    """
    particular = [each for each in variants if not each.format.general]
    general = [each for each in variants if each.format.general]
    return _choose(rows, particular) or _choose(rows, general)


def _choose(
    rows: Sequence[Any], variants: Sequence[FormatVariant]
) -> FormatChoice | None:
    counts: Counter[int] = Counter()
    signs: dict[int, Counter[str]] = {}
    found = list(_all_signs(rows, variants))
    for number, sign in chain.from_iterable(found):
        counts[number] += 1
        signs.setdefault(number, Counter())[sign] += 1
    if not counts:
        return None
    # The first in the table wins where two are equal.
    order = sorted(counts, key=lambda each: (-counts[each], each))
    best = order[0]
    shared = Counter(
        each for row in found if best in dict(row) for each in dict(row) if each != best
    )
    rivals = [variants[each] for each in order if shared[each] == counts[best]]
    return FormatChoice(
        variants[best],
        matching=counts[best],
        records=len(rows),
        evidence=tuple(sign for sign, _ in signs[best].most_common()),
        rival=rivals[0] if rivals else None,
    )


def _all_signs(
    rows: Sequence[Any], variants: Sequence[FormatVariant]
) -> Iterator[list[tuple[int, str]]]:
    """Yield what each row looks like.

    Behind the first ones a row is only compared with what others looked like, unless
    it looks like none of that: so a thousand rows take little more than a few.
    """
    met: dict[int, FormatVariant] = {}
    for number, row in enumerate(rows):
        signs = []
        if number >= LOOKED_AT_FULLY:
            known = list(met.values())
            signs = [([*met][each], sign) for each, sign in matches_of(row, known)]
        signs = signs or matches_of(row, variants)
        met.update((each, variants[each]) for each, _ in signs)
        yield signs


def matches_of(row: Any, variants: Sequence[FormatVariant]) -> list[tuple[int, str]]:
    """Return which of `variants` a row looks like, each by its number, and why."""
    return list(_signs(row, variants))


def first_match(
    row: Any, variants: Sequence[FormatVariant]
) -> tuple[FormatVariant, str] | None:
    """Return the first of `variants` that a row looks like, and why."""
    found = next(_signs(row, variants), None)
    return found and (variants[found[0]], found[1])


def _signs(row: Any, variants: Sequence[FormatVariant]) -> Iterator[tuple[int, str]]:
    for number, each in enumerate(variants if isinstance(row, Mapping) else ()):
        sign = each.dialect.sniff(row)
        if sign:
            yield number, sign
