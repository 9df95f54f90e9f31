"""The numbers of answers by pair of labels, and their bootstrap."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, islice
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
from harpia_formats.evaluation.metrics.metric import Statistics
from harpia_formats.evaluation.scoring.measures.metric_score import Confusion
from harpia_formats.evaluation.scoring.options import ScoreValueError
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    pieces,
    unavailable_reason,
    weights_of,
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
    reading: LabelReading, counts: PairCounts
) -> tuple[tuple[str, ...], list[Fraction | int]]:
    """Return the labels of some answers, and the sums of their statistics."""
    labels = reading.ordered(_labels_in(counts))
    places = {label: place for place, label in enumerate(labels)}
    size = len(labels)
    sums: list[Fraction | int] = [0] * statistics_width(labels)
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
    if not (scores.is_by_label and sums):
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


#: The rows of a label: how often it is right, in references and in answers.
_RIGHT, _REFERENCES, _ANSWERS = range(3)


@dataclass(slots=True)
class LabelBootstrap:
    """How often each label occurs in every replicate.

    Its memory depends only on the number of replicates and of labels. The weights of
    questions are those of `PoissonBootstrap`. Without numpy it has no replicates.
    """

    reading: LabelReading
    replicates: int
    seed: int
    #: Rows of numbers by label, and the sums of the distances.
    _sums: dict[tuple[str, int], Any] = field(default_factory=dict)
    _distance: Any = 0.0

    def add(self, keys: Sequence[bytes], rows: Sequence[tuple[LabelPair, int]]) -> None:
        """Add answers to questions, which digests identify, in any order.

        A row has the labels, and as how many answers it counts.
        """
        if not keys or not self.replicates or unavailable_reason():
            return
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

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
            for start, drawn in zip(starts, sums, strict=True):
                self._add_pair(pairs[start], drawn)

    def _add_pair(self, pair: LabelPair, drawn: Any) -> None:
        """Add the number of answers with a pair of labels in each replicate."""
        self._count(pair.reference, _REFERENCES, drawn)
        self._count(pair.answer, _ANSWERS, drawn)
        if pair.reference == pair.answer:
            self._count(pair.reference, _RIGHT, drawn)
        distance = self.reading.distance(pair)
        if distance:
            self._distance = self._distance + drawn.astype(float) * distance

    def _count(self, label: str, row: int, drawn: Any) -> None:
        """Add a number of answers in each replicate to one row of a label.

        The rows take as few bytes as their largest number needs, since there may be a
        thousand groups.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        total = np.add(self._sums.get((label, row), 0), drawn, dtype=np.uint64)
        type_ = np.min_scalar_type(total.max(initial=0))
        self._sums[label, row] = total.astype(type_)

    def replicated(
        self, metrics: Sequence[LabelScores]
    ) -> Iterator[list[tuple[float | None, ...]]]:
        """Yield the scores of all metrics with this reading, in every replicate."""
        if not self._sums:
            return
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        labels = self.reading.ordered(label for label, _ in self._sums)
        nothing = np.zeros(self.replicates)
        parts = [
            self._sums.get((label, at), nothing) for at in range(3) for label in labels
        ]
        for replicate in np.stack([*parts, nothing + self._distance], axis=1):
            sums = replicate.tolist()
            yield [metric.scores_of(sums, labels) for metric in metrics]


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
