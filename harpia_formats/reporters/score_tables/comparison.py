"""The tables of a comparison: the scores of each system, and the tests of all pairs."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from harpia_formats.reporters.score_tables.best import best_tested
from harpia_formats.reporters.score_tables.columns import columns_of
from harpia_formats.reporters.score_tables.numbers import (
    NONE,
    decimals_for,
    interval_text,
    number_text,
)
from harpia_formats.reporters.score_tables.results import table_of_groups
from harpia_formats.reporters.score_tables.table import (
    Cell,
    Heading,
    Note,
    Number,
    ScoreTable,
)
from harpia_formats.reporters.text import p_text
from harpia_formats.scoring.compare_report import ComparisonReport
from harpia_formats.scoring.compared import ComparedScore
from harpia_formats.scoring.paired import Comparison

APPROXIMATE = "*"
_TEXTS = ("score", "A", "B")
_NUMBERS = ("A - B", "p", "p (Holm)", "detected", "questions")
_USUAL = 4


def comparison_tables(found: ComparisonReport) -> Iterator[ScoreTable]:
    """Yield the scores of each system, if they were computed, and all differences."""
    groups = [system.scores for system in found.systems if system.scores is not None]
    if len(groups) == len(found.systems):
        names = [system.name for system in found.systems]
        best = best_tested(columns_of(groups), names, found.compared)
        yield table_of_groups(["system"], [names], groups, best)
    headings = (
        *(Heading(name, is_number=False) for name in _TEXTS),
        *map(Heading, _NUMBERS),
    )
    decimals = _decimals(found.compared)
    rows = tuple(
        tuple(_cells(score, decimals.get(score.full_name, _USUAL)))
        for score in found.compared
    )
    yield ScoreTable("Differences", headings, rows, tuple(_notes(found)))


def _decimals(compared: Iterable[ComparedScore]) -> dict[str, int]:
    """Return the digits behind the point of the differences of each score."""
    found: dict[str, int] = {}
    for score in compared:
        one = score.comparison
        if one is not None and one.high > one.low:
            decimals = decimals_for((one.high - one.low) / 2)
            found[score.full_name] = max(found.get(score.full_name, 0), decimals)
    return found


def _cells(score: ComparedScore, decimals: int) -> Iterator[Cell]:
    yield score.full_name
    yield from score.systems
    compared = score.comparison
    if compared is None:
        yield from [Number(NONE, mark="\u2020")] + [Number(NONE)] * 3
    else:
        limits = compared.low, compared.high
        yield Number(
            number_text(compared.difference, decimals, "+"),
            interval_text(limits, decimals, "+"),
            APPROXIMATE * bool(compared.remark),
        )
        yield Number(p_text(compared.p_value, is_least=compared.is_least))
        adjusted = score.adjusted_p
        yield Number(
            NONE if adjusted is None else p_text(adjusted, is_least=compared.is_least)
        )
        least = compared.detectable
        yield Number(NONE if least is None else number_text(least, decimals))
    yield Number(f"{score.questions:,}")


def _notes(found: ComparisonReport) -> Iterator[Note]:
    """Yield what the numbers are, and how they were computed."""
    compared = found.compared
    tested = [one.comparison for one in compared if one.comparison is not None]
    yield Note(
        "A - B: the difference over the questions that both have, and in brackets its "
        "confidence interval by question."
    )
    if tested:
        yield Note(f"p (Holm): adjusted for all {len(tested):,} comparisons.")
    yield Note(
        "Detected: the smallest difference that these questions detect with a power of "
        f"80 %; {NONE} if they detect none on the scale, or never differ."
    )
    for remark in dict.fromkeys(one.remark for one in tested if one.remark):
        yield Note(f"{remark[0].upper()}{remark[1:]}.", mark=APPROXIMATE)
    for reason in dict.fromkeys(one.reason for one in compared if one.reason):
        yield Note(f"{reason[0].upper()}{reason[1:]}.", mark="\u2020")
    for pair in found.pairs:
        if pair.only_first or pair.only_second:
            yield Note(
                f"Not compared: {pair.only_first:,} questions only of {pair.first}, "
                f"{pair.only_second:,} only of {pair.second}."
            )
    yield from _left_out(compared)
    if any(system.scores is None for system in found.systems):
        yield from _labelled("Signature", compared, lambda one: one.signature)
    yield from _labelled("Test", compared, _of_comparison(lambda one: one.test))
    yield from _labelled("Intervals", compared, _of_comparison(lambda one: one.method))


def _left_out(compared: Sequence[ComparedScore]) -> Iterator[Note]:
    for score in compared:
        if any(score.unscored):
            one, other = score.unscored
            first, second = score.systems
            yield Note(
                f"Left out of {score.full_name}: {one:,} answers of {first}, {other:,} "
                f"of {second}."
            )


def _of_comparison(
    label: Callable[[Comparison], str],
) -> Callable[[ComparedScore], str]:
    """Return a function of scores for one of their comparisons."""
    return lambda one: "" if one.comparison is None else label(one.comparison)


def _labelled(
    what: str, compared: Sequence[ComparedScore], label: Callable[[ComparedScore], str]
) -> Iterator[Note]:
    """Yield a note for each different label of scores, with their names."""
    names: dict[str, dict[str, None]] = {}
    for score in compared:
        if label(score):
            names.setdefault(label(score), {})[score.full_name] = None
    for text, found in names.items():
        yield Note(f"{what} of {', '.join(found)}", text)
