"""Choose the format and dialect that most records of a sample match."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harpia_formats.files.framing.container import Layout
from harpia_formats.model.format import Container, Dialect, Format, Sniff

#: How sure a format is if the records may be in another one just as well.
SHARED = 0.6


class FormatVariant(Struct, frozen=True):
    """A format in one of its dialects."""

    format: Format
    dialect: Dialect

    @property
    def name(self) -> str:
        """The id of the format, with the name of the dialect if it has one."""
        dialect = self.dialect.name
        return f"{self.format.id} ({dialect})" if dialect else self.format.id


class FormatChoice(Struct, frozen=True):
    """The variant that most of some records match, and how sure that is."""

    variant: FormatVariant
    #: Records that match it.
    matching: int
    #: Records that were compared.
    records: int
    #: What the records matched by, such as "`turns`", the most frequent first.
    evidence: tuple[str, ...]
    #: Another variant that all of the matching records match as well.
    rival: FormatVariant | None = None
    #: Whether no record has a sign that only one of both has, as others do.
    shared: bool = False

    @property
    def contested(self) -> str:
        """The column with the answers of a model or expected ones, "" if there is none.

        The first are read by the variant, the others by its rival.
        """
        return self.rival.dialect.contested if self.rival and self.shared else ""

    @property
    def confidence(self) -> float:
        """How sure the variant is, from 0 to 1: less if the records are a rival's."""
        share = self.matching / self.records
        return share * SHARED if self.is_ambiguous else share

    @property
    def is_ambiguous(self) -> bool:
        """Whether the records may be in another format just as well."""
        is_other = self.rival and self.rival.format is not self.variant.format
        return self.shared or bool(is_other)

    def __str__(self) -> str:
        evidence = self.evidence[0] + " or the like" * (len(self.evidence) > 1)
        if self.records == 1:
            return f"the first record has {evidence}"
        have = "has" if self.matching == 1 else "have"
        of_all = f"{self.matching:,} of the first {self.records:,} records"
        return f"{of_all} {have} {evidence}"


#: Rows that are compared with every variant.
COMPARED_FULLY = 32
#: Containers that a file can be read as, by its layout.
_readable = {
    Layout.LINES: {Container.ROWS, Container.DOCUMENT},
    Layout.ARRAY: {Container.ROWS, Container.DOCUMENT},
    Layout.TEXT: {Container.TABLE},
}
_of_object = set(Container) - {Container.TABLE}
#: Variants that are remembered, by the identity of their formats, the layout and the
#: unpacker: many small files ask for the same ones.
_REMEMBERED = 256
_known: dict[
    tuple[tuple[int, ...], Layout | None, str | None],
    tuple[tuple[Format, ...], "Variants"],
] = {}


class Variants(tuple[FormatVariant, ...]):  # noqa: SLOT001 - cached properties are kept in a `__dict__`
    """Variants, and which of them a record can be in by its keys."""

    @cached_property
    def particular(self) -> "Variants":
        """Those of formats that are not general."""
        return Variants(variant for variant in self if not variant.format.general)

    @cached_property
    def general(self) -> "Variants":
        """Those of general formats."""
        return Variants(variant for variant in self if variant.format.general)

    def possible(self, record: Mapping[str, Any]) -> Iterable[int]:
        """Return the indices of those that a record can be in, in order."""
        by_key, always = self._by_key
        found = by_key.keys() & record.keys()
        if not found:
            return always
        keys = frozenset(found)
        known = self._possible.get(keys)
        if known is None:
            if len(self._possible) >= _REMEMBERED:
                self._possible.clear()
            owners = chain.from_iterable(by_key[key] for key in keys)
            known = self._possible[keys] = sorted({*always, *owners})
        return known

    @cached_property
    def _possible(self) -> dict[frozenset[str], list[int]]:
        """What `possible` returned for records with these of the keys of `_by_key`."""
        return {}

    @cached_property
    def _by_key(self) -> tuple[dict[str, list[int]], list[int]]:
        """The indices by the keys of `one_of`, and those of variants without any."""
        by_key: dict[str, list[int]] = {}
        always = []
        for index, variant in enumerate(self):
            keys = variant.dialect.one_of
            if not keys:
                always.append(index)
            for key in keys:
                by_key.setdefault(key, []).append(index)
        return by_key, always


def variants_of(
    formats: Iterable[Format],
    layout: Layout | None = None,
    unpacker: str | None = None,
) -> Variants:
    """Return every dialect of `formats` that a file of `layout` may be in.

    With the name of an `unpacker`, "" for files of text, those that only other
    unpackers make are left out.
    """
    asked = tuple(formats)
    key = (tuple(map(id, asked)), layout, unpacker)
    known = _known.get(key)
    if known is None:
        wanted = set(Container) if layout is None else _readable.get(layout, _of_object)
        found = Variants(
            FormatVariant(format_, dialect)
            for format_ in asked
            if unpacker is None or format_.unpacked_by in {"", unpacker}
            for dialect in format_.dialects
            if dialect.container in wanted
        )
        if len(_known) >= _REMEMBERED:
            _known.clear()
        # The formats are held, so that no others get their identity.
        known = _known[key] = (asked, found)
    return known[1]


def choose_variant(
    rows: Sequence[Any], variants: Sequence[FormatVariant]
) -> FormatChoice | None:
    """Return the variant that more of `rows` match than any other, None if none does.

    A general format, such as any CSV, is chosen only if no row matches a particular
    one, or if nothing tells whether a column has expected answers or a model's. Of
    variants that equally many rows match, the first is chosen of which a row has a sign
    of its own, or the first of `variants` if there is none.
    """
    known = variants if isinstance(variants, Variants) else Variants(variants)
    found = _most_matching(rows, known.particular)
    is_contested = found is not None and _is_contested(rows, found.variant)
    if found is not None and not is_contested:
        return found
    general = _most_matching(rows, known.general)
    if found is None or general is None:
        return found or general
    return replace(general, evidence=found.evidence, rival=found.variant, shared=True)


def _is_contested(rows: Sequence[Any], variant: FormatVariant) -> bool:
    """Tell whether what is expected in rows of `variant` may be a model's answers."""
    return bool(variant.dialect.contested) and not is_signed(rows, variant)


def _most_matching(
    rows: Sequence[Any], variants: Sequence[FormatVariant]
) -> FormatChoice | None:
    """Return the choice among `variants`, None if no row matches any."""
    if len(rows) == 1:
        return _equal_matches(rows, matches_of(rows[0], variants), variants)
    # Most rows match the same by the same, so what they match is counted together.
    kinds = Counter(_matches_by_row(rows, variants))
    if len(kinds) == 1:
        return _equal_matches(rows, next(iter(kinds)), variants)
    counts: Counter[int] = Counter()
    evidence: dict[int, Counter[str]] = {}
    for matches, times in kinds.items():
        for number, found in matches:
            counts[number] += times
            evidence.setdefault(number, Counter())[found] += times
    if not counts:
        return None
    order = sorted(counts, key=lambda number: (-counts[number], number))
    best = order[0]
    shared: Counter[int] = Counter()
    for matches, times in kinds.items():
        matched = dict(matches)
        if matched.pop(best, ""):
            shared.update(dict.fromkeys(matched, times))
    rivals = [number for number in order if shared[number] == counts[best]]
    return _choice_among(
        rows,
        variants,
        [best, *rivals],
        counts[best],
        {
            number: [found for found, _ in evidence[number].most_common()]
            for number in (best, *rivals)
        },
    )


def _equal_matches(
    rows: Sequence[Any],
    matches: Sequence[tuple[int, str]],
    variants: Sequence[FormatVariant],
) -> FormatChoice | None:
    """Return the choice where each of some rows has the same `matches`."""
    if not matches:
        return None
    evidence = {number: [found] for number, found in matches}
    return _choice_among(rows, variants, [*evidence], len(rows), evidence)


def _choice_among(
    rows: Sequence[Any],
    variants: Sequence[FormatVariant],
    tied: Sequence[int],
    matching: int,
    evidence: Mapping[int, Sequence[str]],
) -> FormatChoice:
    """Return the choice among variants that all match the same rows.

    `tied` are their indices, the most likely first, and `matching` is how many rows
    they match.
    """
    best, is_shared = tied[0], False
    if len(tied) > 1:
        signed = [number for number in tied if variants[number].dialect.own_sign]
        own = next(
            (number for number in signed if is_signed(rows, variants[number])), None
        )
        if own is not None:
            best = own
            tied = [number for number in tied if number not in signed]
        is_shared = own is None and best in signed
    rival = next((variants[number] for number in tied if number != best), None)
    return FormatChoice(
        variants[best], matching, len(rows), tuple(evidence[best]), rival, is_shared
    )


def is_signed(rows: Sequence[Any], variant: FormatVariant) -> bool:
    """Tell whether a row has a sign that only `variant` has."""
    sign = variant.dialect.own_sign
    return sign is not None and any(
        sign(row) for row in rows if isinstance(row, Mapping)
    )


def _matches_by_row(
    rows: Sequence[Any], variants: Sequence[FormatVariant]
) -> Iterator[tuple[tuple[int, str], ...]]:
    """Yield the matches of each row, as `matches_of` returns them.

    Behind the first rows, a row is compared with the variants that others matched,
    and with all only if it matches none of those: a thousand rows then take little
    longer than a few.
    """
    met: dict[int, Sniff] = {}
    for number, row in enumerate(rows):
        matches: list[tuple[int, str]] = []
        if number >= COMPARED_FULLY and row and isinstance(row, dict):
            matches = [(n, found) for n, sniff in met.items() if (found := sniff(row))]
        if not matches:
            matches = matches_of(row, variants)
            met |= {index: variants[index].dialect.sniff for index, _ in matches}
        yield tuple(matches)


def matches_of(row: Any, variants: Sequence[FormatVariant]) -> list[tuple[int, str]]:
    """Return the index in `variants` of each one that `row` matches, and by what."""
    return [
        (index, evidence)
        for index in _possible(row, variants)
        if (evidence := variants[index].dialect.sniff(row))
    ]


def first_match(
    row: Any, variants: Sequence[FormatVariant]
) -> tuple[FormatVariant, str] | None:
    """Return the first of `variants` that `row` matches, and by what; None if none."""
    for index in _possible(row, variants):
        evidence = variants[index].dialect.sniff(row)
        if evidence:
            return variants[index], evidence
    return None


def _possible(row: Any, variants: Sequence[FormatVariant]) -> Iterable[int]:
    """Return the indices in `variants` of those that a row can be in, in order."""
    # An empty object has no sign of a format.
    if not (row and isinstance(row, Mapping)):
        return ()
    if isinstance(variants, Variants):
        return variants.possible(row)
    return range(len(variants))
