"""The tables of a comparison: the scores of each system, and the tests of all pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.compared import ComparedScore
from harpia_formats.evaluation.scoring.metric_score import APPROXIMATE, MISSING
from harpia_formats.model.text.words import p_text
from harpia_formats.reporters.score_tables.best import best_tested
from harpia_formats.reporters.score_tables.columns import columns_of
from harpia_formats.reporters.score_tables.notes import labelled, mark_notes, numbered
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

_TEXTS = ("score", "A", "B")
_NUMBERS = ("A - B", "p", "p (Holm)", "detected", "questions")
#: The column of how many questions detect the difference that is named.
_NEEDED = "needed"
_USUAL = 4
MAY_DISAGREE = "An interval is not that of the test: they may disagree about 0."


def comparison_tables(found: ComparisonReport) -> Iterator[ScoreTable]:
    """Yield the scores of each system, and all differences."""
    groups = [system.scores for system in found.systems]
    names = [system.name for system in found.systems]
    best = best_tested(columns_of(groups), names, found.compared)
    yield table_of_groups(["system"], [names], groups, best)
    needed = [] if found.detect is None else [_NEEDED]
    headings = (
        *(Heading(name, is_number=False) for name in _TEXTS),
        *map(Heading, [*_NUMBERS, *needed]),
    )
    decimals = _decimals(found.compared)
    marks = _marks(found.compared)
    rows = tuple(
        (
            *_cells(score, decimals.get(score.full_name, _USUAL), marks),
            *(Number(_count_text(score.questions_needed)) for _ in needed),
        )
        for score in found.compared
    )
    yield ScoreTable("Differences", headings, rows, tuple(_notes(found)))


def _count_text(number: int | None) -> str:
    return NONE if number is None else f"{number:,}"


def _decimals(compared: Iterable[ComparedScore]) -> dict[str, int]:
    """Return the digits behind the point of the differences of each score."""
    found: dict[str, int] = {}
    for score in compared:
        one = score.comparison
        if one is not None and one.high > one.low:
            decimals = decimals_for((one.high - one.low) / 2)
            found[score.full_name] = max(found.get(score.full_name, 0), decimals)
    return found


def _marks(compared: Sequence[ComparedScore]) -> dict[str, str]:
    """Return the mark of each remark on differences, and of why there are none."""
    tested = [one.comparison.remark for one in compared if one.comparison is not None]
    reasons = (one.reason for one in compared)
    return numbered(APPROXIMATE, tested) | numbered(MISSING, reasons)


def _cells(
    score: ComparedScore, decimals: int, marks: Mapping[str, str]
) -> Iterator[Cell]:
    yield score.full_name
    yield from score.systems
    compared = score.comparison
    if compared is None:
        yield from [Number(NONE, mark=marks[score.reason])] + [Number(NONE)] * 3
    else:
        limits = compared.low, compared.high
        yield Number(
            number_text(compared.difference, decimals, "+"),
            interval_text(limits, decimals, "+"),
            marks.get(compared.remark, ""),
        )
        mark = marks.get(compared.remark, "") if compared.is_approximate_p else ""
        p_value = p_text(compared.p_value, is_least=compared.is_least)
        yield Number(p_value, mark=mark)
        adjusted = score.adjusted_p
        yield (
            Number(NONE)
            if adjusted is None
            else Number(p_text(adjusted, is_least=compared.is_least), mark=mark)
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
    if found.has_other_intervals:
        yield Note(MAY_DISAGREE)
    if len(tested) > 1:
        yield Note(f"p (Holm): adjusted for all {len(tested):,} comparisons.")
    if tested:
        yield Note(detected_text(NONE, tested[0].alpha))
        if found.detect is not None:
            yield Note(needed_text(found.detect))
    yield from mark_notes(_marks(compared))
    for pair in found.pairs:
        if pair.only_first or pair.only_second:
            yield Note(
                f"Not compared: {pair.only_first:,} questions only of {pair.first}, "
                f"{pair.only_second:,} only of {pair.second}."
            )
    yield from _left_out(compared)
    forced = dict.fromkeys(one.full_name for one in compared if one.is_forced)
    if forced:
        yield Note(
            f"Compared by force: signatures do not prove that {', '.join(forced)} was "
            "computed the same way in all systems."
        )
    methods = [
        (one.full_name, one.comparison)
        for one in compared
        if one.comparison is not None
    ]
    yield from labelled("Test", ((name, one.test) for name, one in methods))
    yield from labelled("Intervals", ((name, one.method) for name, one in methods))


def detected_text(none: str, alpha: float) -> str:
    """Return what the column "detected" has, with `none` where it has no number."""
    return (
        f"Detected: the smallest difference that these questions detect (p below "
        f"{alpha:g}) with a power of 80 % in a single test, without Holm's correction; "
        f"{none} if they detect none on the scale, or never differ."
    )


def needed_text(difference: float) -> str:
    """Return what the column of the questions that are needed has."""
    return (
        f"Needed: how many questions detect a difference of {difference:g} in the same "
        "way."
    )


def _left_out(compared: Sequence[ComparedScore]) -> Iterator[Note]:
    for score in compared:
        if any(score.unscored):
            one, other = score.unscored
            first, second = score.systems
            yield Note(
                f"Left out of {score.full_name}: {one:,} answers of {first}, {other:,} "
                f"of {second}."
            )
