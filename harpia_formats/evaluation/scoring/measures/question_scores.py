"""Numbers of answers by label and by question, and sums over questions.

Those by question are held in bounded memory, and so are replicates of labels.

All questions count the same: in a sum of statistics, such as that of a pooled metric,
each answer is weighted by 1 / answers of its question. Where all questions have equally
many answers, each answer counts once.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, groupby, islice
from math import fsum, lcm
from operator import attrgetter
from typing import Any

from harpia_formats.evaluation.metrics.label_counts import (
    MOST_LABELS,
    OTHER,
    SHOWN_OTHER,
    LabelPair,
    LabelReading,
    LabelScores,
    statistics_width,
)
from harpia_formats.evaluation.metrics.metric import QuestionMeasure, Statistics
from harpia_formats.evaluation.scoring.measures.metric_score import (
    Confusion,
    RunningDistribution,
)
from harpia_formats.evaluation.scoring.measures.outcomes import GroupAnswer
from harpia_formats.evaluation.scoring.number_stores import (
    ENTRIES_HELD,
    PARTS,
    PartedEntries,
)
from harpia_formats.evaluation.scoring.options import ScoreValueError
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    PoissonBootstrap,
    Resampled,
    Scores,
    Values,
    np,
    pieces,
    resampled,
    unavailable_reason,
    weights_of,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    QUANTA,
    ExactSum,
    QuestionMoments,
)
from harpia_formats.model.safe_text import safe

#: Fewer questions with a label in the reference make intervals approximate, and those
#: of differences between two systems. `benchmarks/coverage.py` measures both.
FEW, FEW_COMPARED = 10, 20
FEW_REFERENCES = "few references with a label: the interval is approximate"
#: Labels that one reference each has are texts, if there are as many of them.
MAY_BE_TEXTS = (
    "most labels are in one reference only, so that these may be texts and not labels: "
    "the interval is approximate"
)
#: The number of answers with each pair of labels, or the sum of their weights.
PairCounts = Mapping[LabelPair, Fraction | int]
#: The labels that an error shows, and their characters.
_EXAMPLES, _SHOWN = 3, 40


def count_labels(
    name: str, counts: Counter[LabelPair], pairs: Iterable[LabelPair]
) -> None:
    """Add pairs, or the numbers of answers by pair, to the counts of a metric.

    Raises `ScoreError`, with the name of the metric, for too many labels.
    """
    before = len(counts)
    counts.update(pairs)
    labels = _labels_in(counts) if len(counts) > before else set()
    if len(labels - {OTHER}) > MOST_LABELS:
        found = dict.fromkeys(chain.from_iterable(counts))
        first = islice((one for one in found if one != OTHER), _EXAMPLES)
        texts = ", ".join(repr(safe(text, _SHOWN)) for text in first)
        start = f"{name} finds more than {MOST_LABELS} labels"
        end = (
            f": these are texts, not labels; `--param {name}.labels=A,B,C` names the "
            "labels"
        )
        raise ScoreValueError(f"{start} ({texts}, ...){end}", f"{start}{end}")


def _labels_in(pairs: Iterable[LabelPair]) -> set[str]:
    """Return all labels of some pairs."""
    return set(chain.from_iterable(pairs))


def _summed(
    reading: LabelReading, counts: Mapping[LabelPair, Any]
) -> tuple[tuple[str, ...], list[Any]]:
    """Return the labels of some answers, and the sums of their statistics.

    `counts` has the number of answers with each pair, or an array of such numbers.
    """
    labels = reading.ordered(_labels_in(counts))
    places = {label: place for place, label in enumerate(labels)}
    size = len(labels)
    sums: list[Any] = [0] * statistics_width(labels)
    for pair, count in counts.items():
        at, other = places[pair.reference], places[pair.answer]
        sums[at] += count * (at == other)
        sums[size + at] += count
        sums[2 * size + other] += count
        sums[-1] += count * reading.distance(pair)
    return labels, sums


def label_values(scores: LabelScores, counts: PairCounts) -> tuple[float | None, ...]:
    """Return the scores of the numbers of answers by pair, or of their weights."""
    labels, sums = _summed(scores.reading, counts)
    # Equal fractions are equal floats, where a formula compares them.
    return scores.scores_of(
        [float(one) if isinstance(one, Fraction) else one for one in sums], labels
    )


def labels_remark(scores: LabelScores, counts: PairCounts, questions: int) -> str:
    """Return why intervals over so many questions are approximate, "" if not."""
    return _remark(scores, *_summed(scores.reading, counts), questions, FEW)


def _remark(
    scores: LabelScores,
    labels: Sequence[str],
    sums: Sequence[float | Fraction],
    questions: int,
    few: int,
) -> str:
    """Return why intervals of summed statistics of labels are approximate.

    Returns "" if at least `few` questions have each label as their reference.
    """
    if not scores.is_by_label:
        return ""
    size = len(labels)
    references, answers = sums[size : 2 * size], sums[2 * size : 3 * size]
    total = sum(references)
    counts = [
        reference * questions
        for label, reference, answer in zip(labels, references, answers, strict=True)
        if label != OTHER and (reference or answer)
    ]
    found = [count for count in counts if count]
    single = sum(count <= total for count in found)
    if single > FEW and 2 * single > len(found):
        return MAY_BE_TEXTS
    return FEW_REFERENCES if min(counts, default=0) < few * total else ""


def confusion_of(reading: LabelReading, counts: PairCounts) -> Confusion | None:
    """Return the number of answers of each pair as a table; None without answers."""
    if not counts:
        return None
    labels = reading.ordered(_labels_in(counts))
    rows = (
        tuple(int(counts.get(LabelPair(reference, answer), 0)) for answer in labels)
        for reference in labels
    )
    shown = (SHOWN_OTHER if label == OTHER else label for label in labels)
    return Confusion(tuple(shown), tuple(rows))


#: The place of the distance, which is of no label, behind the statistics of labels.
_DISTANCE = 3


@dataclass(slots=True)
class LabelBootstrap:
    """How often each label occurs in every replicate.

    Its memory depends only on the number of replicates and of labels. The weights of
    questions are those of `PoissonBootstrap`. Without numpy it has no replicates.
    """

    reading: LabelReading
    replicates: int
    seed: int
    #: The sums of statistics in each replicate, by their label and their place among
    #: those of a label.
    _sums: dict[tuple[str, int], Any] = field(default_factory=dict)

    def add(self, keys: Sequence[bytes], rows: Sequence[tuple[LabelPair, int]]) -> None:
        """Add answers to questions, which digests identify, in any order.

        A row has the labels, and as how many answers it counts.
        """
        if not self.replicates or unavailable_reason():
            return
        answers = sorted(zip(rows, keys, strict=True))
        for part in pieces(len(answers), self.replicates // 4):
            mine = answers[part]
            places: dict[bytes, int] = {}
            at = [places.setdefault(key, len(places)) for _, key in mine]
            weights = weights_of(list(places), self.seed, self.replicates)[at]
            times = np.array([count for (_, count), _ in mine], dtype=np.uint64)
            if (times != 1).any():
                weights = weights * times[:, None]
            pairs = [pair for (pair, _), _ in mine]
            starts = [
                place
                for place, pair in enumerate(pairs)
                if not place or pair != pairs[place - 1]
            ]
            sums = np.add.reduceat(weights, starts, axis=0, dtype=np.uint64)
            drawn = dict(zip((pairs[start] for start in starts), sums, strict=True))
            self._add_drawn(*_summed(self.reading, drawn))

    def _add_drawn(self, labels: Sequence[str], sums: Sequence[Any]) -> None:
        """Add sums of statistics in each replicate.

        They take as few bytes as the largest number needs, since there may be a
        thousand groups.
        """
        for place, drawn in zip(_places_of(labels), sums, strict=True):
            total = np.add(self._sums.get(place, 0), drawn, dtype=np.uint64)
            type_ = np.min_scalar_type(total.max(initial=0))
            self._sums[place] = total.astype(type_)

    def replicated(
        self, metrics: Sequence[LabelScores]
    ) -> Iterator[list[tuple[float | None, ...]]]:
        """Yield the scores of all metrics with this reading, in every replicate."""
        if not self._sums:
            return
        found = (label for label, row in self._sums if row < _DISTANCE)
        labels = self.reading.ordered(found)
        nothing = np.zeros(self.replicates)
        parts = [nothing + self._sums.get(place, 0) for place in _places_of(labels)]
        for replicate in np.stack(parts, axis=1):
            sums = replicate.tolist()
            yield [metric.scores_of(sums, labels) for metric in metrics]


def _places_of(labels: Sequence[str]) -> list[tuple[str, int]]:
    """Return the label of each statistic, and its place among those of a label."""
    rows = range(_DISTANCE)
    return [*((label, row) for row in rows for label in labels), ("", _DISTANCE)]


class KnownLabels:
    """Turns labels of systems into statistics, once all labels of them are known.

    `table` has the numbers of the labels, from 0 in ascending order.
    """

    def __init__(self, scores: LabelScores, table: Iterable[str]) -> None:
        self._scores = scores
        self._names = list(table)
        self._labels = scores.reading.ordered(self._names)
        #: The number of statistics.
        self.width = statistics_width(self._labels)

    def rows(self, pairs: Iterable[Sequence[float]]) -> Iterator[Statistics]:
        """Yield the statistics of answers whose labels are numbers."""
        for reference, answer in pairs:
            pair = LabelPair(self._names[int(reference)], self._names[int(answer)])
            yield self._scores.row(pair, self._labels)

    def scores(self, sums: Sequence[float]) -> tuple[float | None, ...]:
        """Return the scores of the sum of statistics."""
        return self._scores.scores_of(sums, self._labels)

    def remark(self, sums: Sequence[float], questions: int) -> str:
        """Return why intervals of differences are approximate, "" if they are not.

        `sums` are the summed statistics of a system over so many questions.
        """
        return _remark(self._scores, self._labels, sums, questions, FEW_COMPARED)


# --- Numbers of answers by question ---

#: The answers to one question: how many have the same row.
Answers = Counter[Statistics]
#: The answers to each of some questions, by their digests.
Questions = Mapping[bytes, Answers]
#: Returns the rows of some answers, each with the digest of its question.
RowsOf = Callable[[Sequence[GroupAnswer]], Iterable[tuple[bytes, Statistics]]]
#: Rows that are read together at least, so that they are resampled together.
_TOGETHER = 512
#: The most units of which the weights of answers with labels are multiples.
_UNITS = 2**24


class RowStore:
    """Rows of numbers of answers, by question and group; to be closed with `close`."""

    def __init__(self, numbers: str, rows_of: RowsOf, held: int = ENTRIES_HELD) -> None:
        """Hold rows whose `numbers` have this format of `struct`."""
        self._rows_of = rows_of
        #: The group, the number of answers with the same row, and the row.
        self._entries = PartedEntries(f"II{numbers}", held)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if the temporary file cannot be written.
        """
        for (question, row), count in Counter(self._rows_of(answers)).items():
            self._entries.add(question, group, count, *row)

    def read(
        self,
        wholes: Sequence[Collection[int]],
        receivers: Sequence[Callable[[Questions], None]],
    ) -> None:
        """Give the questions of each whole to its receiver, some at a time.

        A whole is one group or several. Raises `SourceError` if the temporary file
        cannot be read.
        """
        for by_group in self._by_group():
            for receive, groups in zip(receivers, wholes, strict=True):
                found = [by_group[one] for one in groups if one in by_group]
                if found:
                    receive(_together(found))

    def _by_group(self) -> Iterator[dict[int, defaultdict[bytes, Answers]]]:
        """Yield all questions by their groups, those of some parts at a time."""
        found: dict[int, defaultdict[bytes, Answers]] = {}
        rows = 0
        for part in range(PARTS):
            for key, group, count, *row in self._entries.of_part(part):
                questions = found.get(group)
                if questions is None:
                    questions = found[group] = defaultdict(Counter)
                questions[key][tuple(row)] += count
                rows += 1
            if rows >= _TOGETHER or part == PARTS - 1:
                yield found
                found, rows = {}, 0

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._entries.close()


def _together(groups: Sequence[Questions]) -> Questions:
    """Return the questions of all groups, each with its answers in any of them."""
    if len(groups) == 1:
        return groups[0]
    found: dict[bytes, Answers] = defaultdict(Counter)
    for questions in groups:
        for key, answers in questions.items():
            found[key].update(answers)
    return found


# --- Scores of answers, added up by question ---


def record_rows(
    names: Sequence[int], answers: Sequence[GroupAnswer]
) -> Iterator[tuple[bytes, Statistics]]:
    """Yield the sums of the scores of the answers of each record, with its question.

    A row has for each score how many answers have it, and then for each its sum.
    `names` are the number of scores of each metric, 0 for one that does not count here.
    """
    if not any(names):
        return
    for _, part in groupby(answers, key=attrgetter("record_number")):
        mine = list(part)
        columns = list(zip(*(_values(answer, names) for answer in mine), strict=True))
        counts = [len(column) - column.count(None) for column in columns]
        sums = [fsum(filter(None, column)) for column in columns]
        yield mine[0].question, (*counts, *sums)


def _values(answer: GroupAnswer, names: Sequence[int]) -> Iterator[float | None]:
    """Yield the scores of an answer, None for each that it does not have.

    An answer with labels has no score of its own, and is counted with 0.
    """
    for outcome, count in zip(answer.outcomes, names, strict=True):
        if isinstance(outcome, str):
            yield from (None,) * count
        elif isinstance(outcome[0], LabelPair):
            yield from (0.0,) * count
        else:
            yield from outcome[1][:count]


def add_moments(moments: Sequence[QuestionMoments], questions: Questions) -> None:
    """Add questions to the sums of each score for which they have an answer.

    Their rows are `record_rows`.
    """
    size = len(moments)
    rows = [_sums_of(answers, size) for answers in questions.values()]
    for at, score in enumerate(moments):
        scored = [(row[at], row[size + at]) for row in rows if row[at]]
        score.add([count for count, _ in scored], [total for _, total in scored])


def _sums_of(answers: Answers, size: int) -> Sequence[int]:
    """Return the sums of the rows of a question, the scores in multiples of 1/QUANTA.

    Integers are added, so that their order changes nothing.
    """
    rows = [
        [*map(int, row[:size]), *[round(total * QUANTA) for total in row[size:]]]
        for row in answers.elements()
    ]
    return rows[0] if len(rows) == 1 else [*map(sum, zip(*rows, strict=True))]


# --- Scores of questions ---


@dataclass(slots=True)
class QuestionTotals:
    """One score of the questions of a group."""

    moments: QuestionMoments = field(default_factory=QuestionMoments)
    distribution: RunningDistribution = field(default_factory=RunningDistribution)
    #: How many questions without a score have each number of answers.
    left_out: Counter[int] = field(default_factory=Counter)

    def add(self, values: Sequence[float], answers: Sequence[int]) -> None:
        """Add questions: the score of each, and the number of its answers."""
        self.distribution.add(values)
        both = zip(values, answers, strict=True)
        totals = [round(value * QUANTA) * count for value, count in both]
        self.moments.add(answers, totals)


def add_questions(
    totals: Sequence[QuestionTotals], measure: QuestionMeasure, questions: Questions
) -> None:
    """Add the scores of questions to the totals of each score.

    Raises `MetricError` if a question cannot be scored.
    """
    found = [
        (answers.total(), question_scores(measure, answers))
        for answers in questions.values()
    ]
    for at, total in enumerate(totals):
        mine = [(count, scores[at]) for count, scores in found]
        scored = [(count, score) for count, score in mine if score is not None]
        total.add([score for _, score in scored], [count for count, _ in scored])
        total.left_out.update(count for count, score in mine if score is None)


def question_scores(
    measure: QuestionMeasure, answers: Answers
) -> tuple[float | None, ...]:
    """Return the scores of a question, None for each that needs more answers."""
    count = answers.total()
    if count < min(measure.least):
        return (None,) * len(measure.least)
    return tuple(
        score if least <= count else None
        for score, least in zip(measure.scores(answers), measure.least, strict=True)
    )


# --- Scores of summed statistics ---


@dataclass(frozen=True, slots=True)
class PooledScores:
    """The scores of one metric by which all questions count the same."""

    #: The intervals of the scores, none without replicates.
    intervals: Sequence[Resampled] = ()
    #: The scores, None if each answer counts once.
    values: Values | None = None
    #: The sums of the weights of answers by pair of labels, if these are unequal.
    weights: PairCounts | None = None


def with_rows(sums: list[ExactSum], rows: Sequence[Statistics]) -> list[ExactSum]:
    """Return sums to which rows are added, place by place; they may be none so far."""
    found = sums or [ExactSum() for _ in rows[0]]
    for total, column in zip(found, zip(*rows, strict=True), strict=True):
        total.add(column)
    return found


@dataclass(slots=True)
class PooledRows:
    """The sums of the statistics of one metric over some questions, with replicates.

    It is for pooled metrics, and for means without bounds, which have no interval by a
    formula.
    """

    scores: Scores
    #: Whether all questions have equally many answers.
    is_even: bool
    bootstrap: PoissonBootstrap
    _sums: list[ExactSum] = field(default_factory=list)

    def add(self, questions: Questions) -> None:
        """Add questions: a row for each answer, or the mean of those of a question."""
        keys: list[bytes] = []
        rows: list[Statistics] = []
        for key, answers in questions.items():
            rows += answers.elements() if self.is_even else [_mean(answers)]
            keys += [key] * (len(rows) - len(keys))
        if not self.is_even:
            self._sums = with_rows(self._sums, rows)
        self.bootstrap.add(keys, rows)

    def found(self, level: float) -> list[PooledScores]:
        """Return the scores of the only metric."""
        values = None
        if self._sums:
            values = self.scores([total.value for total in self._sums])
        replicates = self.bootstrap.replicated(self.scores)
        return [PooledScores(resampled(replicates, level), values)]


def _mean(answers: Answers) -> Statistics:
    """Return the mean of the statistics of the answers to a question."""
    count = answers.total()
    if count == 1:
        (only,) = answers
        return only
    columns = zip(*answers.elements(), strict=True)
    return tuple(fsum(column) / count for column in columns)


@dataclass(slots=True)
class PooledLabels:
    """The weights of the answers with each pair of labels, and their replicates."""

    #: The metrics, which read the same labels.
    metrics: Sequence[LabelScores]
    #: The labels by their numbers.
    names: Sequence[str]
    moments: QuestionMoments
    bootstrap: LabelBootstrap
    #: Empty if all questions have equally many answers, so that each counts once.
    _weights: dict[LabelPair, Fraction] = field(
        default_factory=lambda: defaultdict(Fraction)
    )

    def add(self, questions: Questions) -> None:
        """Add the answers to some questions."""
        is_even, units = self.moments.is_even, min(lcm(*self.moments.sums), _UNITS)
        keys: list[bytes] = []
        rows: list[tuple[LabelPair, int]] = []
        for key, answers in questions.items():
            total = answers.total()
            unit = 1 if is_even else max(round(units / total), 1)
            for numbers, count in answers.items():
                pair = LabelPair(*(self.names[int(number)] for number in numbers))
                if not is_even:
                    self._weights[pair] += Fraction(count, total)
                keys.append(key)
                rows.append((pair, unit * count))
        self.bootstrap.add(keys, rows)

    def found(self, level: float) -> list[PooledScores]:
        """Return the scores of each metric."""
        replicates = list(self.bootstrap.replicated(self.metrics))
        weights = self._weights or None
        return [
            PooledScores(
                resampled((row[at] for row in replicates), level),
                None if weights is None else label_values(metric, weights),
                weights,
            )
            for at, metric in enumerate(self.metrics)
        ]
