"""Helpers of tables of scores: their cells, their digits, and notes below them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harpia_formats.evaluation.scoring.measures.metric_score import (
    APPROXIMATE,
    MISSING,
    Group,
    MetricScore,
)
from harpia_formats.evaluation.scoring.results.best_scores import Column
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.model.vendor_metrics import LIMITS
from harpia_formats.reporters.tables.table import (
    NONE,
    Cell,
    Note,
    Share,
    decimals_for,
)

#: Stand for all values of a field, and for one that is the empty text.
ALL, EMPTY = "(all)", "(empty)"


def key_cells(fields: Iterable[str], group: Group) -> list[str]:
    """Return the values of fields by which a group is identified."""
    return [group.key.get(field, ALL) or EMPTY for field in fields]


def count_cells(score: MetricScore) -> dict[str, Cell]:
    """Return the cells of how many answers a score is of, by their columns."""
    return {
        "questions": score.questions,
        "answers": score.count,
        "left out": score.unscored,
        "unreadable": Share(score.unreadable_share),
    }


#: Digits behind the point of scores without an interval.
_USUAL = {"0-1": 3, "0-100": 1}
_OTHER = 3


def decimals_of(scores: Iterable[MetricScore]) -> int:
    """Return how many digits after the point the scores of a column have.

    Half the width of the narrowest interval has two significant digits.
    """
    scores = list(scores)
    limits = (score.interval for score in scores if score.interval is not None)
    widths = [high - low for low, high in limits if high > low]
    if not widths:
        return _USUAL.get(scores[0].scale, _OTHER) if scores else _OTHER
    return decimals_for(min(widths) / 2)


def notes_of(columns: Sequence[Column], bold: str) -> Iterator[Note]:
    """Yield what the numbers are, what `bold` means, and how they were computed."""
    every = [score for column in columns for score in column.there]
    if any(score.interval for score in every):
        yield Note(
            "In brackets: the confidence interval by question. Numbers have the digits "
            "that the narrowest interval of their column carries."
        )
    if bold:
        yield Note(bold)
    yield from _scale_notes(columns)
    yield from mark_notes(marks_of(columns))
    if any(score.value is None for score in every):
        yield Note("No answer could be scored.", mark=NONE)
    named = [(column.full_name, one) for column in columns for one in column.there]
    yield from labelled("Signature", ((name, one.signature) for name, one in named))
    yield from labelled("Intervals", ((name, one.method) for name, one in named))


def marks_of(columns: Iterable[Column]) -> dict[str, str]:
    """Return the mark of each remark on scores: one for approximate intervals."""
    every = [score for column in columns for score in column.there]
    there = [score.remark for score in every if score.interval is not None]
    missing = [score.remark for score in every if score.interval is None]
    return numbered(APPROXIMATE, there) | numbered(MISSING, missing)


def numbered(mark: str, remarks: Iterable[str]) -> dict[str, str]:
    """Return the mark of each different remark: once for the first, then twice."""
    found = filter(None, dict.fromkeys(remarks))
    return {remark: mark * number for number, remark in enumerate(found, 1)}


def mark_notes(marks: Mapping[str, str]) -> Iterator[Note]:
    """Yield the remarks for which marks stand."""
    for remark, mark in marks.items():
        yield Note(f"{remark[0].upper()}{remark[1:]}.", mark=mark)


def labelled(what: str, labels: Iterable[tuple[str, str]]) -> Iterator[Note]:
    """Yield a note for each different label of scores, with the names of these.

    `labels` has the name and the label of each score, "" for none.
    """
    names: dict[str, dict[str, None]] = {}
    for name, label in labels:
        if label:
            names.setdefault(label, {})[name] = None
    for label, found in names.items():
        yield Note(f"{what} of {', '.join(found)}", label)


def _scale_notes(columns: Sequence[Column]) -> Iterator[Note]:
    scales: dict[str, list[str]] = {}
    for column in columns:
        limits = LIMITS.get(column.there[0].scale)
        scale = "not known" if limits is None else "{:g} to {:g}".format(*limits)
        scales.setdefault(scale, []).append(column.full_name)
    for scale, names in scales.items():
        yield Note(f"Scale {scale}: {', '.join(names)}")


def left_out_notes(systems: Iterable[Group]) -> Iterator[Note]:
    """Yield which questions have too few answers for a score."""
    for system in systems:
        yield from (Note(f"{note}.") for _, note in system.left_out())


def unreadable_notes(groups: Iterable[tuple[str, Group]]) -> Iterator[Note]:
    """Yield how many answers are wrong because a metric could not read them.

    Each group has a name, "" for the only one.
    """
    for whose, group in groups:
        for score in group.scores:
            if score.unreadable_share is not None:
                name = f"{score.full_name} of {whose}" if whose else score.full_name
                share = f"{score.unreadable_share:.1%}"
                yield Note(f"{name}: {share} of the answers are unreadable, so wrong.")


def run_notes(scores: Scores) -> Iterator[Note]:
    """Yield what was left out of the scores, and metrics that were not computed."""
    if scores.skipped:
        yield Note(f"Invalid rows that were left out: {scores.skipped:,}.")
    if scores.unknown:
        yield Note(f"Not computed: {', '.join(scores.unknown)}.")
