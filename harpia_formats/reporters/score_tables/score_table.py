"""A table of scores as plain data: columns, digits, bold scores and notes."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain

from harpia_formats.evaluation.scoring.compared_scores import ComparedScore, alpha_of
from harpia_formats.evaluation.scoring.metric_score import (
    APPROXIMATE,
    DOWN,
    MISSING,
    UP,
    Group,
    MetricScore,
    arrow_of,
    score_name,
)
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.vendor_metrics import LIMITS


class Better(Enum):
    """Which scores of a column are better; none for one where neither is known."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A cell with a number; no text of data is in it."""

    text: str
    #: What stands behind the number, such as its interval.
    rest: str = ""
    #: A mark that a note explains.
    mark: str = ""
    is_bold: bool = False


#: A number, or a text of data such as the name of a model.
Cell = Number | str


@dataclass(frozen=True, slots=True)
class Heading:
    """The name of a column."""

    name: str
    better: Better = Better.UNKNOWN
    is_number: bool = True


@dataclass(frozen=True, slots=True)
class Note:
    """A note below a table: a sentence, or a label with a technical text behind it."""

    text: str
    #: A text for programs and experts, such as a signature.
    code: str = ""
    #: The mark in the table that the note explains.
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """A table with its notes."""

    #: What the table shows, in one sentence.
    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[Note, ...]
    #: The indices of the rows below which a line is drawn.
    breaks: frozenset[int] = frozenset()


#: The metric and the name of a score.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Column:
    """The scores of one column, None in each row that has none."""

    key: Key
    scores: tuple[MetricScore | None, ...]

    @property
    def there(self) -> list[MetricScore]:
        """The scores that there are."""
        return [score for score in self.scores if score is not None]

    @property
    def name(self) -> str:
        """The name of the score."""
        return score_name(*self.key)

    @property
    def better(self) -> Better:
        """Which of its scores are better."""
        return better_of(self.there[0])


def better_of(score: MetricScore) -> Better:
    """Return which scores of a metric are better."""
    better = {UP: Better.HIGHER, DOWN: Better.LOWER}
    return better.get(arrow_of(score), Better.UNKNOWN)


def columns_of(groups: Sequence[Group]) -> list[Column]:
    """Return a column for each score that any of some groups has."""
    found = [{(one.metric, one.name): one for one in group.scores} for group in groups]
    keys = dict.fromkeys(chain.from_iterable(found))
    return [Column(key, tuple(scores.get(key) for scores in found)) for key in keys]


#: Digits behind the point of scores without an interval.
_USUAL = {"0-1": 3, "0-100": 1}
_OTHER, _MOST = 3, 6
#: Larger numbers are written with an exponent.
_LARGE = 1e9
NONE = "\u2013"


def decimals_of(scores: Iterable[MetricScore]) -> int:
    """Return how many digits behind the point the scores of a column have.

    Half the width of the narrowest interval has two significant digits.
    """
    scores = list(scores)
    limits = (score.interval for score in scores if score.interval is not None)
    widths = [high - low for low, high in limits if high > low]
    if not widths:
        return _USUAL.get(scores[0].scale, _OTHER) if scores else _OTHER
    return decimals_for(min(widths) / 2)


def decimals_for(half: float) -> int:
    """Return how many digits behind the point show two significant ones of `half`."""
    return min(max(1 - math.floor(math.log10(half)), 0), _MOST)


def number_text(value: float, decimals: int, sign: str = "") -> str:
    """Return a number with so many digits behind the point, and never `-0.00`."""
    if abs(value) >= _LARGE:
        return f"{value:{sign}.4g}"
    text = f"{value:{sign}.{decimals}f}"
    return text[1:] if text[0] == "-" and not text.strip("-0.") else text


def interval_text(limits: tuple[float, float], decimals: int, sign: str = "") -> str:
    """Return the limits of an interval in brackets."""
    low, high = (number_text(limit, decimals, sign) for limit in limits)
    return f"[{low}, {high}]"


_TESTED = (
    "Bold: the best, and all that are not significantly worse (p of a paired test by "
    "question, adjusted by Holm for all pairs and scores, at least {alpha:g})."
)
_IMPOSSIBLE = (
    "Nothing is bold: no two systems could be tested by all of their questions."
)
_NOT_ALL = (
    " A system that was not tested against the best by all questions of both is not "
    "bold."
)
_NO_TEST = " In a column without such a test nothing is bold."


@dataclass(frozen=True, slots=True)
class Best:
    """The rows of a table whose scores are bold, and what that means."""

    rows: Mapping[Key, Collection[int]]
    note: str

    def rows_of(self, key: Key) -> Collection[int]:
        """Return the rows whose score in a column is bold."""
        return self.rows.get(key, ())


def best_tested(
    columns: Iterable[Column], names: Sequence[str], compared: Iterable[ComparedScore]
) -> Best:
    """Return the best scores, and all that are not significantly worse.

    `names` are those of the systems of the rows, as in `compared`. A test counts only
    if it has all questions of both scores.
    """
    columns, compared = list(columns), list(compared)
    tested = dict(_tested(columns, names, compared))
    found: dict[Key, set[int]] = {}
    is_tested, untested = True, False
    for column in columns:
        best = _best_of(column)
        if not any(key == column.key for key, *_ in tested):
            untested = untested or bool(best)
            continue
        found[column.key] = set(best)
        for at, score in enumerate(column.scores):
            if not best or at in best or score is None or score.value is None:
                continue
            tests = [tested.get((column.key, names[one], names[at])) for one in best]
            is_tested = is_tested and None not in tests
            if False in tests:
                found[column.key].add(at)
    if not any(found.values()):
        return Best({}, _IMPOSSIBLE if untested else "")
    note = _TESTED.format(alpha=alpha_of(compared))
    note += "" if is_tested else _NOT_ALL
    return Best(found, note + (_NO_TEST if untested else ""))


def _tested(
    columns: Iterable[Column], names: Sequence[str], compared: Iterable[ComparedScore]
) -> Iterator[tuple[tuple[Key, str, str], bool]]:
    """Yield by the score and both systems whether they differ, in either order.

    A test by only some questions of a system says nothing about its score.
    """
    questions = {
        (column.key, name): score.questions
        for column in columns
        for name, score in zip(names, column.scores, strict=True)
        if score is not None
    }
    for score in compared:
        key, (one, other) = (score.metric, score.name), score.systems
        has_all = {questions.get((key, name)) for name in score.systems} == {
            score.questions
        }
        if score.adjusted_p is not None and has_all:
            yield (key, one, other), score.is_significant
            yield (key, other, one), score.is_significant


def _best_of(column: Column) -> list[int]:
    """Return the rows of the best score among several systems."""
    values = {
        at: score.value
        for at, score in enumerate(column.scores)
        if score is not None and score.value is not None
    }
    if len(values) <= 1 or column.better is Better.UNKNOWN:
        return []
    best = (min if column.better is Better.LOWER else max)(values.values())
    return [at for at, value in values.items() if value == best]


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
    yield from labelled("Signature", ((s.full_name, s.signature) for s in every))
    yield from labelled("Intervals", ((s.full_name, s.method) for s in every))


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
        scales.setdefault(scale, []).append(column.name)
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
